"""Agreement: probability that a window with losses needs a timeout, printed and exact, against windows and packets."""

from dataclasses import dataclass, replace
from math import fsum

import numpy as np
import pytest
from engine_setups import flow_list, one_run, setup_of

from capsim.fabric.kinds import Dumbbell
from capsim.hooks import ACCEPT, REFUSE, Queue
from capsim.records import DATA, RETRANSMITTED
from capsim.registry import scheme
from capsmodel.experiments.agreement import Count, agreement
from capsmodel.recovery import timeout_prob

MSS = 1460
WINDOWS = 200_000
CASES = [(window, loss) for window in (2, 3, 4, 6, 10, 20) for loss in (0.01, 0.05, 0.2)]


def timeouts(window: int, loss: float) -> Count:
    """Count windows with a loss behind whose first fewer than three packets arrive."""
    lost = np.random.default_rng(5).random((WINDOWS, window)) < loss
    first = np.where(lost.any(axis=1), lost.argmax(axis=1), window)
    behind = np.arange(window) > first[:, None]
    stuck = (first < window) & (np.sum(behind & ~lost, axis=1) < 3)
    return Count(successes=int(stuck.sum()), trials=WINDOWS)


@pytest.mark.parametrize(("window", "loss"), CASES)
def test_exact_form(window: int, loss: float) -> None:
    verdict = agreement(timeout_prob(window, loss_prob=loss, exact=True), timeouts(window, loss), detect=0.01)
    assert verdict, verdict


@pytest.mark.parametrize(("window", "loss"), CASES)
def test_printed_form_is_a_lower_bound(window: int, loss: float) -> None:
    """Right up to three packets; beyond, it forgets that packets ahead of the loss raise no duplicate ACK."""
    printed = timeout_prob(window, loss_prob=loss)
    counted = timeouts(window, loss)
    if window <= 3:
        assert agreement(printed, counted, detect=0.01)
    else:
        assert agreement(printed, counted, detect=0.01).verdict == "disagrees"
        assert printed < counted.successes / counted.trials


def test_printed_form_misses_most_timeouts_of_small_losses() -> None:
    """A first loss among the last three packets is enough: 2.5 to 3% of windows of 4 to 20 packets at 1% loss."""
    exact = timeout_prob([4, 10, 20], loss_prob=0.01, exact=True)
    assert exact == pytest.approx([0.0294, 0.0280, 0.0253], abs=0.0005)
    assert np.all(exact > 48 * timeout_prob([4, 10, 20], loss_prob=0.01))


@dataclass(frozen=True, kw_only=True)
class LostOnce:
    """Segments to lose the first time, as bits, at the links into `at_node`."""

    at_node: int
    segments: int


def refuse_masked(params, port, packet, queue_packets, queue_bytes):
    if port.to_node != params.at_node or packet.kind != DATA or packet.flags & RETRANSMITTED:
        return ACCEPT
    return REFUSE if params.segments >> packet.segment & 1 else ACCEPT


@pytest.mark.parametrize("window", [1, 3, 4, 5, 6])
def test_exact_form_in_packets(window: int) -> None:
    """Every pattern of losses of one window, played by NewReno in both engines and weighted by its probability."""
    stuck = []
    for pattern in range(1, 2**window):
        queue = Queue(name="refuse_masked", admit=refuse_masked, params=LostOnce(at_node=3, segments=pattern))
        setup = setup_of(
            Dumbbell(hosts_per_side=1, delay_s=5e-6),
            flow_list([(0, 1, window * MSS, 0.0)]),
            replace(scheme("ecmp"), queue=queue),
            end_ps=10**12,
        )
        if one_run(setup).conns[0]["timeouts"]:
            stuck.append(pattern.bit_count())
    for loss in (0.01, 0.05, 0.3):
        enumerated = fsum(loss**lost * (1 - loss) ** (window - lost) for lost in stuck)
        assert timeout_prob(window, loss_prob=loss, exact=True) == pytest.approx(enumerated, rel=1e-12)


@pytest.mark.parametrize("loss", [0.01, 0.05])
def test_splitting_a_window_raises_the_probability_of_a_timeout(loss: float) -> None:
    """Eq. 6: sixteen packets as one window, two, four and eight; any of the subflows may time out."""
    lost = np.random.default_rng(6).random((WINDOWS, 16)) < loss
    measured = []
    for subflows in (1, 2, 4, 8):
        window = 16 // subflows
        parts = lost.reshape(WINDOWS, subflows, window)
        first = np.where(parts.any(axis=2), parts.argmax(axis=2), window)[..., None]
        arrived = np.sum((np.arange(window) > first) & ~parts, axis=2)
        stuck = np.any((first[..., 0] < window) & (arrived < 3), axis=1)
        model = 1 - (1 - timeout_prob(window, loss_prob=loss, exact=True)) ** subflows
        assert agreement(model, Count(successes=int(stuck.sum()), trials=WINDOWS), detect=0.01)
        measured.append(stuck.mean())
    assert all(np.diff(measured) > 0.01)
