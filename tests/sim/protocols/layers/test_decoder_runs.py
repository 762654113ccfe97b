"""Scripted coding with an ACK at decoding: when a unit decodes, what TCP gets and when, worked out by hand."""

import pytest
from support.engine_setups import (
    LINK,
    MSS,
    flow_list,
    flow_with_losses,
    one_run,
    sent_by,
    setup_of,
)
from support.layer_setups import layer_memory, units_of

from capsim.protocols.layers.decoder import Release
from capsim.protocols.layers.params import UnitSize
from capsim.records import CODED, DATA

PACKET_PS, HOP_PS = 12_000_000, 12_000_000 + 50_000_000


def decoded_flow(n_segments, *, layer, end_ps=10**12, **losses):
    layer = {"initial_blocking_prob": 0.0} | layer
    return flow_with_losses(n_segments, "caps_decode", layer=layer, end_ps=end_ps, losses=losses)


def arrival_ps(position):
    """Return when the packet that left the host as number `position` of a burst at time 0 is at the receiver."""
    return position * PACKET_PS + 3 * HOP_PS


def test_any_k_of_n_decode():
    """k = 10 = window, p_B = 0.2: r = 3. Three are lost; the tenth to arrive decodes, no TCP retransmission."""
    records, sent = decoded_flow(10, layer={"initial_blocking_prob": 0.2}, once_a=0, once_b=4, once_c=12)
    sub, unit = records.subs[0], units_of(records)[0]
    memory = layer_memory(records)[0]
    assert len(sent) == 13
    assert (unit["k"], unit["n"], unit["arrived_packets"]) == (10, 13, 10)
    # Positions 1-3, 5-11 arrive: the tenth of them is number 11.
    assert sub["received_ps"] == unit["decoded_ps"] == arrival_ps(11)
    assert (sub["retransmissions"], sub["dup_acks_received"], sub["reordered_packets"]) == (0, 0, 0)
    assert (memory["units_decoded"], memory["units_stalled"], memory["late_packets"]) == (1, 0, 0)


def test_late_packets_are_dropped():
    """Nothing is lost: the first ten decode, the three repair packets come too late and are not acknowledged."""
    records, _ = decoded_flow(10, layer={"initial_blocking_prob": 0.2})
    sub = records.subs[0]
    memory = layer_memory(records)[0]
    assert sub["received_ps"] == arrival_ps(9)
    assert memory["late_packets"] == 3
    acks = records.trace[(records.trace["kind"] == 1) & (records.trace["what"] == 0) & (records.trace["port"] == 1)]
    assert len(acks) == 10


def test_undecodable_unit_is_repaired_by_tcp():
    """Four of 13 are lost. TCP times out and sends segment 0 uncoded: the tenth independent packet, all is decoded.

    TCP has gone back, so the ten acknowledgements, one after the other, let it send the other nine again, in vain.
    """
    records, sent = decoded_flow(10, layer={"initial_blocking_prob": 0.2}, once_a=0, once_b=4, once_c=12, once_d=7)
    sub, unit = records.subs[0], units_of(records)[0]
    memory = layer_memory(records)[0]
    assert (sub["timeouts"], sub["retransmissions"], memory["units_decoded"]) == (1, 10, 1)
    assert (memory["units_stalled"], unit["stalled"]) == (1, 1)
    assert (sent["segment"][13], sent["time_ps"][13]) == (0, 2 * 10**9)
    assert unit["decoded_ps"] == sub["received_ps"] == 2 * 10**9 + 3 * HOP_PS


@pytest.mark.parametrize("release", [Release.IN_ORDER, Release.DECODED])
def test_units_go_up_in_order(release):
    """Two units of 5, one packet of the first lost, no repair packets.

    In order: the second unit waits, TCP times out, then both are delivered. As decoded: the second unit
    makes duplicate acknowledgements and a fast retransmit repairs the first.
    """
    layer = {"unit_size": UnitSize.FIXED, "fixed_packets": 5, "release": release}
    records, _ = decoded_flow(10, layer=layer, once_a=2)
    sub, first, second = records.subs[0], units_of(records)[0], units_of(records)[1]
    assert second["decoded_ps"] == arrival_ps(9)
    assert sub["received_ps"] == first["decoded_ps"] > second["decoded_ps"]
    waited = release == Release.IN_ORDER
    assert (sub["timeouts"], sub["fast_retransmits"]) == ((1, 0) if waited else (0, 1))
    assert sub["dup_acks_received"] == (0 if waited else 5)
    assert sub["reordered_packets"] == (0 if waited else 4)  # 0, 1, 3, 4 after 5-9; 2 was a retransmission


