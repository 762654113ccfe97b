r"""Time that a window which grows from its first value leaves the NIC of its host idle.

A window of w packets, sent at a packet each s, is acknowledged a round trip R after it began: the NIC is idle for
:math:`(R-ws)^+` after each window that does not end the flow.

======================= =========================================================== ======================= ====
Quantity                Symbol                                                      Name                    Unit
======================= =========================================================== ======================= ====
idle time of a flow     :math:`\sum_k(R-w_ks)^+` over windows that do not end it    :func:`window_idle_s`   s
windows                 doubled; cut at the first marks; cut again and again        :data:`GROWTHS`         1
time of a climb         a packet more each round trip until the pipe is full        :func:`climb_packets`   packets
======================= =========================================================== ======================= ====
"""

from collections.abc import Callable, Iterator
from itertools import count, islice, takewhile

import numpy as np

from capsmodel.checks import FloatArray

LEAST_MARKED_PACKETS = 4.0
"""Window that DCTCP keeps while all of it is marked, in packets; fitted (:mod:`capsmodel.prediction.waits`)."""
_MOST_WINDOWS = 60


def doubled(first: float, _mark_above: float) -> Iterator[float]:
    """Yield the windows of slow start."""
    return (first * 2.0**k for k in count())


def first_marked(first: float, mark_above: float) -> float:
    """Return the first window of slow start that fills a port of `mark_above` packets, which a busy link marks."""
    return next(window for window in doubled(first, mark_above) if window >= mark_above)


def marked_at(first: float, mark_above: float) -> Iterator[float]:
    """Yield windows that double until one fills a port beyond `mark_above`; that one is halved, and then climbs."""
    marked = first_marked(first, mark_above)
    yield from takewhile(lambda window: window <= marked, doubled(first, mark_above))
    yield from (max(marked / 2, 1.0) + k for k in count())


def marked_always(first: float, _mark_above: float) -> Iterator[float]:
    """Yield windows of DCTCP of which all is marked: α begins at 1 and hardly falls, so each is half the one before."""
    return (first if k == 0 else max(first / 2**k, min(first, LEAST_MARKED_PACKETS)) for k in count())


GROWTHS: dict[str, Callable[[float, float], Iterator[float]]] = {
    "doubled": doubled,
    "marked_at": marked_at,
    "marked_always": marked_always,
}
"""How windows follow each other, by name."""


def window_idle_s(
    packets: FloatArray,
    rtt_s: FloatArray,
    pace_s: FloatArray,
    *,
    first: float,
    most: float = np.inf,
    growth: str = "doubled",
    mark_above: float = np.inf,
) -> FloatArray:
    """Return how long windows leave the NIC idle, in seconds, of the broadcast shape.

    Parameters
    ----------
    packets : ndarray
        Packets of the flow, at least 1.
    rtt_s : ndarray
        Time from a packet to its acknowledgement, queues included, in seconds.
    pace_s : ndarray
        Time between two packets of the flow at its NIC, in seconds.
    first, most : float
        First and largest window, in packets.
    growth : str
        One of `GROWTHS`.
    mark_above : float
        Window from which on a port marks, in packets.

    Examples
    --------
    >>> idle_s = window_idle_s(np.array([10.0, 11.0]), np.array(8e-6), np.array(0.3e-6), first=10)
    >>> [round(float(one) * 1e6, 6) for one in idle_s]  # one window is enough; another has to wait for the first
    [0.0, 5.0]
    """
    idle_s = np.zeros(np.broadcast_shapes(packets.shape, rtt_s.shape, pace_s.shape))
    sent, largest, full = 0.0, packets.max(), rtt_s.max() / pace_s.min()
    for window in islice(GROWTHS[growth](first, mark_above), _MOST_WINDOWS):
        sent += window
        if sent >= largest or window >= full:
            break
        idle_s += np.where(packets > sent, np.maximum(rtt_s - min(window, most) * pace_s, 0.0), 0.0)
    return idle_s


def climb_packets(packets: FloatArray, *, first: float, pipe: float) -> FloatArray:
    r"""Return the time that a window loses which grows by a packet each round trip, in packet times.

    Parameters
    ----------
    packets : ndarray
        Packets of the flow: a small one ends on the way.
    first, pipe : float
        Window when the climb begins, and the one that fills a round trip, in packets.

    Notes
    -----
    With :math:`k=\min(\sqrt{f^2+2n}-f,\,p-f)` round trips, of which each carries p packets when the pipe is full, the
    loss is :math:`kp-(kf+k^2/2)`.

    Examples
    --------
    >>> climb_packets(np.array([1e6]), first=10, pipe=20).tolist()
    [50.0]
    """
    trips = np.minimum(np.sqrt(first**2 + 2 * packets) - first, max(pipe - first, 0.0))
    return np.asarray(np.maximum(trips * pipe - (trips * first + trips**2 / 2), 0.0))


__all__ = ["GROWTHS", "LEAST_MARKED_PACKETS", "climb_packets", "first_marked", "window_idle_s"]
