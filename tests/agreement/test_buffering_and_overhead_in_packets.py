"""Agreement: wait for a unit (CAPS Eq. 3), redundancy and overhead (Eq. 7) counted in simulated packets.

All exact: without long flows packets arrive back to back on equal paths, and r and eta are counts.
"""

import numpy as np
import pytest

from capsmodel import repair_packets, traffic_overhead
from capsmodel.coding_unit import buffering_delay_s
from capsmodel.experiments.measurements.coding_units import run_units, unit_waits_s


@pytest.mark.parametrize("k", [1, 2, 8, 16, 32, 64])
def test_mean_wait_of_lone_units(k):
    """One unit at a time; different paths join in the order in which packets left. Tolerance: picosecond rounding."""
    result = run_units(k, r=0, n_paths=10, long_flows=0, windows=20, seed=2, window_packets=k, trace=True)
    expected = buffering_delay_s(k, packet_bytes=1500, rate_bps=1e9)
    assert unit_waits_s(result) == pytest.approx(np.full(20, expected), abs=1e-11)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(("k", "long_flows"), [(4, 1), (10, 2), (10, 3), (32, 3)])
def test_repair_packets_are_those_of_the_rule(k, long_flows, engine):
    r = repair_packets(k, blocking_prob=long_flows / 10)
    result = run_units(k, r=r, n_paths=10, long_flows=0, windows=2, seed=4, window_packets=k, engine=engine)
    short = result.flows[result.flows["short"]]
    assert (short["repair_packets"] == r).all()
    assert (result.units["n"] == k + r).all()


@pytest.mark.parametrize(("k", "long_flows"), [(16, 1), (16, 2), (32, 3)])
def test_overhead_of_all_packets(k, long_flows):
    """The share of repair packets, with g as the run had it; an identity of the counters. k divides the window."""
    p = long_flows / 10
    result = run_units(k, r=repair_packets(k, blocking_prob=p), n_paths=10, long_flows=long_flows, windows=40, seed=6)
    flows = result.flows
    assert flows["retransmissions"].sum() == 0
    source = (flows["coded_packets"] - flows["repair_packets"]).sum()
    ratio = flows.loc[~flows["short"], "packets_sent"].sum() / source
    overhead = flows["repair_packets"].sum() / flows["packets_sent"].sum()
    assert overhead == pytest.approx(traffic_overhead(p, long_short_ratio=ratio, k=k), rel=1e-12)
