"""Retransmission, errors of the loss and what is lost in spite of the code, against listing and other forms."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats

from capsmodel import (
    ParameterError,
    PathLosses,
    break_even_round_trip_s,
    decode_failure_prob,
    failure_elasticity,
    hybrid_failure_prob,
    least_interleave,
    mean_retransmissions,
    measured_failure_prob,
    predictive_failure_prob,
    predictive_repair_packets,
    repair_packets_hybrid,
    residual_loss_prob,
    sendings_within,
    sent_per_source_packet,
    unit_failure_prob,
)
from capsmodel.coding.random_linear import decode_failure_prob_rlnc

PATHS = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 50)]
DEAD = PathLosses([0.0] * 4, spread="in-turn", down_paths=1)
IN_TURN = PathLosses([float(p) for p in PATHS], spread="in-turn")
probs = st.floats(0.001, 0.6)


def patterns(n, start):
    """Yield every pattern of losses of n packets in turn with its probability."""
    for lost in product((0, 1), repeat=n):
        chances = [PATHS[(start + i) % 3] if bad else 1 - PATHS[(start + i) % 3] for i, bad in enumerate(lost)]
        yield lost, np.prod(chances, initial=Fraction(1))


@pytest.mark.parametrize(("k", "r", "sendings"), [(4, 0, 1), (4, 0, 3), (5, 2, 1), (5, 2, 2), (6, 1, 4)])
def test_hybrid_by_listing_losses_and_sendings(k, r, sendings):
    p, fails, sent = sum(PATHS) / 3, Fraction(0), Fraction(0)
    for start in range(3):
        for lost, chance in patterns(k + r, start):
            missing = max(0, sum(lost) - r)
            stays = p ** (sendings - 1)
            fails += chance / 3 * (1 - (1 - stays) ** missing)
            sent += chance / 3 * (k + r + missing * sum(p**i for i in range(sendings - 1)))
    common = {"r": r, "losses": IN_TURN, "sendings": sendings}
    assert hybrid_failure_prob(k, **common) == pytest.approx(float(fails), rel=1e-12)
    assert sent_per_source_packet(k, **common) == pytest.approx(float(sent / k), rel=1e-12)


@given(st.integers(1, 64), probs, st.integers(1, 6))
def test_without_repair_packets_it_is_retransmission_alone(k, p, sendings):
    with mp.workdps(40):
        exact = 1 - (1 - mpf(p) ** sendings) ** k
    assert hybrid_failure_prob(k, r=0, losses=p, sendings=sendings) == pytest.approx(float(exact), rel=1e-11)


@given(st.integers(1, 40), probs, st.integers(1, 5), st.sampled_from([1e-2, 1e-6]))
def test_the_fewest_repair_packets_beside_retransmission(k, p, sendings, failure_prob):
    r = repair_packets_hybrid(k, losses=p, failure_prob=failure_prob, sendings=sendings)
    common = {"losses": p, "sendings": sendings}
    assert hybrid_failure_prob(k, r=r, **common) <= failure_prob * (1 + 2e-12)
    assert r == 0 or hybrid_failure_prob(k, r=r - 1, **common) > failure_prob


@given(st.integers(1, 200), st.floats(0, 0.9))
def test_round_trips_of_retransmission_alone(k, p):
    rounds = math.ceil(math.log(1e-20) / math.log(p)) if p else 0  # further ones add less than 10 k 1e-20
    with mp.workdps(40):
        exact = sum(1 - (1 - mpf(p) ** j) ** k for j in range(1, rounds + 1))
    assert mean_retransmissions(k, r=0, losses=p) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize(("k", "r"), [(4, 0), (5, 2), (6, 1)])
def test_more_round_trips_are_needed_as_often_as_sendings_fail(k, r):
    exact = sum(hybrid_failure_prob(k, r=r, losses=IN_TURN, sendings=j) for j in range(1, 60))
    assert mean_retransmissions(k, r=r, losses=IN_TURN) == pytest.approx(exact, rel=1e-12)


@given(st.integers(1, 64), st.integers(1, 10), st.floats(1e-4, 0.5), st.floats(1e-9, 1e-3))
def test_at_the_break_even_both_take_as_long(k, r, p, packet_s):
    round_trip_s = break_even_round_trip_s(k, r=r, losses=p, packet_s=packet_s)
    again, coded = (mean_retransmissions(k, r=each, losses=p) * round_trip_s for each in (0, r))
    assert again == pytest.approx(coded + r * packet_s, rel=1e-9)


def test_where_nothing_is_lost_no_round_trip_is_long_enough():
    assert break_even_round_trip_s(8, r=1, losses=0.0, packet_s=1e-6) == np.inf


def test_sendings_fill_the_time_that_is_left():
    common = {"packets": 10, "packet_s": 1.0, "delay_s": 5.0, "codec_s": 2.0}
    found = [sendings_within(t, retransmit_s=8.0, **common) for t in (16.0, 17.0, 24.9, 25.0, 33.0)]
    assert found == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("unit", [1e-6, 1e-9, 1.0])
def test_a_sending_that_fits_exactly_fits(unit):
    """Whole microseconds and nanoseconds; one less is one sending less."""
    rng = np.random.default_rng(1)
    for _ in range(2000):
        packets, packet, delay, again, rounds = rng.integers([1, 1, 0, 1, 0], [90, 2000, 999, 9999, 9]).tolist()
        time = packets * packet + delay + rounds * again
        common = {"packets": packets, "packet_s": packet * unit, "delay_s": delay * unit, "retransmit_s": again * unit}
        assert sendings_within(time * unit, **common) == rounds + 1, common
        if time > 1:
            assert sendings_within((time - 1) * unit, **common) == max(
                0, 1 + (time - 1 - packets * packet - delay) // again
            )


@pytest.mark.parametrize(("k", "r", "p"), [(64, 7, 0.01175), (1, 0, 0.3), (5, 0, 1e-9), (20, 10, 0.1), (10, 40, 0.7)])
def test_elasticity_is_the_derivative(k, r, p):
    with mp.workdps(40):

        def log_fails(log_p):
            q = mp.exp(log_p)
            return mp.log(
                mp.fsum(mp.binomial(k + r, j) * q**j * (1 - q) ** (k + r - j) for j in range(r + 1, k + r + 1))
            )

        exact = mp.diff(log_fails, mp.log(mpf(p)))
    assert failure_elasticity(k, r=r, blocking_prob=p) == pytest.approx(float(exact), rel=1e-11)


@given(st.integers(1, 60), st.integers(0, 10), st.integers(0, 20), st.integers(20, 1000))
def test_counted_losses_have_the_beta_binomial_law(k, r, lost, sent):
    """SciPy's mass function; its survival function has no digits in the tail."""
    law = stats.betabinom(k + r, lost + 0.5, sent - lost + 0.5)
    exact = float(np.sum(law.pmf(np.arange(r + 1, k + r + 1))))
    assert predictive_failure_prob(k, r=r, lost=lost, sent=sent) == pytest.approx(exact, rel=1e-10)


