"""Flows whose subflows share one stream: grants, the receive buffer, and MPTCP's windows."""

from dataclasses import replace

import numpy as np
import pytest
from support.coupled_subflows import MSS, subflows
from support.engine_setups import CROWDED, DUMBBELL, PARALLEL, flow_list, one_run, setup_of

from capsim.engines import run
from capsim.protocols.congestion.lia import LIA, alpha, total_window_bytes
from capsim.records import ENQUEUED
from capsim.roles.hooks import GROW

MPTCP_SCHEMES = ["mptcp", "mptcp_fc", "mptcp_olia", "mptcp_uc"]


@pytest.mark.parametrize(("name", "engine"), [("mptcp", "compiled"), ("mmptcp", "reference"), ("dc2mtcp", "compiled")])
def test_a_flow_knows_how_many_of_its_subflows_would_send(name, engine):
    """Schedulers do not look for a subflow where the count is 0, and take the last ready one where it is 1."""
    setup = setup_of(*CROWDED["leaf-spine"], name)
    end_ps, ready = run(setup).counters[0]["now_ps"], []
    for part in (3, 5, 8):
        stopped = run(replace(setup, end_ps=int(end_ps) // part), engine=engine)
        counted = np.zeros(len(stopped.flows), np.int64)
        np.add.at(counted, stopped.subs["flow"], stopped.subs["ready"])
        assert np.array_equal(stopped.flows["ready_subs"], counted)
        ready.append(counted.sum())
    assert max(ready) > 0


def test_alpha_of_equal_subflows_is_one_over_their_number(subtests):
    for n in [1, 2, 5, 8]:
        with subtests.test(n=n):
            assert alpha(*subflows(*[(10, 100)] * n)) == pytest.approx(1 / n)


def test_alpha_with_round_trips_of_one_to_ten():
    assert alpha(*subflows((10, 100), (10, 1000))) == pytest.approx(2 / 1.1**2)  # RFC 6356, eq. 2: 1.653


def test_alpha_without_a_measured_round_trip_is_zero():
    assert alpha(*subflows((10, 0))) == 0.0


def test_equal_subflows_grow_together_as_one_tcp_of_their_window():
    flow, subs = subflows((10, 100), (10, 100))
    before = total_window_bytes(flow, subs)
    LIA.react(LIA.params, None, flow, subs[0], subs, GROW, 0)
    # alpha is 1/2 and the whole window 20 segments: 1/40 of a segment for a segment acknowledged
    assert total_window_bytes(flow, subs) - before == MSS // 40


def test_no_subflow_grows_faster_than_one_tcp_would():
    flow, subs = subflows((10, 100), (10, 1000))
    LIA.react(LIA.params, None, flow, subs[0], subs, GROW, 0)
    # linked: 1.653 / 20 segments of a segment, alone: 1 / 10
    assert subs[0].cwnd_bytes - 10 * MSS == int(2 / 1.1**2 / 20 * MSS)
    flow, subs = subflows((1, 100), (100, 10_000))
    LIA.react(LIA.params, None, flow, subs[0], subs, GROW, 0)
    assert subs[0].cwnd_bytes - MSS <= MSS


@pytest.mark.parametrize("name", MPTCP_SCHEMES)
@pytest.mark.parametrize("fabric", CROWDED)
def test_one_subflow_is_newreno_packet_for_packet(fabric, name):
    kind, flows = CROWDED[fabric]
    alone = run(setup_of(kind, flows, name, sharing={"subflows": 1})).trace
    plain = run(setup_of(kind, flows, "ecmp")).trace
    assert len(alone) == len(plain)
    assert all(np.array_equal(alone[name], plain[name]) for name in plain.dtype.names)


@pytest.mark.parametrize(("fabric", "subflows_of_flow"), [*zip(CROWDED, (2, 8, 8, 2), strict=True)])
def test_engines_agree_and_every_flow_is_whole(fabric, subflows_of_flow):
    kind, flows = CROWDED[fabric]
    records = one_run(setup_of(kind, flows, "mptcp", sharing={"subflows": subflows_of_flow}))
    assert np.array_equal(records.flows["data_next"], records.flows["n_segments"])
    assert np.array_equal(records.flows["granted"], records.flows["n_segments"])
    assert np.array_equal(records.flows["n_subs"], np.minimum(subflows_of_flow, records.flows["n_segments"]))
    granted = np.bincount(records.subs["flow"], weights=records.subs["end"])
    assert np.array_equal(granted, records.flows["n_segments"])


def test_the_subflow_that_is_open_first_takes_what_its_window_allows():
    setup = setup_of(PARALLEL, flow_list([(0, 4, 8 * MSS, 0.0)]), "mptcp", sharing={"subflows": 4})
    trace = one_run(setup).trace
    nic = setup.fabric.host_port[0]
    sent = trace[(trace["what"] == ENQUEUED) & (trace["port"] == nic) & (trace["time_ps"] == 0)]
    assert sent["sub"].tolist() == [0] * 8


def test_a_full_receive_buffer_stops_the_sender_and_the_time_is_counted():
    setup = setup_of(PARALLEL, flow_list([(0, 4, 400 * MSS, 0.0)]), "mptcp", sharing={"subflows": 4})
    free = one_run(setup).flows[0]
    limited = setup_of(
        PARALLEL, flow_list([(0, 4, 400 * MSS, 0.0)]), "mptcp", sharing={"subflows": 4, "buffer_segments": 5}
    )
    blocked = one_run(limited).flows[0]
    assert free["blocked_ps"] == 0
    assert blocked["blocked_ps"] > 0
    assert blocked["max_buffered"] <= 5
    assert blocked["refused"] == 0  # the advertised window is kept
    assert blocked["received_ps"] > free["received_ps"]


def test_two_subflows_take_one_bottleneck_as_one_tcp():
    flows = flow_list([(0, 3, 2000 * MSS, 0.0)])
    one = run(setup_of(DUMBBELL, flows, "mptcp", sharing={"subflows": 1})).flows[0]["received_ps"]
    two = run(setup_of(DUMBBELL, flows, "mptcp", sharing={"subflows": 2})).flows[0]["received_ps"]
    assert two == pytest.approx(one, rel=0.2)
