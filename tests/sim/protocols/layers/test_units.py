"""What the sender of CAPS measures and derives, against the formulas of capsmodel and exact arithmetic."""

from fractions import Fraction
from math import ceil
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.engine_setups import params_of, record

from capsim import scheme
from capsim.base.objects import slotted
from capsim.protocols.layers.blocking import Threshold, optimal_unit_packets, repair_packets
from capsim.protocols.layers.params import CodingParams
from capsim.protocols.layers.units import measured, new_unit
from capsim.records import (
    ACK,
    COUNTERS,
    FLOW,
    NONE,
    PACKET,
    RETRANSMITTED,
    SUBFLOW,
    SYN_ACK,
)
from capsim.roles.own import first_record
from capsmodel.coding import optimal_unit, window_delay
from capsmodel.coding.blocking import blocking_prob_twice_average

LAYER = scheme("caps").short.layer
PERIOD_US = 200
VI_D = {"rtt_short_s": 100e-6, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}


def own_record(scope):
    """Return a record that the layer keeps for itself, with its first values."""
    made = first_record(LAYER.memory, scope)
    return slotted(made.dtype)(made[0])


class Sender:
    """A sender to which acknowledgements come."""

    def __init__(self, **changes):
        self.params, self.estimator = params_of(LAYER, **changes), own_record("subflow")
        self.flow, self.sub = record(FLOW), record(SUBFLOW)

    def ack(self, now_us, rtt_us, *, kind=ACK, flags=0):
        sent_ps = round((now_us - rtt_us) * 1e6)
        packet, own = record(PACKET, kind=kind, flags=flags, sent_ps=sent_ps), SimpleNamespace(subflow=self.estimator)
        LAYER.observe(self.params, own, self.flow, self.sub, packet, round(now_us * 1e6))

    def blocking_prob(self, now_us):
        return Fraction(*measured(self.params, self.estimator, round(now_us * 1e6)))


def test_initial_blocking_prob_until_the_first_period_is_over():
    sender = Sender()
    sender.ack(1000, 100)
    assert sender.blocking_prob(1199) == Fraction(1, 6)
    assert sender.blocking_prob(1200) == 0


def test_fractions_are_exact():
    for probability in (Fraction(n, d) for d in (*range(1, 17), 1000) for n in range(d)):
        assert Sender(initial_blocking_prob=float(probability)).blocking_prob(0) == probability


RTTS_US = st.lists(st.sampled_from([100, 199, 200, 201, 450, 3000]), min_size=1, max_size=9)


@given(st.lists(RTTS_US, min_size=2, max_size=6))
def test_smoothed_threshold_period_by_period(periods):
    """IX-C: an RTT is compared with twice the smoothed RTT of the periods before its own; the last period counts."""
    sender, smoothed_us = Sender(), Fraction(0)
    for number, rtts_us in enumerate(periods, start=20):
        for rtt_us in rtts_us:
            sender.ack(number * PERIOD_US + 5, rtt_us)
        mean_us = Fraction(sum(rtts_us), len(rtts_us))
        if smoothed_us:
            found = sender.blocking_prob((number + 1) * PERIOD_US)
            assert found == Fraction(sum(rtt_us > 2 * smoothed_us for rtt_us in rtts_us), len(rtts_us))
            assert sender.blocking_prob((number + 50) * PERIOD_US) == found
        smoothed_us = (7 * smoothed_us + mean_us) / 8 if smoothed_us else mean_us


def test_average_threshold_is_that_of_the_model():
    """VI-A: twice the average of all RTTs so far, this one included; the model has that of a whole list of RTTs."""
    sender = Sender(threshold=Threshold.AVERAGE, sampling_s=0.0)
    rtts_us = [100, 120, 110, 90, 100, 3000, 100, 500]
    for count, rtt_us in enumerate(rtts_us, start=1):
        sender.ack(10_000, rtt_us)
        # Only 3000 is large: 500 is below twice 515, the average that 3000 has raised. So the list to any end agrees.
        of_list = blocking_prob_twice_average(np.array(rtts_us[:count]) * 1e-6)
        assert float(sender.blocking_prob(10_000)) == of_list
    assert of_list == 1 / 8


@pytest.mark.parametrize(("last_us", "large"), [(300, 0), (301, 1)])
def test_average_includes_the_rtt_itself(last_us, large):
    """100, 100, 200, x: x > 2 (400 + x) / 4 from x = 400 on; without itself it would be from 267 on."""
    sender = Sender(threshold=Threshold.AVERAGE, sampling_s=0.0)
    for rtt_us in (100, 100, 200, last_us + 100):
        sender.ack(10_000, rtt_us)
    assert sender.estimator.blocked == large


@pytest.mark.parametrize(("rtt_us", "large"), [(240, 0), (240.000001, 1)])
def test_before_the_first_period_is_over_its_own_mean_is_the_usual_rtt(rtt_us, large):
    """100 and 140, then twice their mean; the very first has nothing to be compared with."""
    sender = Sender()
    for one in (100, 140, rtt_us):
        sender.ack(1000, one)
    assert sender.estimator.blocked == large


@pytest.mark.parametrize(("rtt_us", "large"), [(200, 0), (200.000001, 1)])
def test_exactly_twice_the_usual_rtt_is_not_large(rtt_us, large):
    sender = Sender()
    sender.ack(1000, 100)
    sender.ack(1201, rtt_us)
    assert sender.estimator.blocked == large


