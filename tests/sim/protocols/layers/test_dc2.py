"""DC2-MTCP: how much redundancy is earned, what is mixed, what the receiver decodes, and what it spares."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.coded_streams import TWO, Coded, DataLosses, with_data_losses
from support.engine_setups import BUSY, CROWDED, memory_of, one_run, setup_of
from support.engine_setups import flow_list as flows_of
from support.scripted import MSS

from capsim import Dumbbell, schemes
from capsim.engines import run
from capsim.protocols.layers.combinations import (
    MOST_MIXED,
    ROWS,
    coefficient,
    determined,
    inverse,
    take_combination,
    times,
)
from capsim.protocols.layers.dc2 import DC2
from capsim.records import DATA_RECEIVED, NONE
from capsmodel.codec.dc2 import GaussJordan
from capsmodel.codec.gf256 import INV, MUL
from capsmodel.multipath.coded_transport import (
    connection_loss_prob,
    redundancy_ratio,
    small_flow_redundancy_ratio,
)
from capsmodel.multipath.coding_schedule import CodingState, accumulate_redundancy, pre_coding_measure
from capsmodel.multipath.lia import lia_alpha

LINK = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6)
FAR_SWITCH = 3


def start(*, window=2, **layer):
    """Return a flow with two subflows and windows of so many segments, and what it has sent at the start."""
    parts = TWO | {"transport": {"initial_window_packets": window}}
    flow = Coded("dc2mtcp", layer=layer, **parts)
    return flow, flow.sent()


# -- redundancy


def test_a_small_flow_earns_a_coded_packet_for_its_windows():
    """Eq. 10: 1/4 for each of four data segments, and the fifth makes more than one."""
    flow, sent = start()
    assert sent == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert (flow.memory.redundancy, flow.mixed()) == (1.0, [])
    assert flow.ack(0, 1, data_ack=1) == [(0, 4), (0, 5)]
    assert flow.mixed() == [(0, [0, 1, 2, 3, 4])]
    assert flow.memory.redundancy == pytest.approx(1.0 + 2 / 5 - 1)


def test_the_coded_packet_follows_at_once_and_is_larger_by_its_option():
    flow, _ = start()
    flow.ack(0, 1, data_ack=1)
    coded, after = flow.hosts.sent[-2:]
    assert (coded.segment, coded.bytes, after.data) == (0, 1500 + 3 * 5 - 1, 5)
    flow, _ = start(option_bytes=False)
    flow.ack(0, 1, data_ack=1)
    assert flow.hosts.sent[-2].bytes == 1500


def test_a_large_flow_earns_by_its_windows_and_round_trips():
    """Eq. 4 and 5 in their consistent form; nothing before a round trip is measured."""
    flow, _ = start(window=10)
    assert flow.memory.redundancy == 0
    flow.ack(0, 1, data_ack=1, rtt_us=100)
    earned = flow.memory.redundancy
    flow.ack(1, 1, data_ack=1, rtt_us=300)
    windows, rtts = ([getattr(sub, name) for sub in flow.subs] for name in ("cwnd_bytes", "srtt_ps"))
    ratio = closed_form_ratio(windows, rtts)
    assert flow.memory.redundancy - earned == pytest.approx(2 * ratio, rel=1e-12)


def closed_form_ratio(windows_bytes, rtts_ps):
    """Return gamma of the model; without the cap of RFC 6356, as the paper's Eq. 3 has it."""
    windows = np.array(windows_bytes) / MSS
    if windows.sum() <= 5 * len(windows):
        return small_flow_redundancy_ratio(windows.sum())
    rtts_s = np.array(rtts_ps) * 1e-12
    loss_prob = connection_loss_prob(windows, rtts_s=rtts_s, form="uncapped")
    assert loss_prob < lia_alpha(windows, rtts_s=rtts_s)
    return redundancy_ratio(loss_prob)


