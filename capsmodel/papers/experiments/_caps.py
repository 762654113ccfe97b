"""Shared by the experiments of CAPS: names of schemes, workloads, numbers of short flows, and their small versions."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from capsim import Batch, Incast, Scenario, load_scenario
from capsim.fabric.traffic import AnyTraffic
from capsmodel.papers.experiments import _common
from capsmodel.papers.measurements.caps_comparison import LONG_FLOWS, MAX_BYTES, MIN_BYTES, appendix_b
from capsmodel.papers.statements import Comparison, Statement, levels

NAMES = {
    "CAPS": "caps",
    "CAPS_dark": "caps_dark",
    "ECMP": "ecmp",
    "ECMP_pq": "ecmp_pq",
    "RPS": "rps",
    "RPS_pq": "rps_pq",
    "RepFlow": "repflow",
    "Presto": "presto",
    "Freeway": "freeway",
}
SHORT_BYTES: dict[str, Any] = {"min_bytes": 1, "max_bytes": 99_999}
"""Sizes of short flows on the testbeds: "randomly distributed within 100KB"."""
LONG_BYTES = 14_600_000
"""Ten thousand packets, as in the authors' public test case; the text says more than 10 MB."""
RECEIVER = 0
SHORT_FLOWS = (20, 60, 100, 140, 180)
"""Numbers of short flows between the ends that the appendices print."""
PLACES = {f"{count} flows": {"short_flows": count} for count in SHORT_FLOWS}
SHORT_SHARE = 0.1
"""Of all traffic of a data centre, at the most (Appendix A)."""
SAMPLED = ("20 flows", "100 flows", "180 flows")
FOUR_OTHERS = ("ECMP", "RPS", "RepFlow", "Freeway")
"""What CAPS is compared with on Mininet, on fat-trees and in bursts."""
_SMALL_SHORT_FLOWS, _SMALL_LONG_BYTES = 12, 1_000_000

over, trend = partial(_common.over, names=NAMES), partial(_common.trend, names=NAMES)


def adapted(statement: Statement, settings: Mapping[str, Any]) -> Statement:
    """Return the statement about the reading of CAPS that a setting names."""
    return _common.with_schemes(statement, {NAMES["CAPS"]: settings["caps_as"]})


def gain(at: Sequence[str]) -> Statement:
    """Return how many times longer short flows take under each of four other schemes than under CAPS, over places."""
    return Statement(
        comparisons=tuple(
            Comparison(f"{other}, {place}", ((1, (NAMES[other], place)), (-1, (NAMES["CAPS"], place))))
            for other in FOUR_OTHERS
            for place in at
        ),
        column="mean_fct_short_s",
    )


def of_all_traffic(column: str, at: Sequence[str]) -> Statement:
    """Return the statement about a share of CAPS's short flows, as one of all traffic, of which they are a tenth."""
    return levels(["caps"], at, column=column, times=SHORT_SHARE, note="short flows are a tenth of all traffic")


def incast(place: Mapping[str, Any], long_receiver: str = "") -> Scenario:
    """Return Appendix A: simultaneous flows from random leaves to one receiver, with long flows if they have one.

    Parameters
    ----------
    place : mapping
        `short_flows`.
    long_receiver : str
        ``"same"``: long flows go to the receiver of the short ones; ``"other"``: to another host of its leaf each.
    """
    base = load_scenario("caps-incast")
    senders = place["short_flows"]
    short = Incast(senders_per_round=senders, receiver=RECEIVER, min_bytes=MIN_BYTES, max_bytes=MAX_BYTES)
    to_receiver = Incast(senders_per_round=LONG_FLOWS, receiver=RECEIVER, flow_bytes=LONG_BYTES)
    beside = tuple(
        Incast(senders_per_round=1, receiver=RECEIVER + number, flow_bytes=LONG_BYTES)
        for number in range(1, LONG_FLOWS + 1)
    )
    long = {"same": (to_receiver,), "other": beside, "": ()}[long_receiver]
    return base.replace(traffic=(short, *long))


def beside_long_flows(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return Appendix B: short flows beside three long ones over 12 paths, each to a receiver of its own."""
    return appendix_b(place["short_flows"])


def small(whole: Scenario) -> Scenario:
    """Return the same with a dozen short flows and long ones of a megabyte."""
    entries = tuple(map(_small, whole.traffic))
    return whole.replace(traffic=entries)


def _small(entry: AnyTraffic) -> AnyTraffic:
    if isinstance(entry, Incast) and entry.flow_bytes is None:
        return msgspec.structs.replace(entry, senders_per_round=_SMALL_SHORT_FLOWS)
    if isinstance(entry, Batch) and entry.flow_bytes is None:
        return msgspec.structs.replace(entry, flows=_SMALL_SHORT_FLOWS)
    return msgspec.structs.replace(entry, flow_bytes=_SMALL_LONG_BYTES)
