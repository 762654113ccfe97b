"""RFC 6298 by hand: SRTT, RTTVAR and RTO after each acknowledgement, Karn's rule, back-off, when the timer runs."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted import MSS, US, Receiver, Sender

from capsim.records import DATA, HANDSHAKE_ACK, NONE, RETRANSMITTED, SYN, SYN_ACK, SYN_SENT

OFTEN = {"min_rto_s": 1e-6, "initial_rto_s": 2e-3}  # a minimum that never binds


def estimates_us(sender):
    return [getattr(sender.sub, name) / US for name in ("srtt_ps", "rttvar_ps", "rto_ps")]


def test_estimates_after_each_acknowledgement():
    """Sections 2.2, 2.3: RTTs of 100, 180 and 60 us; RTTVAR is updated with the SRTT from before."""
    sender = Sender(**OFTEN)
    sender.ack(1, at_us=100, rtt_us=100)
    assert estimates_us(sender) == [100, 50, 100 + 4 * 50]
    sender.ack(2, at_us=200, rtt_us=180)
    assert estimates_us(sender) == [7 / 8 * 100 + 180 / 8, 3 / 4 * 50 + 80 / 4, 110 + 4 * 57.5]
    sender.ack(3, at_us=300, rtt_us=60)
    assert estimates_us(sender) == [103.75, 55.625, 103.75 + 4 * 55.625]
    assert sender.timer_us == 300 + 326.25


@given(rtts_us=st.lists(st.floats(1, 1e6), min_size=1, max_size=40), granularity_us=st.sampled_from([0, 10, 1000]))
def test_estimates_are_those_of_exact_arithmetic(rtts_us, granularity_us):
    """Whole picoseconds, each step rounded down: SRTT is low by at most 1 / (1 - 7/8), RTTVAR off by 4 (1 + 8/4)."""
    sender = Sender(**OFTEN, granularity_s=granularity_us * 1e-6)
    srtt = rttvar = None
    for number, rtt_us in enumerate(rtts_us, start=1):
        sender.ack(number, at_us=1e6 * number, rtt_us=rtt_us)
        rtt = Fraction(round(1e6 * number * US) - round(1e6 * number * US - round(rtt_us * US)))
        if srtt is None:
            srtt, rttvar = rtt, rtt / 2
        else:
            rttvar = rttvar * 3 / 4 + abs(srtt - rtt) / 4
            srtt = srtt * 7 / 8 + rtt / 8
        assert 0 <= srtt - sender.sub.srtt_ps <= 8
        assert abs(rttvar - sender.sub.rttvar_ps) <= 12
        assert abs(srtt + max(granularity_us * US, 4 * rttvar) - sender.sub.rto_ps) <= 8 + 4 * 12


def test_bounds_of_the_rto():
    """Sections 2.4, 2.5: at least min_rto, at most max_rto, and never less than G above SRTT (2.3)."""
    low, high = (Sender(min_rto_s=1e-3, initial_rto_s=1e-3, max_rto_s=2e-3) for _ in range(2))
    low.ack(1, at_us=100, rtt_us=100)
    high.ack(1, at_us=900, rtt_us=900)
    assert (low.sub.rto_ps, high.sub.rto_ps) == (1000 * US, 2000 * US)
    coarse = Sender(**OFTEN, granularity_s=250e-6)
    coarse.ack(1, at_us=100, rtt_us=100)
    assert coarse.sub.rto_ps == (100 + 250) * US


def test_no_sample_from_a_retransmission():
    """Section 3 (Karn): the acknowledgement of a retransmission is new data, but says nothing about the RTT."""
    sender = Sender(**OFTEN)
    sender.ack(1, at_us=100, rtt_us=100)
    before = estimates_us(sender)
    sender.ack(2, at_us=200, rtt_us=500, flags=RETRANSMITTED)
    assert estimates_us(sender) == before


def test_duplicates_give_no_sample_and_do_not_restart_the_timer():
    """Section 5.3: only an acknowledgement of new data restarts the timer."""
    sender = Sender(**OFTEN)
    sender.ack(1, at_us=100, rtt_us=100)
    before = estimates_us(sender)
    for at_us in (150, 160):
        sender.ack(1, at_us=at_us, rtt_us=150)
    assert sender.timer_us == 100 + 300
    assert estimates_us(sender) == before


def test_when_the_timer_runs():
    """Sections 5.1-5.3: on when data leave and it is off, anew with each acknowledgement of new data, else off."""
    sender = Sender(n_segments=3, initial_window_packets=2, **OFTEN)
    assert sender.timer_us == 2000
    assert sender.ack(1, at_us=100, rtt_us=100) == [2]
    assert sender.timer_us == 400
    sender.ack(2, at_us=120, rtt_us=100)  # RTTVAR 37.5
    assert sender.timer_us == 120 + 100 + 150
    sender.ack(3, at_us=140, rtt_us=100)
    assert sender.timer_us is None


def test_each_timeout_doubles_the_rto():
    """Sections 5.5, 5.6: 2, 4, 8, then the maximum of 10 ms; the timer starts anew with the doubled value."""
    sender = Sender(min_rto_s=2e-3, max_rto_s=10e-3)
    for expected_us in (2000, 6000, 14_000, 24_000, 34_000):
        assert sender.timer_us == expected_us
        assert sender.expire() == [0]
    assert sender.sub.timeouts == 5


def test_a_valid_sample_ends_the_backoff():
    """Section 5.7's last note and section 2: a new measurement sets the RTO from SRTT and RTTVAR."""
    sender = Sender(n_segments=20, **OFTEN)
    sender.ack(1, at_us=100, rtt_us=100)
    sender.expire()
    assert sender.sub.rto_ps == 600 * US
    sender.ack(11, at_us=1000, rtt_us=100)  # of a segment sent once
    assert sender.sub.rto_ps == (100 + 4 * 37.5) * US


