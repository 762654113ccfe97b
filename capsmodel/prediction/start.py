r"""Time that a window which grows from its first value leaves the NIC of its host idle.

A window of w packets, sent at a packet each s, is acknowledged a round trip R after it began: the NIC is idle for
:math:`(R-ws)^+` after each window that does not end the flow.

======================= =========================================================== ======================= ====
Quantity                Symbol                                                      Name                    Unit
======================= =========================================================== ======================= ====
idle time of a flow     :math:`\sum_k(R-w_ks)^+` over windows that do not end it    :func:`window_idle_s`   s
windows                 doubled until one is marked, halved while they are          :func:`windows_of`      packets
time of a climb         a packet more each round trip until the pipe is full        :func:`climb_packets`   packets
======================= =========================================================== ======================= ====
"""

from collections.abc import Iterator
from itertools import count, islice

import numpy as np

from capsmodel.checks import FloatArray

LEAST_MARKED_PACKETS = 2.0
"""Window of DCTCP after many cuts, in packets: one, and one more by which it grows before the next cut."""
_MOST_WINDOWS = 60


def windows_of(first: float, room: float) -> Iterator[float]:
    """Yield windows that double until one is above `room` packets; halved is each that is, others grow by one.

    A port that marks from K packets on and holds q of others has room for K - q. DCTCP halves: α begins at 1 and hardly
    falls in the few round trips of a short flow.
    """
    window, doubles = first, True
    while True:
        yield window
        marked = window > room
        doubles &= not marked
        grown = 2 * window if doubles else window + 1
        window = max(window / 2, LEAST_MARKED_PACKETS) if marked else grown


def first_marked(first: float, mark_above: float) -> float:
    """Return the first window of slow start that fills a port of `mark_above` packets, which a busy link marks."""
    return next(window for window in (first * 2.0**k for k in count()) if window >= mark_above)


def window_idle_s(
    packets: FloatArray,
    rtt_s: FloatArray,
    pace_s: FloatArray,
    *,
    first: float,
    most: float = np.inf,
    room: float = np.inf,
) -> FloatArray:
    """Return how long windows leave the NIC idle, in seconds: a row a flow, of the shape of round trips and paces.

    Parameters
    ----------
    packets : ndarray of one dimension
        Packets of flows, at least 1.
    rtt_s : ndarray
        Time from a packet to its acknowledgement, queues included, in seconds.
    pace_s : ndarray
        Time between two packets of the flow at its NIC, in seconds.
    first, most : float
        First and largest window, in packets.
    room : float
        Largest window of which nothing is marked, in packets.

    Examples
    --------
    >>> idle_s = window_idle_s(np.array([10.0, 11.0]), np.array(8e-6), np.array(0.3e-6), first=10)
    >>> [round(float(one) * 1e6, 6) for one in idle_s]  # one window is enough; another has to wait for the first
    [0.0, 5.0]
    """
    windows = np.array(list(islice(windows_of(first, room), _MOST_WINDOWS)))
    sent = np.cumsum(windows)
    before = np.searchsorted(sent, packets)  # windows that do not end the flow
    states = (1,) * np.ndim(rtt_s + pace_s)
    windows = np.minimum(windows[: before.max()], most).reshape(-1, *states)
    idle_s = np.cumsum(np.maximum(rtt_s - windows * pace_s, 0.0), axis=0)
    return np.concatenate([np.zeros((1, *idle_s.shape[1:])), idle_s])[before]


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


__all__ = ["LEAST_MARKED_PACKETS", "climb_packets", "first_marked", "window_idle_s"]
