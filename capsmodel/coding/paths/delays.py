"""Delays of the packets on a path: a least one, and what comes on top.

===========================  ======  ==================  ====  =================
Quantity                     Symbol  Name                Unit  Equation
===========================  ======  ==================  ====  =================
what a delay must tell       –       :class:`Delay`      s     beyond the papers
least delay and queue        D       :class:`PathDelay`  s     beyond the papers
===========================  ======  ==================  ====  =================

:func:`time_left_s` says whether times fit into a deadline.

Every distribution of :mod:`capsmodel.queueing.service` is a `Delay`, and what was measured is its `Empirical`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, Rng, non_negative, one_number, require, shown

_ROUNDING = 2.0**-48  # of the largest time: twice what three products and their sum, of decimal times, are off


def time_left_s(limit_s: ArrayLike, *taken_s: ArrayLike) -> FloatArray:
    """Return what is left of a time, s, not negative where what was taken fits exactly.

    Sixteen roundings are added: in float64 24 * 1 us + 51 us exceeds 75 us.

    Examples
    --------
    >>> bool(75e-6 - 24 * 1e-6 - 51e-6 < 0), bool(time_left_s(75e-6, 24 * 1e-6, 51e-6) < 0)
    (True, False)
    >>> bool(time_left_s(74.999999e-6, 24 * 1e-6, 51e-6) < 0)
    True
    """
    times = [np.asarray(time_s, dtype=np.float64) for time_s in (limit_s, *taken_s)]
    largest = np.maximum.reduce(np.broadcast_arrays(*map(np.abs, times)))
    return np.asarray(times[0] - sum(times[1:]) + _ROUNDING * largest)


class Delay(Protocol):
    """A delay on a path, s: all distributions of :mod:`capsmodel.queueing.service` are such."""

    def survival(self, time: FloatArray, /) -> FloatArray:
        """Return P(delay > time)."""

    def sample(self, count: int, *, rng: Rng = None) -> FloatArray:
        """Draw `count` independent delays."""


def check_delay(name: str, delay: object) -> None:
    """Refuse what is no `Delay`."""
    known = callable(getattr(delay, "survival", None)) and callable(getattr(delay, "sample", None))
    require(known, f"{name} = {shown(delay)}, but it must have a survival and a sample, as PathDelay has")


@dataclass(frozen=True)
class PathDelay:
    """A least delay and what comes on top, such as the wait in a queue.

    Parameters
    ----------
    least_s : float
        The time that no packet is faster than, s, at least 0.
    queue : Delay, optional
        What is added, such as ``Exponential(60e-6)``; nothing when not given.

    Examples
    --------
    >>> from capsmodel import Exponential
    >>> round(float(PathDelay(40e-6, Exponential(60e-6)).survival(100e-6)), 4)  # exp(-1)
    0.3679
    """

    least_s: float
    queue: Delay | None = None

    def __post_init__(self) -> None:
        one_number(non_negative, "least_s", self.least_s)
        if self.queue is not None:
            check_delay("queue", self.queue)

    def survival(self, time: ArrayLike) -> FloatArray:
        """Return P(delay > time)."""
        left = time_left_s(time, self.least_s)
        late = 0.0 if self.queue is None else self.queue.survival(np.maximum(left, 0.0))
        return np.where(left >= 0, late, 1.0)

    def sample(self, count: int, *, rng: Rng = None) -> FloatArray:
        """Draw `count` independent delays, s."""
        return self.least_s + (np.zeros(count) if self.queue is None else self.queue.sample(count, rng=rng))