@pytest.mark.parametrize(("keep_backoff", "rto_us"), [(False, 300), (True, 600)])
def test_backoff_and_new_data_without_a_sample(keep_backoff, rto_us):
    """The repaired segment gives no sample: the doubled RTO of 600 us ends with it or stays, as asked."""
    sender = Sender(keep_backoff=keep_backoff, **OFTEN)
    sender.ack(1, at_us=100, rtt_us=100)
    sender.expire()
    sender.ack(2, at_us=500, rtt_us=100, flags=RETRANSMITTED)
    assert estimates_us(sender) == [100, 50, rto_us]
    assert sender.timer_us == 500 + rto_us


@pytest.mark.parametrize(("keep_backoff", "rto_us"), [(False, 2000), (True, 4000)])
def test_backoff_before_any_sample(keep_backoff, rto_us):
    sender = Sender(keep_backoff=keep_backoff, **OFTEN)
    sender.expire()
    sender.ack(1, at_us=2500, rtt_us=500, flags=RETRANSMITTED)
    assert estimates_us(sender) == [0, 0, rto_us]


def test_rto_before_the_first_sample(subtests):
    cases = [
        ({"initial_rto_s": 0.0, "min_rto_s": 3e-3}, 3000),
        ({"initial_rto_s": 0.0, "min_rto_s": 3e-3, "handshake": True}, 1e6),  # section 2.1
        ({"initial_rto_s": 5e-3, "min_rto_s": 10e-3}, 5000),
        ({"initial_rto_s": 5e-3, "handshake": True}, 5000),
        ({"initial_rto_s": 0.0, "handshake": True, "max_rto_s": 0.5}, 5e5),
    ]
    for options, rto_us in cases:
        with subtests.test(options=options, rto_us=rto_us):
            assert Sender(**options).timer_us == rto_us


def test_a_connection_opened_earlier_has_a_sample():
    """Section 2.2 with R = 100 us before the first data; the first acknowledgement then follows 2.3."""
    sender = Sender(initial_rtt_s=100e-6, **OFTEN)
    assert estimates_us(sender) == [100, 50, 300]
    assert sender.timer_us == 300
    sender.ack(1, at_us=180, rtt_us=180)
    assert estimates_us(sender) == [110, 57.5, 340]


def test_a_lost_syn_is_sent_again_after_1_and_3_seconds():
    """Section 2.1: 1 s before a sample; 5.5: doubled; section 3: the answer to a SYN sent twice is no sample."""
    sender = Sender(handshake=True, initial_rto_s=1.0, min_rto_s=0.2)
    assert (sender.sub.state, [packet.kind for packet in sender.packets]) == (SYN_SENT, [SYN])
    sender.expire()
    sender.expire()
    assert sender.times_us == [0, 1e6, 3e6]
    assert [packet.kind for packet in sender.packets] == [SYN] * 3
    assert [packet.flags & RETRANSMITTED for packet in sender.packets] == [0, RETRANSMITTED, RETRANSMITTED]
    assert sender.syn_ack(at_us=3e6 + 100, rtt_us=100, flags=RETRANSMITTED) != []
    assert sender.sub.srtt_ps == 0


def test_the_answer_to_the_syn_is_the_first_sample():
    """Section 2.2 with R = 100 us; the data that leave at once are timed with the RTO that follows from it."""
    sender = Sender(handshake=True, min_rto_s=1e-6, initial_rto_s=1.0)
    assert sender.timer_us == 1e6
    assert sender.syn_ack(at_us=100, rtt_us=100) == list(range(10))
    assert estimates_us(sender) == [100, 50, 300]
    assert sender.timer_us == 100 + 300


@pytest.mark.parametrize(("handshake_ack", "kinds"), [(True, [SYN, HANDSHAKE_ACK, DATA]), (False, [SYN, DATA])])
def test_packets_of_the_handshake(handshake_ack, kinds):
    """The third packet travels by itself, ahead of the data, or with them; it asks for no answer."""
    sender = Sender(handshake=True, handshake_ack=handshake_ack, n_segments=1, syn_bytes=60, ack_bytes=44)
    sender.syn_ack(at_us=100, rtt_us=100)
    assert [packet.kind for packet in sender.packets] == kinds
    sizes = {SYN: 60, HANDSHAKE_ACK: 44, DATA: MSS + 40}
    assert [packet.bytes for packet in sender.packets] == [sizes[kind] for kind in kinds]


def test_the_receiver_of_a_handshake(subtests):
    for name in ["ecmp", "sack", "dctcp"]:
        with subtests.test(name=name):
            receiver = Receiver(name, syn_bytes=60)
            answer = receiver.reply(SYN)
            assert (answer.kind, answer.bytes, answer.ack) == (SYN_ACK, 60, 0)
            assert receiver.reply(HANDSHAKE_ACK) is None


def test_timers_and_samples_are_the_same_in_all_transports(subtests):
    for name in ["ecmp", "sack", "dctcp", "dctcp_sack"]:
        with subtests.test(name=name):
            sender = Sender(name, n_segments=12, **OFTEN)
            sender.ack(1, at_us=100, rtt_us=100)
            sender.ack(2, at_us=200, rtt_us=180)
            assert estimates_us(sender) == [110, 57.5, 340]
            assert sender.timer_us == 200 + 340
            sender.ack(12, at_us=300, rtt_us=60)
            assert sender.sub.timer_ps == NONE