def test_retransmissions_and_handshakes_are_no_samples():
    sender = Sender()
    sender.ack(1000, 100, flags=RETRANSMITTED)
    sender.ack(1000, 100, kind=SYN_ACK)
    assert sender.estimator.acks == 0


@given(k=st.integers(1, 200), blocked=st.integers(0, 50), acks=st.integers(1, 50), least=st.integers(0, 9))
def test_redundancy_is_the_formula_in_exact_arithmetic(k, blocked, acks, least):
    if blocked < acks:
        blocking_prob = Fraction(blocked, acks)
        exact = ceil(k / (1 - blocking_prob) - k)
        params = CodingParams(max_overhead=1000.0, min_repair=least)
        assert repair_packets(params, k, blocked, acks) == max(exact, least)
        assert repair_packets(CodingParams(max_overhead=0.5), k, blocked, acks) == min(exact, k // 2)
    else:
        assert repair_packets(CodingParams(max_overhead=0.5), k, blocked, acks) == k // 2


VI_D_RECORD = params_of(LAYER, max_overhead=1000.0)  # its times are those of VI_D


def delay_above_the_least(window, blocked):
    """Return the model's delay of the unit found over that of its best unit, less one; p_B in steps of 1/30."""
    setting = {"blocking_prob": blocked / 30, "objective": "eq4"} | VI_D
    found = optimal_unit_packets(VI_D_RECORD, window, blocked, 30)
    best = optimal_unit.optimal_coding_unit(window, **setting)
    return window_delay.window_delay_s(found, window_packets=window, **setting) / best.delay_s - 1


@given(window=st.integers(1, 80), blocked=st.integers(1, 29))
def test_optimal_unit_is_that_of_the_model(window, blocked):
    assert abs(delay_above_the_least(window, blocked)) <= 1e-9


def test_optimal_unit_of_a_small_window(subtests):
    for blocked in [1, 6, 15, 29]:
        for window in [1, 2, 5, 12]:
            with subtests.test(blocked=blocked, window=window):
                assert abs(delay_above_the_least(window, blocked)) <= 1e-9


@given(
    window=st.integers(1, 80),
    blocked=st.integers(1, 29),
    limits=st.sampled_from([{"max_overhead": 1.0}, {"max_overhead": 0.5, "min_repair": 2}, {"max_overhead": 0.0}]),
)
def test_optimal_unit_with_limits_of_the_redundancy(window, blocked, limits):
    """Against the model's delay of every size; where no window decodes all are alike and the smallest is taken."""
    params, k = params_of(LAYER, **limits), range(1, window + 1)
    r = [repair_packets(params, size, blocked, 30) for size in k]
    setting = VI_D | {"window_packets": window, "blocking_prob": blocked / 30, "objective": "eq4"}
    delays = window_delay.window_delay_s([*k], r=r, **setting)
    found = optimal_unit_packets(params, window, blocked, 30)
    assert delays[found - 1] == pytest.approx(delays.min(), rel=1e-15)
    assert found == 1 or delays.min() < delays[0]


def test_with_all_paths_blocked_the_window_is_the_unit():
    assert optimal_unit_packets(VI_D_RECORD, 7, 30, 30) == 7


def test_most_packets_beyond_the_window(subtests):
    """A window of 16 segments, flows of up to 50; a unit has at least one packet, and one had begun before."""
    cases = [
        ({"max_overhead": 0.5, "min_repair": 0}, 0.5 * (16 + 16)),
        ({"max_overhead": 0.5, "min_repair": 3}, 3 * (16 + 16)),
        ({"max_overhead": 0.3, "fixed_packets": 40}, 17),  # 0.3 (16 + 40), rounded up
        ({"max_overhead": 0.5, "fixed_packets": 400}, 0.5 * (16 + 50)),
        ({"max_overhead": 0.5, "resend_copies": 0.5}, 16 + 16 * 4),  # half of 8 with each of 16 retransmissions
        ({"max_overhead": 0.0, "min_repair": 3, "resend_copies": 0.5}, 96 + 16 * 2),
    ]
    for params, most in cases:
        with subtests.test(params=params, most=most):
            assert CodingParams(**params).most_repair_packets(16, largest_flow=50) == most


def test_a_new_unit_keeps_nothing_of_what_was_there():
    """Numbers, what it is counted with, and the chain of the subflow's units."""
    units, names = [own_record("unit") for _ in range(2)], first_record(LAYER.memory, "unit").dtype.names
    for unit in units:
        for name in names:
            setattr(unit, name, 7)
    own = SimpleNamespace(subflow=own_record("subflow"), units=units)
    sub, counters = record(SUBFLOW, id=5), record(COUNTERS)
    assert [new_unit(own, sub, counters, first, now_ps=first + 1) for first in (20, 30)] == [0, 1]
    for number, unit in enumerate(units):
        first = 20 + 10 * number
        known = {"sub": 5, "first_segment": first, "sent_ps": first + 1, "decoded_ps": NONE, "next": [1, NONE][number]}
        assert {name: getattr(unit, name) for name in names} == dict.fromkeys(names, 0) | known
    coder = own.subflow
    assert (coder.first_unit, coder.last_unit, coder.units, counters.units) == (0, 1, 2, 2)