@pytest.mark.parametrize("seed", range(4))
def test_every_step_is_that_of_the_model(seed):
    """Twin: random acknowledgements on two subflows; R, mixing, and the coded packets are those of Algorithm 1."""
    rng = np.random.default_rng(seed)
    flow, sent = start(redundancy_factor=3.0)
    state, coded = CodingState(), 0
    carried, acked = {0: [], 1: []}, {0: 0, 1: 0}
    for ratio, psi in [(3 / 4, 0)] * len(sent):
        state, action = accumulate_redundancy(state, ratio=ratio, psi_packets=psi)
        coded += action.send
    note(carried, sent)
    for _ in range(120):
        sub = int(rng.integers(2))
        if acked[sub] == len(carried[sub]):
            continue
        acked[sub] += int(rng.integers(1, len(carried[sub]) - acked[sub] + 1))
        known = {data for each in (0, 1) for data in carried[each][: acked[each]]}
        data_ack = next(data for data in range(flow.flow.granted + 1) if data not in known)
        sent = flow.ack(sub, acked[sub], data_ack=data_ack, window=4096)
        span = flow.flow.granted - flow.flow.data_acked
        waiting = sum(data >= data_ack for each in (0, 1) for data in carried[each][acked[each] :]) + len(sent)
        psi = pre_coding_measure(span, unacknowledged_packets=waiting)
        ratio = measured_ratio(flow)
        for _ in sent:
            state, action = accumulate_redundancy(state, ratio=3 * ratio, psi_packets=psi)
            coded += action.send
        note(carried, sent)
        assert len(flow.mixed()) == coded
        assert flow.memory.redundancy == pytest.approx(state.redundancy_packets, rel=1e-9, abs=1e-9)
        assert bool(flow.memory.coding) == state.coding
    assert coded > 5


def note(carried, sent):
    for sub, data in sent:
        carried[sub].append(data)


def measured_ratio(flow):
    windows, rtts = ([getattr(sub, name) for sub in flow.subs] for name in ("cwnd_bytes", "srtt_ps"))
    measured = [rtt for rtt in rtts if rtt]
    if len(measured) == 2 or sum(windows) <= 5 * len(windows) * MSS:
        return closed_form_ratio(windows, rtts)
    pytest.fail("this test begins with small windows, so both round trips are known before they are large")
    return 0.0


# -- what is mixed


def test_no_more_than_fifteen_data_segments_are_mixed():
    """1/16 for each: mixing begins with the second, and the 17th makes more than one; it is the 16th to be mixed."""
    flow = Coded(
        "dc2mtcp",
        transport={"initial_window_packets": 20},
        sharing={"subflows": 1},
        layer={"small_window_packets": 100.0, "redundancy_factor": 1.25},
    )
    assert flow.mixed() == [(0, list(range(1, 16)))]


def test_post_coding_mixes_the_first_that_are_not_acknowledged_from_their_last():
    """psi = 4: all on the second subflow is acknowledged, 0 to 3 on the first are not."""
    flow, sent = start(window=4, post_span=3, redundancy_factor=0.6, small_window_packets=100.0)
    assert sent == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (1, 6), (1, 7)]
    flow.memory.redundancy, flow.memory.coding, flow.memory.mixed = 0.85, 0, 0
    flow.ack(1, 4, data_ack=0)  # 1/15 for each, with windows of 9: mixing begins with the first, ends with the third
    assert flow.mixed() == [(1, [2, 1, 0])]


@pytest.mark.parametrize(("behind", "pre"), [(3, 1), (4, 0)])
def test_up_to_delta_out_of_order_it_is_pre_coding(behind, pre):
    flow, _ = start(window=4)
    flow.memory.redundancy, flow.memory.coding, flow.memory.mixed = 0.9, 0, 0
    flow.ack(1, behind, data_ack=0)
    assert flow.memory.pre == pre


def test_a_retransmission_earns_nothing():
    flow, _ = start(redundancy_factor=0.1)
    earned = flow.memory.redundancy
    assert flow.expire(0)[0] == (0, 0)
    assert flow.memory.redundancy == earned


def test_within_the_window_a_coded_packet_waits_for_room():
    flow, _ = start(within_window=True)
    flow.ack(0, 1, data_ack=1)
    assert flow.mixed() == [(0, [0, 1, 2, 3, 4])]
    flow, _ = start(within_window=True, redundancy_factor=1.3)
    assert flow.mixed() == []  # the fourth earned it, and filled the window
    assert start(redundancy_factor=1.3)[0].mixed() == [(1, [0, 1, 2, 3])]