def received(records):
    """Return the times at which the receiver acknowledged, and the segments it expected."""
    nic = LINK.build().host_port[1]
    lines = records.trace[(records.trace["kind"] == 1) & (records.trace["what"] == 0) & (records.trace["port"] == nic)]
    return list(zip(lines["time_ps"].tolist(), lines["ack"].tolist(), strict=True))


def test_systematic_sources_leave_first_and_go_up_at_once():
    """Ten source packets uncoded, then three repair packets. Each source packet is delivered as it comes."""
    records, sent = decoded_flow(10, layer={"systematic": True, "initial_blocking_prob": 0.2})
    memory, unit = layer_memory(records)[0], units_of(records)[0]
    assert sent["kind"].tolist() == 10 * [DATA] + 3 * [CODED]
    assert received(records) == [(arrival_ps(number), number + 1) for number in range(10)]
    assert (unit["k"], unit["n"], unit["arrived_packets"], unit["decoded_ps"]) == (10, 13, 10, arrival_ps(9))
    assert (memory["coded_packets"], memory["repair_packets"], memory["late_packets"]) == (13, 3, 3)


def test_systematic_gap_is_filled_by_the_first_repair_packet():
    """Segment 2 is lost: 0 and 1 are delivered at once, 3 to 9 held until the first repair packet decodes."""
    records, _ = decoded_flow(10, layer={"systematic": True, "initial_blocking_prob": 0.2}, once_a=2)
    sub, unit = records.subs[0], units_of(records)[0]
    memory = layer_memory(records)[0]
    assert received(records) == [
        (arrival_ps(0), 1),
        (arrival_ps(1), 2),
        *((arrival_ps(10), number) for number in range(3, 11)),
    ]
    assert (unit["decoded_ps"], unit["stalled"], memory["late_packets"]) == (arrival_ps(10), 0, 2)
    assert (sub["retransmissions"], sub["dup_acks_received"], sub["reordered_packets"]) == (0, 0, 0)


def test_systematic_packets_do_not_wait_for_their_unit():
    """Units of 10, window of 10. The first acknowledgement lets segments 10 and 11 out, coded or uncoded.

    Systematic it comes when segment 0 has arrived, and they leave then. Not systematic all ten come when the unit has
    decoded, one ACK time apart, and the unit of 10 to 19 is full and leaves at the fifth.
    """
    back_ps = 3 * (320_000 + 50_000_000)
    for systematic, first_ps in ((True, arrival_ps(0) + back_ps), (False, arrival_ps(9) + back_ps + 4 * 320_000)):
        _, sent = decoded_flow(20, layer={"systematic": systematic, "unit_size": UnitSize.FIXED, "rtt_factor": 10.0})
        assert sent["time_ps"][10] == first_ps


def test_systematic_as_decoded_hides_no_reordering():
    """As decoded: 3 to 9 are delivered at once behind the gap, and the third duplicate makes TCP send 2 again."""
    layer = {"systematic": True, "release": Release.DECODED}
    records, _ = decoded_flow(10, layer=layer, once_a=2)
    sub, unit = records.subs[0], units_of(records)[0]
    memory = layer_memory(records)[0]
    assert (sub["dup_acks_received"], sub["fast_retransmits"], sub["retransmissions"]) == (7, 1, 1)
    assert (unit["stalled"], unit["arrived_packets"], memory["units_decoded"]) == (1, 10, 1)


def test_systematic_gap_without_repair_packets_is_stalled():
    """In order, without repair packets, nothing is delivered behind the gap until TCP has timed out."""
    records, sent = decoded_flow(10, layer={"systematic": True}, once_a=2)
    sub, unit = records.subs[0], units_of(records)[0]
    memory = layer_memory(records)[0]
    # The second acknowledgement restarted the timer.
    again_ps = arrival_ps(1) + 3 * (320_000 + 50_000_000) + 2 * 10**9
    assert (sent["segment"][10], sent["time_ps"][10]) == (2, again_ps)
    assert sub["received_ps"] == unit["decoded_ps"] == again_ps + 3 * HOP_PS
    assert (sub["timeouts"], unit["stalled"], memory["units_stalled"]) == (1, 1, 1)


