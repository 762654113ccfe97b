"""SC-MPTCP as reconstructed: blocks of the stream, coded packets behind a block or on a warning, what decodes."""

import numpy as np
import pytest
from support.coded_streams import TWO, Coded, DataLosses, with_data_losses
from support.engine_setups import BUSY, memory_of, one_run, params_of, setup_of
from support.engine_setups import flow_list as flows_of
from support.scripted import MSS

from capsim import Dumbbell, schemes
from capsim.engines import run
from capsim.protocols.layers.generations import GENERATIONS, earned
from capsim.records import CODED, NONE, RETRANSMITTED
from capsmodel.multipath.coded_transport import redundancy_ratio

LINK = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6)
FAR_SWITCH = 3
QUIET = {"redundancy_factor": 0.0, "warning_share": 1.0}


def start(**options):
    """Return a flow with two subflows, windows of two, and blocks of four data segments."""
    flow = Coded(
        "sc_mptcp",
        transport=TWO["transport"],
        sharing=TWO["sharing"] | options.pop("sharing", {}),
        layer={"block_packets": 4} | options,
    )
    return flow, flow.sent()


def coded(flow):
    """Return (subflow, block, position) of the coded packets sent."""
    return [(each.sub, each.unit, each.position) for each in flow.hosts.sent if each.kind == CODED]


# -- how many


@pytest.mark.parametrize("loss_prob", [0.01, 0.2, 0.45])
def test_a_block_earns_p_over_one_minus_p_for_each_data_segment(loss_prob):
    memory = memory_of(GENERATIONS, "flow", loss_prob=loss_prob, observed=1)
    packets = [earned(params_of(GENERATIONS), memory, 32) for _ in range(1000)]
    assert sum(packets) == pytest.approx(32_000 * redundancy_ratio(loss_prob), abs=1)
    assert max(packets) - min(packets) <= 1


def test_before_the_first_acknowledgement_it_is_that_of_the_evaluation():
    """dc2mtcp VI-D: 0.02 coded packets for each original one."""
    memory = memory_of(GENERATIONS, "flow")
    assert sum(earned(params_of(GENERATIONS), memory, 50) for _ in range(100)) in (99, 100)


def test_no_more_than_the_bound_follow():
    memory = memory_of(GENERATIONS, "flow", loss_prob=0.99, observed=1)
    assert earned(params_of(GENERATIONS, most_overhead=0.5), memory, 32) == 16


def test_coded_packets_follow_the_last_of_a_block_on_the_nearest_subflow():
    flow, sent = start(initial_loss_prob=0.4)  # 4 * 0.4 / 0.6 = 2.67
    assert sent == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert coded(flow) == [(0, 0, 0), (0, 0, 1)]
    assert [each.bytes for each in flow.hosts.sent if each.kind == CODED] == [1500, 1500]
    assert flow.memory.redundancy == pytest.approx(4 * 2 / 3 - 2)
    flow.subs[0].srtt_ps, flow.subs[1].srtt_ps = 300 * 10**6, 200 * 10**6
    assert flow.ack(0, 1, data_ack=1, window=4096) + flow.ack(0, 2, data_ack=2) == [(0, data) for data in range(4, 8)]
    assert [(sub, unit) for sub, unit, _ in coded(flow)[2:]] == [(1, 1)] * 3


def test_the_last_block_has_what_is_left():
    flow = Coded("sc_mptcp", n_segments=6, layer={"block_packets": 4})
    units = [flow.hosts.units[number] for number in range(2)]
    assert [(unit.first_segment, unit.k) for unit in units] == [(0, 4), (4, 2)]
    assert flow.hosts.counters[0].units == 2


def test_acknowledgements_of_what_was_sent_again_or_decoded_raise_p():
    flow, _ = start(loss_weight=0.25, **QUIET)
    flow.ack(0, 1, data_ack=1, window=4096)
    assert flow.memory.loss_prob == pytest.approx(0.75 / 51)
    flow.acks_for(flow.hosts.arriving(0, kind=2 - 1, flags=RETRANSMITTED, sent_ps=0, ack=2, data_ack=2, window=4096))
    assert flow.memory.loss_prob == pytest.approx(0.25 + 0.75**2 / 51)


def test_before_the_buffer_is_full_the_oldest_block_gets_what_it_lacks():
    """Eight places: when the window spans six, 2 of the second subflow is acknowledged, 0, 1 and 3 are not."""
    flow, _ = start(redundancy_factor=0.0, sharing={"buffer_segments": 8})
    assert flow.ack(1, 1, window=8) == [(1, 4), (1, 5)]
    assert [(unit, position) for _, unit, position in coded(flow)] == [(0, 0), (0, 1), (0, 2)]
    assert flow.hosts.units[0].n == 7