# -- the decoding matrix


def test_products_and_inverses_are_those_of_the_codec():
    assert [[times(a, b) for b in range(256)] for a in range(256)] == MUL.tolist()
    assert [inverse(a) for a in range(1, 256)] == INV[1:].tolist()


def test_coefficients_are_uniform_on_the_elements_that_are_not_zero():
    drawn = [coefficient(number, segment) for number in range(100) for segment in range(number, number + 51)]
    counts = np.bincount(drawn, minlength=256)
    assert counts[0] == 0
    chi_squared = float(((counts[1:] - 20) ** 2 / 20).sum())
    assert 170 < chi_squared < 340  # 254 degrees of freedom: 1e-4 on either side


def test_it_decodes_what_elimination_of_the_codec_does(subtests):
    """Twin: combinations and data segments come at random; what is known then is the same."""
    for seed in range(20):
        with subtests.test(seed=seed):
            rng = np.random.default_rng(seed)
            size, packet_bytes = 16, 1
            matrix, memory = GaussJordan(size, packet_bytes=packet_bytes), memory_of(DC2, "flow")
            flow = SimpleNamespace(data_next=0, data_ring=0, data_mask=size - 1, buffer_segments=size)
            data, source, number = [0] * size, rng.integers(0, 256, (size, 1), np.uint8), 0
            while not matrix.decoded.all():
                if rng.random() < 0.5 and memory.rows < ROWS:
                    members = rng.choice(size, int(rng.integers(1, 5)), replace=False).tolist()
                    row, payload = np.zeros(size, np.uint8), np.zeros(packet_bytes, np.uint8)
                    for member in members:
                        row[member] = coefficient(number, member)
                        payload ^= MUL[row[member]][source[member]]
                    matrix.add_coded(row, payload)
                    padded = members + [0] * (MOST_MIXED - len(members))
                    take_combination(memory, SimpleNamespace(number=number, mixed=len(members), members=padded))
                    number += 1
                else:
                    chosen = int(rng.integers(size))
                    matrix.add_original(chosen, source[chosen])
                    data[chosen] |= DATA_RECEIVED
                while (found := determined(memory, flow, data)) != NONE:
                    data[found] |= DATA_RECEIVED
                assert [flags & DATA_RECEIVED for flags in data] == matrix.decoded.astype(int).tolist()


def test_the_oldest_combination_makes_room():
    flow, _ = start(window=10)
    for number in range(ROWS + 1):
        flow.combination(number, [2 * number, 2 * number + 1])
    assert flow.memory.numbers == [*range(1, ROWS + 1)]
    assert flow.original(0, 1, 1) == [(0, 0, 0)]  # 0 is not decoded any more
    assert flow.original(0, 2, 2) == [(0, 0, 0), (0, 0, 0)]  # 3 is


# -- the receiver


def test_a_decoded_data_segment_is_acknowledged_where_it_was_lost():
    flow, _ = start()
    assert flow.original(0, 1, 1) == [(0, 0, 0)]
    assert flow.combination(0, [0, 1, 2], sub=1) == []
    assert flow.original(1, 0, 2) == [(1, 1, 0), (0, 2, 3)]
    assert (flow.counted("recovered_packets"), flow.memory.rows) == (1, 0)
    assert flow.original(1, 1, 3) == [(1, 2, 4)]


def test_or_it_goes_to_the_stream_only():
    flow, _ = start(acknowledge="stream")
    flow.original(0, 1, 1)
    flow.combination(0, [0, 1, 2], sub=1)
    assert flow.original(1, 0, 2) == [(1, 1, 0)]
    assert flow.flow.data_next == 3
    assert flow.original(1, 1, 3) == [(1, 2, 4)]
    assert flow.original(0, 0, 0) == [(0, 2, 4)]  # the subflow has repaired its loss
    assert flow.flow.data_duplicates == 1


