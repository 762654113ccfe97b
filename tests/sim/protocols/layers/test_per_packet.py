"""Scripted coding with an ACK for each packet: what TCP gets, what it sends again, and when, worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_setups import (
    FAR_SWITCH,
    LINK,
    MSS,
    Losses,
    UnitLosses,
    flow_list,
    one_run,
    sent_by,
    setup_of,
    with_losses,
    with_unit_losses,
)
from support.layer_setups import LayerEnd, layer_memory, units_of

from capsim import scheme
from capsim.engines import run
from capsim.protocols.layers.params import UnitSize
from capsim.records import ACK, CODED, DATA, ENQUEUED, RETRANSMITTED

PACKET_PS, HOP_PS, BACK_PS = 12_000_000, 12_000_000 + 50_000_000, 3 * (320_000 + 50_000_000)
MIN_RTO_PS = 2 * 10**9  # of these set-ups
TENS = {"unit_size": UnitSize.FIXED, "fixed_packets": 10, "initial_blocking_prob": 0.2, "rtt_factor": 100.0}
REPAIR = 3  # of a unit of 10 at p_B = 0.2: 2.5 rounded up


def lossy(n_segments, *, name="caps", layer=TENS, **losses):
    """Return the set-up of one flow on one path, with the packets of a unit that get lost."""
    base = with_unit_losses(scheme(name), UnitLosses(at_node=FAR_SWITCH, **losses))
    return setup_of(LINK, flow_list([(0, 1, n_segments * MSS, 0.0)]), base, layer=layer, end_ps=10**12)


def coded_flow(n_segments, **setting):
    setup = lossy(n_segments, **setting)
    result = one_run(setup)
    return result, sent_by(result, setup)


def bits(positions):
    return sum(1 << position for position in positions)


def arrival_ps(position):
    """Return when the packet that left the host as number `position` of a burst at time 0 is at the receiver."""
    return position * PACKET_PS + 3 * HOP_PS


@pytest.mark.parametrize("flow_bytes", [1, 1460, 14_600, 20_000, 50_000, 100_000])
@pytest.mark.parametrize("layer", [{}, {"unit_size": UnitSize.FIXED}], ids=["window", "10"])
def test_without_repair_packets_and_losses_it_is_newreno(flow_bytes, layer):
    """One path, nothing lost, r = 0: the code does nothing that TCP could notice."""
    flows = flow_list([(0, 1, flow_bytes, 0.0)])
    plain = run(setup_of(LINK, flows, "ecmp"))
    coded = run(setup_of(LINK, flows, "caps", layer={"max_overhead": 0.0} | layer))
    for name in ("received_ps", "closed_ps", "packets_sent", "bytes_sent", "cwnd_bytes", "srtt_ps", "rto_ps"):
        assert plain.subs[name] == coded.subs[name], name
    assert layer_memory(coded)["units_decoded"] == layer_memory(coded)["units"] > 0


class Receiver:
    """The receiver of a flow of one unit, to which packets can be given in any order."""

    def __init__(self, k, r):
        self.end = LayerEnd("caps", n_segments=k)
        self.unit = self.end.units[0]
        self.unit.k, self.unit.n = k, k + r

    def take(self, position, *, flags=0):
        """Return the acknowledgement number that a packet causes, or None."""
        packet = self.end.packet(kind=CODED, unit=0, position=position, flags=flags, segment=0, bytes=1500)
        if not self.end.call("collect", packet):
            return None
        assert self.end.call("on_data", packet)
        return packet.ack


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 20).flatmap(lambda k: st.tuples(st.just(k), st.permutations(range(k + 4)))))
def test_tcp_sees_no_reordering_within_a_unit(case):
    """Whatever the order of k + 4 packets: acknowledgements 1 to k at the first k, then silence."""
    k, order = case
    receiver = Receiver(k, 4)
    assert [receiver.take(position) for position in order] == [*range(1, k + 1), *4 * [None]]
    sub, memory = receiver.end.sub, receiver.end.memory
    assert (sub.reordered_packets, sub.duplicate_packets, memory.late_packets) == (0, 0, 4)
    assert (memory.units_decoded, sub.receive_next) == (1, k)


def test_a_retransmission_of_a_complete_unit_is_answered():
    """Its acknowledgements are lost, or TCP would not resend: the receiver must not be silent."""
    receiver = Receiver(2, 0)
    assert [receiver.take(0), receiver.take(1), receiver.take(2, flags=RETRANSMITTED)] == [1, 2, 2]
    assert receiver.end.sub.duplicate_packets == 1


@settings(max_examples=20, deadline=None)
@given(st.sets(st.integers(0, 9 + REPAIR), max_size=REPAIR))
def test_any_k_of_n_complete_a_unit(lost):
    """Ten segments, 13 packets, at most three lost: complete at the tenth arrival, and TCP sends nothing again."""
    result = run(lossy(10, unit=0, positions=bits(lost)), engine="reference")
    sub = result.subs[0]
    memory = layer_memory(result)[0]
    tenth = sorted(set(range(10 + REPAIR)) - lost)[9]
    assert sub["received_ps"] == arrival_ps(tenth)
    assert (sub["packets_sent"], sub["retransmissions"], sub["dup_acks_received"]) == (10 + REPAIR, 0, 0)
    assert (memory["units_decoded"], memory["units_stalled"]) == (1, 0)


def test_one_loss_too_many_in_a_middle_unit_is_a_fast_retransmit():
    """Four of the first 13 are lost. The nine that come are segments 0-8, so 9 is missing, whatever was lost.

    Their ACKs let 10-27 go; 10, 11 and 12 make the three duplicates, and one packet of unit 0, at a position of its
    own, completes it.
    """
    result, sent = coded_flow(40, unit=0, positions=bits([0, 3, 7, 11]))
    sub, unit = result.subs[0], units_of(result)[0]
    assert (sub["fast_retransmits"], sub["retransmissions"], sub["timeouts"]) == (1, 1, 0)
    again = sent[(sent["flags"] & RETRANSMITTED) != 0]
    assert (again["kind"].tolist(), again["segment"].tolist()) == ([CODED], [unit["first_segment"]])
    assert (unit["k"], unit["n"], unit["sent"], unit["arrived_packets"], unit["stalled"]) == (10, 13, 14, 10, 1)
    assert again["time_ps"][0] < MIN_RTO_PS
    assert unit["decoded_ps"] == again["time_ps"][0] + 3 * HOP_PS


def test_one_loss_too_many_in_the_last_unit_is_one_timeout_of_min_rto():
    """Nothing comes behind the last unit: the timer, restarted by the ninth ACK, sends one packet of it."""
    result, sent = coded_flow(10, unit=0, positions=bits([0, 3, 7, 11]))
    sub = result.subs[0]
    assert (sub["timeouts"], sub["fast_retransmits"], sub["retransmissions"]) == (1, 0, 1)
    again_ps = arrival_ps(12) + BACK_PS + MIN_RTO_PS
    assert sent["time_ps"].tolist()[13:] == [again_ps]
    assert sub["received_ps"] == again_ps + 3 * HOP_PS


def test_lost_acknowledgements_of_a_unit():
    """All ten ACKs of unit 0 are lost. The timer sends a packet of it; its ACK covers all ten, and the flow goes on."""
    result, sent = coded_flow(25, unheard_unit=0)
    sub = result.subs[0]
    assert (sub["timeouts"], sub["retransmissions"], sub["duplicate_packets"]) == (1, 1, 1)
    assert sent["time_ps"][13] == MIN_RTO_PS
    assert sent["time_ps"][14] == MIN_RTO_PS + 3 * HOP_PS + BACK_PS  # segment 10, the first of the next unit
    assert sub["closed_ps"] > sub["received_ps"] > 0


def test_repair_packets_leave_right_behind_their_unit():
    """A window of 20, units of 10: ten sources, three repair packets, and so on; all at time 0, nothing counts."""
    setup = setup_of(
        LINK, flow_list([(0, 1, 20 * MSS, 0.0)]), "caps", layer=TENS, transport={"initial_window_packets": 20}
    )
    sent = sent_by(one_run(setup), setup)
    assert sent["segment"].tolist() == 13 * [0] + 13 * [10]
    assert sent["time_ps"].tolist() == 26 * [0]


def test_units_of_the_window():
    """Ten fill the first unit. The first ACK opens a window of 11, the size of the next; it has 11 - 9 new segments."""
    result, _ = coded_flow(30, layer={"max_overhead": 0.0})
    assert units_of(result)["k"].tolist() == [10, 11, 9]
    assert units_of(result)["first_segment"].tolist() == [0, 10, 21]


def test_optimal_units_are_windows_while_nothing_is_blocked():
    """Eq. 4 has its minimum at k = 1 for p_B = 0, and nothing would be coded."""
    layer = {"unit_size": UnitSize.OPTIMAL, "initial_blocking_prob": 0.0, "rtt_factor": 100.0}
    assert units_of(coded_flow(30, layer=layer)[0])["k"].tolist() == [10, 11, 9]


def test_unit_is_no_larger_than_what_can_be_in_flight():
    """Of a receive window of 16 segments an initial window of 40 makes units of 16."""
    transport = {"initial_window_packets": 40, "max_window_bytes": 16 * MSS}
    result = one_run(setup_of(LINK, flow_list([(0, 1, 40 * MSS, 0.0)]), "caps", transport=transport))
    assert units_of(result)["k"].tolist() == [16, 16, 8]


def test_unit_larger_than_the_window_is_decoded_once():
    """A unit of 30, window of 10: all ten are there before the sender hears of one, yet the unit has 20 to come."""
    result, sent = coded_flow(30, layer=TENS | {"fixed_packets": 30, "max_overhead": 0.0})
    sub, unit = result.subs[0], units_of(result)[0]
    memory = layer_memory(result)[0]
    assert sent["time_ps"][10] == arrival_ps(0) + BACK_PS > arrival_ps(9)
    assert (len(units_of(result)), unit["k"], memory["units_decoded"]) == (1, 30, 1)
    assert unit["decoded_ps"] == sub["received_ps"]


def test_ceiling_of_one_sixth_is_two_of_ten():
    """p_B = 1/6 is the 10 + 2 of the authors' code, exactly; 3 of 10 would be a rounding error."""
    result, _ = coded_flow(10, layer={})
    assert (units_of(result)["k"][0], units_of(result)["n"][0]) == (10, 12)