def test_a_long_count_is_as_good_as_the_loss():
    found = predictive_failure_prob(64, r=7, lost=1175 * 10**10, sent=10**15)
    assert found == pytest.approx(decode_failure_prob(64, r=7, blocking_prob=0.01175), rel=1e-9)


def test_a_short_count_needs_more():
    """12 of 1000 lost; one packet more than the loss of 0.012 itself would need, and its half the count doubles."""
    needed = [
        predictive_repair_packets(64, lost=n * 12, sent=n * 1000, failure_prob=1e-6) for n in (1, 10, 10**6)
    ]  # fmt: skip
    assert needed == [9, 8, 8]
    assert predictive_failure_prob(64, r=8, lost=12, sent=1000) > 1e-6


def test_what_is_lost_in_spite_of_the_code_by_listing(subtests):
    for k, r in [(3, 0), (3, 2), (5, 1), (4, 4)]:
        with subtests.test(k=k, r=r):
            exact = Fraction(0)
            for start in range(3):
                for lost, chance in patterns(k + r, start):
                    exact += chance / 3 * sum(lost[:k]) * (sum(lost) > r) / k
            assert residual_loss_prob(k, r=r, losses=IN_TURN) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("k", "r", "sendings"), [(4, 0, 3), (5, 2, 2), (6, 1, 4)])
def test_the_worst_first_path_is_one_of_them(k, r, sendings):
    """Not the largest tail of each number of losses: no path has all of these."""
    forms = [
        lambda losses: residual_loss_prob(k, r=r, losses=losses),
        lambda losses: hybrid_failure_prob(k, r=r, losses=losses, sendings=sendings),
        lambda losses: sent_per_source_packet(k, r=r, losses=losses, sendings=sendings),
        lambda losses: mean_retransmissions(k, r=r, losses=losses),
        lambda losses: unit_failure_prob(k, r=r, losses=losses, code="rlnc"),
        lambda losses: measured_failure_prob(k, r=r, losses=losses, undecoded_prob=0.5 ** np.arange(1, r + 2)),
    ]
    for form in forms:
        each = [form(replace(IN_TURN, first_path=first)) for first in range(3)]
        assert form(replace(IN_TURN, first_path="worst")) == max(each) > np.mean(each)


