"""Engine = engine: a slice of each measurement of ``tests/agreement`` has the same rows on both, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from agreement.measured.lossy_path import tcp_on_lossy_path
from agreement.measured.replicated_bursts import run_bursts
from agreement.measured.sprayed_reordering import sprayed_flows
from agreement.measured.unit_overhead import live_redundancy

from capsim import Result
from capsmodel.papers.measurements.blocking_estimators import sampling_periods
from capsmodel.papers.measurements.head_of_line import short_flows
from capsmodel.papers.measurements.single_port import simulated_port
from capsmodel.papers.measurements.unit_decoding import decoded_units
from capsmodel.papers.measurements.unit_delays import window_delays

pytestmark = pytest.mark.agreement


def on_both_engines(measure: Callable[..., Any], **setting: Any) -> tuple[Any, Any]:
    compiled, reference = (measure(**setting, engine=engine) for engine in ("compiled", "reference"))
    return compiled, reference


def assert_same_rows(compiled: Any, reference: Any) -> None:
    ours, theirs = (rows if isinstance(rows, pd.DataFrame) else pd.DataFrame([rows]) for rows in (compiled, reference))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def assert_same_records(compiled: Result, reference: Result) -> None:
    assert compiled.flows.equals(reference.flows)
    assert compiled.ports.equals(reference.ports)


@pytest.mark.parametrize(("traffic", "duration_s"), [("static", 0.01), ("bursty", 0.02)])
def test_sampling_periods(traffic: str, duration_s: float) -> None:
    setting = {"long_flows": 1, "duration_s": duration_s, "buffer_packets": 16, "seed": 3}
    compiled, reference = on_both_engines(sampling_periods, traffic=traffic, **setting)
    assert len(reference) > 5
    assert_same_rows(compiled, reference)


def test_estimates_of_senders() -> None:
    setting = {"unit_size": "optimal", "n_paths": 10, "long_flows": 1, "flows": 2, "seed": 5}
    compiled, reference = on_both_engines(live_redundancy, **setting, initial_blocking_prob=1 / 6)
    assert_same_rows(compiled, reference)
    assert reference["units_by_rule"] == reference["units"]


def test_waits_behind_other_flows() -> None:
    compiled, reference = on_both_engines(short_flows, long_flows=0, seed=2)
    assert np.isfinite(list(reference.values())).all()
    assert_same_rows(compiled, reference)


def test_window_delays() -> None:
    assert_same_rows(*on_both_engines(window_delays, k=16, r=8, n_paths=10, long_flows=2, windows=2, seed=3))


def test_reordering() -> None:
    assert_same_rows(*on_both_engines(sprayed_flows, flow_packets=10, slow_paths=10, flows=300, seed=10_010))


def test_lossy_path() -> None:
    assert_same_rows(*on_both_engines(tcp_on_lossy_path, loss_prob=0.01, connections=4, packets=500, seed=30))


def test_decoded_units() -> None:
    setting = {"k": 10, "r": 4, "n_paths": 10, "long_flows": 1, "units": 18, "codes": ("mds", "rs"), "seed": 101_504}
    assert_same_rows(*on_both_engines(decoded_units, **setting))


@pytest.mark.parametrize("payload_bytes", [(1460,), (100, 1460)], ids=["M/D/1", "M/G/1"])
def test_waits_at_one_port(payload_bytes: tuple[int, ...]) -> None:
    setting = {"load": 0.8, "packets": 400, "seed": 11}
    assert_same_records(*on_both_engines(simulated_port, payload_bytes=payload_bytes, **setting))


@pytest.mark.parametrize("scheme", ["ecmp", "repflow"])
@pytest.mark.parametrize("fabric", ["parallel-paths", "fat-tree"])
def test_replicated_bursts(scheme: str, fabric: str) -> None:
    setting = {"fabric": fabric, "scheme": scheme, "short_flows": 10, "seed": 3}
    assert_same_records(*on_both_engines(run_bursts, load=0.5, **setting))