def test_min_repair_and_partial_units():
    """Units of 10 and 4 at p_B = 0, at least 2 repair packets each, unless the partial one has none."""
    layer = TENS | {"initial_blocking_prob": 0.0, "min_repair": 2}
    assert units_of(coded_flow(14, layer=layer)[0])["n"].tolist() == [12, 6]
    assert units_of(coded_flow(14, layer=layer | {"repair_partial": False})[0])["n"].tolist() == [12, 4]


def test_the_ns2_code_never_changes_r():
    """At p_B = 1/2 the formula would have 10 for 10."""
    assert units_of(coded_flow(10, name="caps_ns2", layer={"initial_blocking_prob": 0.5})[0])["n"].tolist() == [12]


def test_retransmissions_take_copies_along():
    """caps_ns2, 10 + 2, three lost: the timeout sends a packet of the unit and ceil(r / 2) = 1 more, both at once."""
    result, sent = coded_flow(10, name="caps_ns2", layer={}, unit=0, positions=bits([1, 2, 3]))
    memory, unit = layer_memory(result)[0], units_of(result)[0]
    assert len(sent) == 14
    assert sent["time_ps"][12] == sent["time_ps"][13] == arrival_ps(11) + BACK_PS + MIN_RTO_PS
    assert (sent["flags"][12:] & RETRANSMITTED).tolist() == [RETRANSMITTED, 0]
    assert (unit["sent"], unit["arrived_packets"], memory["late_packets"], memory["repair_packets"]) == (14, 10, 1, 3)