def test_the_warning_comes_once_in_a_round_trip():
    flow, _ = start(redundancy_factor=0.0, sharing={"buffer_segments": 8})
    flow.ack(1, 2, data_ack=0, window=8, at_us=1000)
    flow.flow.peer_window = 12
    assert flow.ack(1, 3, data_ack=0, at_us=1010)
    assert len(coded(flow)) == 2
    flow.flow.peer_window = 14
    assert flow.ack(1, 4, data_ack=0, at_us=1200)
    assert len(coded(flow)) == 4


def test_within_the_window_they_wait_for_room():
    flow, _ = start(initial_loss_prob=0.4, within_window=True)
    assert coded(flow) == []
    flow.subs[0].cwnd_bytes += 2 * MSS
    flow.ack(0, 0)
    assert len(coded(flow)) > 0


# -- what decodes


def test_as_many_coded_packets_as_are_missing_supply_them():
    flow, _ = start(**QUIET)
    assert flow.original(0, 1, 1) == [(0, 0, 0)]
    assert flow.of_block(0) == []
    assert flow.original(1, 0, 2) == [(1, 1, 0)]
    assert flow.original(1, 1, 3) == [(1, 2, 0), (0, 2, 4)]
    assert (flow.counted("recovered_packets"), flow.hosts.units[0].arrived_packets) == (1, 1)
    assert flow.hosts.units[0].decoded_ps == 0


def test_a_block_decodes_behind_a_gap_of_the_stream():
    flow, _ = start(**QUIET)
    flow.ack(0, 1, window=4096)
    flow.ack(0, 2)  # 4 to 7 are sent
    carried = {data: (sub, segment) for sub, segment, data in positions(flow)}
    for data in (5, 6, 7):
        flow.original(*carried[data], data, unit=1)
    assert flow.of_block(1) == [(carried[4][0], 0, 0)]
    assert flow.flow.data_next == 0


def positions(flow):
    """Return (subflow, segment, data segment) of what has been sent."""
    return [(each.sub, each.segment, each.data) for each in flow.hosts.sent if each.kind == 0]


def test_what_tells_the_decoder_nothing_new_does_not_count():
    flow, _ = start(**QUIET)
    flow.original(0, 1, 1)
    flow.original(1, 0, 2)
    assert flow.of_block(0, stale=1) == []
    assert flow.of_block(0) == []
    unit = flow.hosts.units[0]
    assert (unit.arrived_packets, unit.dependent_packets) == (1, 1)
    packet = flow.hosts.arriving(1, kind=0, segment=1, data=3, bytes=1500, flags=0, unit=0, stale=1)
    assert flow.acks_for(packet) == [(1, 2, 0)]  # the coded packet had said as much: 0 is still missing
    assert (unit.arrived_packets, unit.dependent_packets) == (0, 2)


def test_a_second_copy_of_data_takes_nothing_away():
    flow, _ = start(**QUIET)
    flow.original(0, 1, 1)
    flow.of_block(0)
    packet = flow.hosts.arriving(1, kind=0, segment=0, data=1, bytes=1500, flags=0, unit=0, stale=1)
    flow.acks_for(packet)
    assert flow.hosts.units[0].arrived_packets == 1


# -- whole runs


@pytest.mark.parametrize("fabric", BUSY)
def test_without_coded_packets_it_is_ietf_mptcp_packet_for_packet(fabric):
    kind, flows = BUSY[fabric]
    plain = run(setup_of(kind, flows, "ietf_mptcp")).trace
    bare = run(setup_of(kind, flows, "sc_mptcp", layer=QUIET)).trace
    assert len(plain) == len(bare)
    assert all(np.array_equal(plain[name], bare[name]) for name in plain.dtype.names)


def test_a_loss_that_a_block_supplies_is_not_sent_again():
    """One coded packet behind each block of eight: the last data segment but one of the flow comes by it."""
    losses = DataLosses(at_node=FAR_SWITCH, first=22)
    setups = [
        setup_of(
            LINK,
            flows_of([(0, 1, 24 * MSS, 0.0)]),
            with_data_losses(schemes()[name], losses),
            transport={"initial_window_packets": 2},
            sharing={"subflows": 2},
            **options,
        )
        for name, options in (
            ("ietf_mptcp", {}),
            ("sc_mptcp", {"layer": {"block_packets": 8, "redundancy_factor": 51 / 8, "loss_weight": 0.0}}),
        )
    ]
    without, coded_run = run(setups[0]), one_run(setups[1])
    assert without.subs["timeouts"].sum() == 1
    assert coded_run.subs["timeouts"].sum() + coded_run.subs["retransmissions"].sum() == 0
    units = coded_run.own.records("unit", (0, "layer"))
    assert units["n"].sum() - units["k"].sum() >= 3
    assert (units["decoded_ps"] != NONE).tolist() == [False, False, True]
