"""Exact arithmetic: one flow that meets nobody takes the time that its packets take, to the picosecond."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_setups import flow_list, one_run, setup_of

from capsim import Dumbbell, FatTree, LeafSpine
from capsim.base.clock import serialisation_ps
from capsim.engines.state import TRACE_OFF

HEADER, ACK = 40, 40


def rounds(n_segments, initial_window):
    """Return how many segments each round of slow start sends, with an acknowledgement for each packet."""
    sent, window, sizes = 0, initial_window, []
    while sent < n_segments:
        sizes.append(min(window, n_segments - sent))
        sent += sizes[-1]
        window *= 2
    return sizes


def ideal_received_ps(path, back, flow_bytes, *, mss, initial_window, link_bytes=0):
    """Play slow start on a path of (rate, delay) links by hand: store and forward, every link as fast as the first.

    Segment i leaves when the window lets it and the NIC is free; its acknowledgement lets two more go.
    """
    n = -(-flow_bytes // mss)
    sizes = [mss + HEADER] * (n - 1) + [flow_bytes - (n - 1) * mss + HEADER]
    allowed = [0] * min(initial_window, n)
    received, cumulative, free = [], 0, [0] * len(path)
    free_back = [0] * len(back)
    for i in range(n):
        time = allowed[i]
        for hop, (rate, delay) in enumerate(path):
            free[hop] = max(time, free[hop]) + serialisation_ps(sizes[i] + link_bytes, rate)
            time = free[hop] + delay
        received.append(time)
        cumulative = max(cumulative, time)
        for hop, (rate, delay) in enumerate(back):
            free_back[hop] = max(time, free_back[hop]) + serialisation_ps(ACK + link_bytes, rate)
            time = free_back[hop] + delay
        allowed += [time, time] if i < n - 1 else []
        last_ack = time
    return received[-1], last_ack


def links(kind, src, dst):
    fabric = kind.build()
    forth, back = (next(iter(fabric.paths(*pair))) for pair in ((src, dst), (dst, src)))
    return [[(int(fabric.rate_bps[p]), int(fabric.delay_ps[p])) for p in path] for path in (forth, back)]


CASES = {
    "2 hops": (LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, delay_s=3e-6), 0, 1),
    "3 hops": (Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6), 0, 1),
    "4 hops": (LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, rate_bps=10e9, delay_s=7e-6), 0, 3),
    "6 hops": (FatTree(pods=4, rate_bps=1e9, delay_s=5e-6), 0, 15),
    "rate that does not divide": (Dumbbell(hosts_per_side=1, rate_bps=3e9, delay_s=1e-6), 0, 1),
}


def test_uncontended_flow(subtests):
    """Every other pair of a case and a size, so that each size is on fabrics of several depths."""
    pairs = list(product(CASES, [1, 1460, 1461, 14_600, 50_000, 200_001]))
    for number in (number for number in range(len(pairs)) if (number + number // 6) % 2 == 0):
        case, flow_bytes = pairs[number]
        initial_window = (1, 2, 10)[(number + number // 6) // 2 % 3]  # each with each case
        with subtests.test(case=case, flow_bytes=flow_bytes, initial_window=initial_window):
            kind, src, dst = CASES[case]
            transport = {"initial_window_packets": initial_window, "min_rto_s": 1.0, "initial_rto_s": 1.0}
            setup = setup_of(kind, flow_list([(src, dst, flow_bytes, 0.0)]), transport=transport, trace=TRACE_OFF)
            path, back = links(kind, src, dst)
            received, acked = ideal_received_ps(path, back, flow_bytes, mss=1460, initial_window=initial_window)
            flow = one_run(setup).flows[0]
            assert (flow["received_ps"], flow["acked_ps"]) == (received, acked)


@settings(max_examples=15, deadline=None)
@given(
    flow_bytes=st.integers(1, 300_000),
    mss=st.integers(100, 8900),
    initial_window=st.integers(1, 64),
    delay_us=st.integers(0, 100),
    rate_mbps=st.integers(10, 100_000),
    link_bytes=st.integers(0, 40),
)
def test_any_size_and_window(flow_bytes, mss, initial_window, delay_us, rate_mbps, link_bytes):
    kind = Dumbbell(hosts_per_side=1, rate_bps=rate_mbps * 1e6, delay_s=delay_us * 1e-6, buffer_packets=10**6)
    transport = {"mss_bytes": mss, "initial_window_packets": initial_window, "min_rto_s": 9.0, "initial_rto_s": 9.0}
    transport["max_window_bytes"] = 10**9
    options = {"transport": transport, "trace": TRACE_OFF, "link_bytes": link_bytes, "end_ps": 10**14}
    setup = setup_of(kind, flow_list([(0, 1, flow_bytes, 0.0)]), **options)
    path, back = links(kind, 0, 1)
    expected = ideal_received_ps(path, back, flow_bytes, mss=mss, initial_window=initial_window, link_bytes=link_bytes)
    flow = one_run(setup).flows[0]
    assert (flow["received_ps"], flow["acked_ps"]) == expected


def test_rounds_of_slow_start():
    """50 packets from a window of one take 1, 2, 4, 8, 16, 19; from ten 10, 20, 20."""
    assert rounds(50, 1) == [1, 2, 4, 8, 16, 19]
    assert rounds(50, 10) == [10, 20, 20]
    kind = Dumbbell(hosts_per_side=1, rate_bps=100e9, delay_s=1e-3)
    for window in (1, 10):
        transport = {"initial_window_packets": window, "min_rto_s": 1.0, "initial_rto_s": 1.0}
        setup = setup_of(kind, flow_list([(0, 1, 50 * 1460, 0.0)]), transport=transport)
        acked_s = one_run(setup).flows[0]["acked_ps"] / 1e12
        assert acked_s == pytest.approx(6e-3 * len(rounds(50, window)), rel=0.01)


@pytest.mark.parametrize(("handshake_ack", "syn_bytes"), [(False, 40), (True, 40), (True, 60)])
def test_handshake_costs_one_round_trip_and_its_last_acknowledgement(handshake_ack, syn_bytes):
    kind = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6)
    opening = {"handshake": True, "handshake_ack": handshake_ack, "syn_bytes": syn_bytes}
    plain, shaken = (
        one_run(setup_of(kind, flow_list([(0, 1, 5000, 0.0)]), transport=transport)).flows[0]
        for transport in ({}, opening)
    )
    one_way_ps = 3 * (serialisation_ps(syn_bytes, 10**9) + 10_000_000)
    third_ps = handshake_ack * serialisation_ps(ACK, 10**9)
    assert shaken["received_ps"] - plain["received_ps"] == 2 * one_way_ps + third_ps
