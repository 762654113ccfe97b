"""Scripted coding: when a unit decodes, what TCP gets and when, worked out by hand."""

from fractions import Fraction
from math import ceil

import pytest
from engine_setups import Losses, flow_list, one_run, sent_by, setup_of, with_losses
from hypothesis import given
from hypothesis import strategies as st

from capsim.fabric.kinds import Dumbbell
from capsim.protocols.coding.block import BlockParams, Release, UnitSize
from capsim.protocols.coding.blocking import decode_prob, repair_packets
from capsim.registry import scheme
from capsmodel.decoding import decode_prob as model_decode_prob

MSS = 1460
LINK = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=50e-6, buffer_packets=1000)
FAR_SWITCH = 3
PACKET_PS, HOP_PS = 12_000_000, 12_000_000 + 50_000_000


def play(n_segments, *, coding, end_ps=10**12, **losses):
    base = with_losses(scheme("caps"), Losses(at_node=FAR_SWITCH, **losses))
    setup = setup_of(LINK, flow_list([(0, 1, n_segments * MSS, 0.0)]), base, coding=coding, end_ps=end_ps)
    records = one_run(setup)
    return records, sent_by(records, setup)


def arrival_ps(position):
    """Return when the packet that left the host as number `position` of a burst at time 0 is at the receiver."""
    return position * PACKET_PS + 3 * HOP_PS


def test_any_k_of_n_decode():
    """k = 10 = window, p_B = 0.2: r = 3. Three are lost; the tenth to arrive decodes, no TCP retransmission."""
    records, sent = play(10, coding={"initial_blocking_prob": 0.2}, once_a=0, once_b=4, once_c=12)
    conn, unit = records.conns[0], records.units[0]
    assert len(sent) == 13
    assert (unit["k"], unit["n"], unit["arrived"]) == (10, 13, 10)
    # Positions 1-3, 5-11 arrive: the tenth of them is number 11.
    assert conn["received_ps"] == unit["decoded_ps"] == arrival_ps(11)
    assert (conn["retransmissions"], conn["dup_acks_received"], conn["reordered_packets"]) == (0, 0, 0)
    assert (conn["units_decoded"], conn["units_stalled"], conn["late_packets"]) == (1, 0, 0)


def test_late_packets_are_dropped():
    """Nothing is lost: the first ten decode, the three repair packets come too late and are not acknowledged."""
    records, _ = play(10, coding={"initial_blocking_prob": 0.2})
    conn = records.conns[0]
    assert conn["received_ps"] == arrival_ps(9)
    assert conn["late_packets"] == 3
    acks = records.trace[(records.trace["kind"] == 1) & (records.trace["what"] == 0) & (records.trace["port"] == 1)]
    assert len(acks) == 10


def test_undecodable_unit_is_repaired_by_tcp():
    """Four of 13 are lost. TCP times out and sends segment 0 in clear: the tenth independent packet, all is decoded.

    TCP has gone back, so the ten acknowledgements, one after the other, let it send the other nine again, in vain.
    """
    records, sent = play(10, coding={"initial_blocking_prob": 0.2}, once_a=0, once_b=4, once_c=12, once_d=7)
    conn, unit = records.conns[0], records.units[0]
    assert (conn["timeouts"], conn["retransmissions"], conn["units_decoded"]) == (1, 10, 1)
    assert (sent["segment"][13], sent["time_ps"][13]) == (0, 2 * 10**9)
    assert unit["decoded_ps"] == conn["received_ps"] == 2 * 10**9 + 3 * HOP_PS


@pytest.mark.parametrize("release", [Release.IN_ORDER, Release.DECODED])
def test_units_go_up_in_order(release):
    """Two units of 5, one packet of the first lost, no repair packets.

    In order: the second unit waits, TCP hears nothing and times out; then both go up. As decoded: the second unit
    makes duplicate acknowledgements and a fast retransmit repairs the first.
    """
    coding = {"unit_size": UnitSize.FIXED, "fixed_packets": 5, "release": release}
    records, _ = play(10, coding=coding, once_a=2)
    conn, first, second = records.conns[0], records.units[0], records.units[1]
    assert second["decoded_ps"] == arrival_ps(9)
    assert conn["received_ps"] == first["decoded_ps"] > second["decoded_ps"]
    waited = release == Release.IN_ORDER
    assert (conn["timeouts"], conn["fast_retransmits"]) == ((1, 0) if waited else (0, 1))
    assert conn["dup_acks_received"] == (0 if waited else 5)
    assert conn["reordered_packets"] == (0 if waited else 4)  # 0, 1, 3, 4 after 5-9; 2 was a retransmission


def test_dark_codes_the_first_69_segments():
    setup = setup_of(LINK, flow_list([(0, 1, 200 * MSS, 0.0)]), "caps_dark")
    records = one_run(setup)
    assert records.units["k"].sum() == 69
    assert (sent_by(records, setup)["kind"] == 0).sum() == 131


@given(k=st.integers(1, 200), blocked=st.integers(0, 50), acks=st.integers(1, 50))
def test_redundancy_is_the_formula_in_exact_arithmetic(k, blocked, acks):
    params = BlockParams(max_overhead=1000.0)
    if blocked < acks:
        blocking_prob = Fraction(blocked, acks)
        assert repair_packets(params, k, blocked, acks) == ceil(k / (1 - blocking_prob) - k)
    else:
        assert repair_packets(BlockParams(max_overhead=0.5), k, blocked, acks) == k // 2


@given(k=st.integers(1, 80), r=st.integers(0, 40), blocking_prob=st.floats(1e-9, 0.9))
def test_decode_prob_is_that_of_the_model(k, r, blocking_prob):
    assert decode_prob(k, r, blocking_prob) == pytest.approx(
        float(model_decode_prob(k, r=r, blocking_prob=blocking_prob)), rel=1e-9, abs=1e-300
    )
