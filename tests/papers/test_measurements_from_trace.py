"""Identity: what a measurement returns against counts from the packet trace of the same run."""

from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from agreement.measured import lossy_path

from capsim import Result, Scenario, simulate
from capsmodel.papers.measurements import head_of_line


def traced(measurement: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[Result]:
    """Let a measurement record all packets; return the list that its results go to."""
    results: list[Result] = []

    def keeping(scenario: Scenario, **options: Any) -> Result:
        results.append(simulate(scenario.replace(trace="packets"), **options))
        return results[-1]

    monkeypatch.setattr(measurement, "simulate", keeping)
    return results


def lines(result: Result, event: str, packet: str, port: str) -> pd.DataFrame:
    trace = result.trace
    at = trace["port"].astype(str).str.match(port)
    return trace[(trace["event"] == event) & (trace["packet"] == packet) & at]


def test_packets_in_a_round_trip_of_a_lossy_path(monkeypatch: pytest.MonkeyPatch) -> None:
    results = traced(lossy_path, monkeypatch)
    row = lossy_path.tcp_on_lossy_path(0.05, connections=3, packets=300, seed=2).iloc[0]
    (result,) = results
    sent = lines(result, "enqueued", "data", r"host\d+>left")
    lost = result.trace[result.trace["event"] == "dropped"]
    heard = lines(result, "arrived", "ack", r"left>host\d+")
    rtt_s = heard["time_s"].min() - sent["time_s"].min()
    round_trips = result.scenario.end_s / rtt_s
    assert round_trips > 40
    assert (row["sent_packets"], row["lost_packets"]) == (len(sent), len(lost))
    assert len(lost) == pytest.approx(0.05 * len(sent), rel=0.5)
    assert row["sent_packets_per_rtt"] == pytest.approx(len(sent) / 3 / round_trips, rel=1e-6)
    in_order = lines(result, "enqueued", "ack", r"host\d+>right").groupby("flow")["ack"].max()
    assert row["delivered_packets_per_rtt"] == pytest.approx(in_order.sum() / 3 / round_trips, rel=1e-6)


def test_share_of_packets_overtaken_beside_long_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first to bring a segment, unless sent again, is overtaken when a later segment has come before (RFC 4737)."""
    results = traced(head_of_line, monkeypatch)
    row = head_of_line.short_flows(4, seed=1)
    (result,) = results
    short = set(result.flows.loc[result.flows["short"], "flow"])
    came = lines(result, "arrived", "data", r"right>host\d+")
    came = came[came["flow"].isin(short)]
    behind = came["segment"] < came.groupby("flow")["segment"].cummax()
    first = ~came.duplicated(["flow", "segment"])
    overtaken = (behind & first & (came["flags"] % 2 == 0)).sum()
    sent = lines(result, "enqueued", "data", r"host\d+>left")
    assert overtaken > 100
    assert row["reordered_ratio"] == overtaken / sent["flow"].isin(short).sum()