def test_dark_retransmits_beyond_the_coded_part_in_clear():
    """Segments 0-68 are coded. 40 and 80 are lost: one comes again as a packet of its unit, the other as it is."""
    base = with_losses(scheme("caps_dark"), Losses(at_node=FAR_SWITCH, once_a=40, once_b=80))
    setup = setup_of(LINK, flow_list([(0, 1, 120 * MSS, 0.0)]), base, layer={"max_overhead": 0.0}, end_ps=10**12)
    result = one_run(setup)
    sent = sent_by(result, setup)
    again = sent[(sent["flags"] & RETRANSMITTED) != 0]
    unit = units_of(result)[units_of(result)["first_segment"] <= 40][-1]
    assert list(zip(again["kind"].tolist(), again["segment"].tolist(), strict=True)) == [
        (CODED, unit["first_segment"]),
        (DATA, 80),
    ]
    assert units_of(result)["k"].sum() == 69
    assert (units_of(result)["n"] == units_of(result)["k"]).all()  # the last one is closed at 69, r = 0


def test_coded_packets_are_as_large_as_the_largest_source():
    """The last segment has 60 bytes; repair packets, and what is sent again for it, are of 1500 all the same."""
    base = with_unit_losses(scheme("caps"), UnitLosses(at_node=FAR_SWITCH, unit=0, positions=bits([9, 10, 11, 12])))
    setup = setup_of(LINK, flow_list([(0, 1, 9 * MSS + 20, 0.0)]), base, layer=TENS, end_ps=10**12)
    assert sent_by(one_run(setup), setup)["bytes"].tolist() == 9 * [1500] + [60] + 4 * [1500]


def test_buffered_units_are_acknowledged_packet_by_packet():
    """Not systematic: ten wait for each other, which takes no time in one burst; every arrival is acknowledged."""
    result, _ = coded_flow(10, layer=TENS | {"systematic": False}, unit=0, positions=bits([0, 4]))
    lines = result.trace[(result.trace["kind"] == ACK) & (result.trace["what"] == ENQUEUED)]
    first_hop = lines[lines["port"] == LINK.build().host_port[1]]
    assert first_hop["ack"].tolist() == list(range(1, 11))
    assert result.subs["received_ps"][0] == arrival_ps(11)