def test_timeout_sends_what_waits_in_the_buffer():
    """Units of 8, window of 10, the first packet lost: no ACK comes. 8 and 9 wait for six more until TCP goes back."""
    layer = {"unit_size": UnitSize.FIXED, "fixed_packets": 8}
    records, sent = decoded_flow(30, layer=layer, once_a=0)
    timeout_ps = 2 * 10**9
    assert units_of(records)["k"][:2].tolist() == [8, 2]
    assert units_of(records)["sent_ps"][:2].tolist() == [0, timeout_ps]
    assert sent["segment"][8:11].tolist() == [0, 8, 8]  # the uncoded retransmission, then the unit of 8 and 9
    assert sent["time_ps"][8:11].tolist() == 3 * [timeout_ps]
    assert records.subs["timeouts"][0] == 1


def test_flush_timer_to_the_picosecond():
    """Units of 8, window of 10: 8 and 9 wait for six more, and leave 20 us after they came."""
    layer = {"unit_size": UnitSize.FIXED, "fixed_packets": 8, "flush_s": 20e-6}
    records, sent = decoded_flow(60, layer=layer, end_ps=100_000_000)
    assert units_of(records)["k"].tolist() == [8, 2]
    assert units_of(records)["sent_ps"].tolist() == [0, 20_000_000]
    assert sent["time_ps"].tolist() == 8 * [0] + 2 * [20_000_000]


def test_unit_larger_than_the_window_leaves_with_the_window():
    """Units of 30, window of 10: nothing but the buffer is in flight, so nothing could fill it."""
    records, sent = decoded_flow(60, layer={"unit_size": UnitSize.FIXED, "fixed_packets": 30})
    assert units_of(records)["k"].tolist()[0] == 10
    assert sent["time_ps"][:10].tolist() == 10 * [0]
    assert records.subs["timeouts"][0] == 0


def test_acknowledged_sources_leave_the_buffer():
    """Systematic, as decoded, no repair packets, 9 lost. 10 and on are in the buffer until the repaired 9 covers them.

    The unit that is made then begins with the first segment that is not acknowledged.
    """
    layer = {"systematic": True, "release": Release.DECODED, "unit_size": UnitSize.FIXED, "fixed_packets": 30}
    records, sent = decoded_flow(60, layer=layer, once_a=9)
    sub, units = records.subs[0], units_of(records)
    assert (sub["fast_retransmits"], sub["timeouts"], sub["retransmissions"]) == (1, 0, 1)
    new = [segment for segment in sent["segment"].tolist()[: sent["segment"].tolist().index(9, 10)] if segment >= 10]
    acknowledged = new[-1] + 1  # all that had left before the retransmission came with it
    assert units["first_segment"][:2].tolist() == [0, acknowledged]


def test_systematic_unit_whose_sources_came_before_it_was_closed():
    """Units of 8, window of 10, no repair packets: 8 and 9 are there at 294 us, their unit is closed at 300 us.

    No packet of the unit comes after that. It counts as decoded when the next one, segment 10, comes.
    """
    flush = {"systematic": True, "unit_size": UnitSize.FIXED, "fixed_packets": 8, "flush_s": 300e-6}
    records, _ = decoded_flow(20, layer=flush)
    memory, unit = layer_memory(records)[0], units_of(records)[1]
    first_ack_ps = arrival_ps(0) + 3 * (320_000 + 50_000_000)
    assert arrival_ps(9) < unit["sent_ps"] == 300_000_000 < first_ack_ps
    assert (unit["k"], unit["n"], unit["arrived_packets"]) == (2, 2, 2)
    assert unit["decoded_ps"] == first_ack_ps + 3 * HOP_PS
    assert memory["units_decoded"] == memory["units"]


def test_dark_codes_the_first_69_segments():
    setup = setup_of(LINK, flow_list([(0, 1, 200 * MSS, 0.0)]), "caps_dark")
    records = one_run(setup)
    assert units_of(records)["k"].sum() == 69
    assert (sent_by(records, setup)["kind"] == 0).sum() == 131
