"""Agreement: probability that a window with losses needs a timeout (DC2-MTCP Eq. 6), printed and exact.

Windows lose packets at random; and NewReno is simulated with every pattern of losses of a small window, weighted by
probability.
"""

from itertools import pairwise
from math import comb, fsum

import numpy as np
import pytest
from agreement.measured.timeout_windows import played_patterns, random_windows

from capsmodel.experiments.agreement import Count
from capsmodel.multipath.timeouts import timeout_prob

pytestmark = pytest.mark.agreement

CASES = [(window, loss) for window in (2, 3, 4, 6, 10, 20) for loss in (0.01, 0.05, 0.2)]


@pytest.fixture
def timeouts(measured):
    """Return how many of 200 000 windows time out."""

    def count(window: int, loss: float, **setting: int) -> Count:
        seed = 1000 * window + round(1000 * loss)
        payload = {"window_packets": window, "loss_prob": loss, "windows": 200_000, "seed": seed}
        row = measured(random_windows, payload | setting).iloc[0]
        return Count(successes=int(row["timeouts"]), trials=int(row["windows"]))

    return count


@pytest.mark.parametrize(("window", "loss"), CASES)
def test_exact_form(timeouts, compare, window, loss):
    verdict = compare(timeout_prob(window, loss_prob=loss, exact=True), timeouts(window, loss), detect=0.01)
    assert verdict, verdict


@pytest.mark.parametrize(("window", "loss"), CASES)
def test_printed_form_is_a_lower_bound(timeouts, compare, window, loss):
    """Right up to three packets; beyond, it ignores that packets ahead of the loss cause no duplicate ACK."""
    verdict = compare(timeout_prob(window, loss_prob=loss), timeouts(window, loss), detect=0.01)
    if window <= 3:
        assert verdict, verdict
    else:
        assert verdict.verdict == "disagrees"
        assert verdict.measured > verdict.model


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("window", [1, 3, 4, 5, 6])
def test_exact_form_in_packets(measured, window, engine):
    """NewReno with every pattern of losses of one window, weighted by its probability: nothing is random."""
    rows = measured(played_patterns, {"window_packets": window, "seed": 1, "engine": engine})
    assert rows["patterns"].tolist() == [comb(window, lost) for lost in rows["lost_packets"]]
    stuck = list(zip(rows["lost_packets"], rows["timeouts"], strict=True))
    for loss in (0.01, 0.05, 0.3):
        enumerated = fsum(count * loss**lost * (1 - loss) ** (window - lost) for lost, count in stuck)
        assert timeout_prob(window, loss_prob=loss, exact=True) == pytest.approx(enumerated, rel=1e-12)


@pytest.mark.parametrize("loss", [0.01, 0.05])
def test_splitting_a_window_raises_the_probability_of_a_timeout(timeouts, compare, loss):
    """Sixteen packets as one window, two, four and eight; any of the subflows may time out."""
    measured = []
    for subflows in (1, 2, 4, 8):
        model = 1 - (1 - timeout_prob(16 // subflows, loss_prob=loss, exact=True)) ** subflows
        verdict = compare(model, timeouts(16, loss, subflows=subflows), detect=0.01)
        assert verdict, verdict
        measured.append(verdict)
    for fewer, more in pairwise(measured):
        error = np.hypot(fewer.standard_error, more.standard_error)
        assert more.measured - fewer.measured > 5 * error