def test_what_the_worst_first_path_loses_in_spite_of_the_code():
    losses = PathLosses([0.001] * 3 + [0.3, 0.1], spread="in-turn", first_path="worst")
    assert residual_loss_prob(8, r=1, losses=losses) == pytest.approx(0.0470, abs=5e-5)
    assert residual_loss_prob(8, r=1, losses=replace(losses, first_path="any")) == pytest.approx(0.0344, abs=5e-5)


def test_where_all_counted_packets_were_lost_a_unit_nearly_surely_fails(subtests):
    for sent in [1, 10**3, 10**6, 10**9, 10**12]:
        with subtests.test(sent=sent):
            found = predictive_failure_prob(10, r=0, lost=sent, sent=sent)
            with mp.workdps(40):
                a, b = mpf(sent) + 0.5, mpf(0.5)
                none = mp.fprod((b + i) / (a + b + i) for i in range(10))
            assert found == pytest.approx(float(1 - none), rel=1e-14)
            assert found <= 1


def test_packets_sent_for_each_source_packet_near_certain_loss(subtests):
    """Of k = 1 and r = 0 it is the sum of p^j, j < J."""
    for p in [0.0, 1e-9, 0.5, 1 - 1e-9, 1 - 1e-15]:
        with subtests.test(p=p):
            exact = sum(mpf(p) ** j for j in range(7))
            assert sent_per_source_packet(1, r=0, losses=p, sendings=7) == pytest.approx(float(exact), rel=1e-14)
            assert sent_per_source_packet(1, r=0, losses=p, sendings=1) == 1


@given(st.integers(1, 40), st.integers(0, 12), probs)
def test_of_equal_packets_one_is_lost_with_r_others(k, r, p):
    others = decode_failure_prob(k, r=r - 1, blocking_prob=p) if r else 1.0
    assert residual_loss_prob(k, r=r, losses=p) == pytest.approx(p * others, rel=1e-11)


def test_the_least_depth_and_one_less():
    losses = PathLosses(0.01, burst_packets=10)
    depth = least_interleave(20, r=4, losses=losses, failure_prob=1e-4)
    fails = [unit_failure_prob(20, r=4, losses=replace(losses, interleave=d)) for d in (depth, depth - 1)]
    assert fails[0] <= 1e-4 < fails[1]


def test_no_depth_is_needed_where_a_unit_keeps_the_promise_in_runs_alone():
    """More losses than repair packets in the mean: runs spare whole units, which independent losses do not."""
    losses = PathLosses(0.3, burst_packets=50)
    assert unit_failure_prob(10, r=1, losses=losses) < 0.5 < unit_failure_prob(10, r=1, losses=0.3)
    assert least_interleave(10, r=1, losses=losses, failure_prob=0.5) == 1


@given(st.integers(1, 30), st.integers(0, 10), probs)
def test_random_linear_packets_may_lack_rank(k, r, p):
    """By the table of losses, as a deadline that no packet misses asks for, and by the binomial law."""
    found = unit_failure_prob(k, r=r, losses=PathLosses(p, deadline_s=1.0, packet_s=1e-9), code="rlnc")
    assert found == pytest.approx(decode_failure_prob_rlnc(k, r=r, blocking_prob=p), rel=1e-11)


def test_random_linear_packets_in_turn():
    """The law in turn, times how often its packets have full rank."""
    law = -np.diff(IN_TURN.failure_table(9, 9)[9], prepend=1.0)
    exact = law[4:].sum() + sum(
        law[j] * (1 - np.prod([1 - 256.0 ** -(9 - j - i) for i in range(6)])) for j in range(4)
    )  # fmt: skip
    assert unit_failure_prob(6, r=3, losses=IN_TURN, code="rlnc") == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: failure_elasticity(3, r=1, blocking_prob=0), "without losses nothing fails"),
        (lambda: predictive_failure_prob(3, r=1, lost=3, sent=2), "lost = 3, but only 2"),
        (lambda: predictive_repair_packets(3, lost=2, sent=2, failure_prob=1e-9), "count more packets"),
        (lambda: residual_loss_prob(3, r=1, losses=PathLosses(0.1, burst_packets=3)), "loss bursts"),
        (lambda: residual_loss_prob(3, r=1, losses=DEAD), "paths that are down"),
        (lambda: least_interleave(3, r=1, losses=PathLosses(0.1), failure_prob=0.1), "give burst_packets"),
        (
            lambda: least_interleave(3, r=0, losses=PathLosses(0.1, burst_packets=3), failure_prob=0.1),
            "with independent losses the unit still fails with 0.271",
        ),
        (lambda: hybrid_failure_prob(3, r=1, losses=0.1, sendings=0), "sendings = 0"),
        (lambda: unit_failure_prob(3, r=1, losses=0.1, code="raptor"), "code = 'raptor'"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
