"""Estimators of the blocking probability against their definitions, and the share they miss against the rule itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.coding.blocking import (
    blocking_prob_above_average,
    blocking_prob_twice_average,
    blocking_prob_twice_smoothed,
    smoothed_rtt_s,
    twice_average_missed_share,
)

rtts = st.lists(st.floats(1e-6, 1), min_size=1, max_size=30)


@given(rtts)
def test_estimators_are_the_counts_of_their_definition(values):
    mean = float(np.mean(values))
    assert blocking_prob_twice_average(values) == sum(v > 2 * mean for v in values) / len(values)
    assert blocking_prob_above_average(values) == sum(v > mean for v in values) / len(values)
    assert blocking_prob_twice_average(values) < 0.5


@given(rtts, st.floats(1e-6, 1))
def test_smoothed_estimator(values, before):
    prob, after = blocking_prob_twice_smoothed(values, smoothed_rtt_s=before)
    assert after == smoothed_rtt_s(before, average_s=np.mean(values))
    assert prob == sum(v > 2 * after for v in values) / len(values)


def test_smoothing_settles_on_a_constant_average_at_the_rate_of_one_eighth():
    value = 1.0
    for _ in range(10):
        value = smoothed_rtt_s(value, average_s=2.0)
    assert value == pytest.approx(2 - (7 / 8) ** 10, rel=1e-14)


def test_estimators_take_the_last_axis():
    samples = np.array([[1.0, 1, 1, 5], [1, 1, 1, 1]])
    assert blocking_prob_twice_average(samples).tolist() == [0.25, 0]
    prob, after = blocking_prob_twice_smoothed(samples, smoothed_rtt_s=[1.0, 0.1])
    assert prob.tolist() == [0.25, 1]
    assert after.tolist() == pytest.approx([1.125, 0.2125], rel=1e-15)


def test_symmetric_noise_without_congestion_misleads_the_plain_average_only():
    noise = 1e-4 + np.random.default_rng(7).uniform(-1e-5, 1e-5, 10_000)
    assert blocking_prob_above_average(noise) == pytest.approx(0.5, abs=0.02)
    assert blocking_prob_twice_average(noise) == 0


@given(st.floats(0, 0.99), st.floats(1.0, 30.0), st.lists(st.floats(0.5, 3.0), min_size=1, max_size=3))
def test_missed_share_is_that_of_the_rule_on_windows_of_one_cycle(p, full_wait, usual):
    """Windows at equal steps of time, with RTTs in proportion: the rule applied to their RTTs and the usual ones."""
    steps, full = 20_000, 1 + full_wait
    window = full * np.sqrt((1 + 3 * (np.arange(steps) + 0.5) / steps) / 4)
    blocked_rtts = np.asarray(usual)[:, None] + window - 1
    average = (1 - p) * np.mean(usual) + p * blocked_rtts.mean()
    share = twice_average_missed_share(p, usual_rtts_s=usual, base_rtt_s=1.0, full_wait_s=full_wait)
    # The discretised distribution is off by a step, and by the share that the rounding of the mean moves.
    assert share == pytest.approx(np.mean(blocked_rtts <= 2 * average), abs=1e-3)


def test_missed_share_begins_where_the_docstring_says():
    full, begin = 1e-3, (0.5e-3 - 2e-4) / (14 / 9 * 1e-3 - 2e-4)
    setting = {"usual_rtts_s": 1e-4, "base_rtt_s": 1e-4, "full_wait_s": full - 1e-4}
    below, above = twice_average_missed_share([begin * (1 - 1e-9), begin * (1 + 1e-6)], **setting)
    assert below == 0
    assert above > 0


def test_bad_input_is_refused_with_its_value(subtests):
    cases = [
        (lambda: blocking_prob_twice_average([]), "rtts_s"),
        (lambda: blocking_prob_twice_average([1.0, 0.0]), "rtts_s = 0"),
        (lambda: blocking_prob_twice_smoothed([1.0], smoothed_rtt_s=0), "smoothed_rtt_s = 0"),
        (lambda: twice_average_missed_share(0.1, usual_rtts_s=1.0, base_rtt_s=2.0, full_wait_s=1.0), "full_wait_s = 1"),
    ]
    for call, text in cases:
        with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
            call()