def test_two_combinations_decode_two_losses():
    flow, _ = start()
    assert flow.combination(0, [0, 1, 2]) == []
    assert flow.combination(1, [0, 1, 3]) == []
    assert flow.original(1, 0, 2) == [(1, 1, 0)]
    assert flow.original(1, 1, 3) == [(1, 2, 0), (0, 1, 1), (0, 2, 4)]


def test_a_decoded_data_segment_gives_no_round_trip():
    """Its acknowledgement is that of a retransmission (Karn): nobody knows when the lost packet would have come."""
    flow, _ = start()
    flow.combination(0, [0])
    assert flow.hosts.sent[-1].flags == 1


# -- whole runs


@pytest.mark.parametrize("fabric", BUSY)
def test_without_redundancy_it_is_ietf_mptcp_packet_for_packet(fabric):
    kind, flows = BUSY[fabric]
    plain, bare = (
        run(setup_of(kind, flows, name, transport={"initial_window_packets": 2}, **options)).trace
        for name, options in (("ietf_mptcp", {}), ("dc2mtcp", {"layer": {"redundancy_factor": 0.0}}))
    )
    assert len(plain) == len(bare)
    assert all(np.array_equal(plain[name], bare[name]) for name in plain.dtype.names)


def lossy(name, lost, *, segments=12):
    """Return the set-up of a few data segments on two subflows, of which one is lost."""
    scheme = with_data_losses(schemes()[name], DataLosses(at_node=FAR_SWITCH, first=lost))
    parts = {"transport": {"initial_window_packets": 2}, "sharing": {"subflows": 2}}
    return setup_of(LINK, flows_of([(0, 1, segments * MSS, 0.0)]), scheme, **parts)


@pytest.mark.parametrize("lost", range(10))
def test_decoding_spares_timeout_and_retransmission(lost):
    """Two coded packets are sent, the second behind data segment 9; what it mixes needs no retransmission."""
    without, coded = (run(lossy(name, lost), engine="reference") for name in ("ietf_mptcp", "dc2mtcp"))
    assert without.subs["retransmissions"].sum() == 1
    assert coded.subs["timeouts"].sum() + coded.subs["retransmissions"].sum() == 0
    counts = coded.own.records("subflow", (0, "layer"))
    assert (counts["repair_packets"].sum(), counts["recovered_packets"].sum()) == (2, 1)
    if without.subs["timeouts"].sum():
        assert without.flows["received_ps"][0] - coded.flows["received_ps"][0] > 1.7e9  # of the timeout of 2 ms
    assert coded.flows["acked_ps"][0] > 0


def test_in_the_stream_only_the_subflow_repairs_its_loss_too():
    setup = lossy("dc2mtcp", 7, segments=60)
    sparing = one_run(setup)
    stream = one_run(replace(setup, scheme=setup.scheme.with_params(layer={"acknowledge": "stream"})))
    recovered = [each.own.records("subflow", (0, "layer"))["recovered_packets"].sum() for each in (sparing, stream)]
    assert recovered == [1, 1]
    assert [each.subs["retransmissions"].sum() for each in (sparing, stream)] == [0, 1]


@pytest.mark.parametrize("segments", [100, 161, 1000])
def test_the_share_of_coded_packets_is_that_of_the_model(segments):
    """Windows of 16 that never change: R exceeds 1 once in 16 data segments, first at the 17th."""
    window = {"initial_window_packets": 16, "max_window_bytes": 16 * MSS}
    setup = setup_of(
        LINK,
        flows_of([(0, 1, segments * MSS, 0.0)]),
        "dc2mtcp",
        transport=window,
        sharing={"subflows": 1},
        layer={"small_window_packets": 16.0},
    )
    counts = one_run(setup).own.records("subflow", (0, "layer"))[0]
    assert counts["repair_packets"] == (segments - 1) // 16
    assert counts["coded_packets"] == segments + counts["repair_packets"]


def test_coding_takes_the_time_of_hosts():
    small = {"transport": {"initial_window_packets": 2}}
    setup = setup_of(*CROWDED["dumbbell"], "dc2mtcp", **small)
    slow = setup_of(*CROWDED["dumbbell"], "dc2mtcp", **small, encode_ps=10**8, decode_ps=10**8)
    assert not np.array_equal(run(setup).flows["received_ps"], one_run(slow).flows["received_ps"])
