r"""Time that a window which grows from its first value leaves the NIC of its host idle.

A window of w packets, sent at a packet each s, is acknowledged a round trip R after it began: the NIC is idle for
:math:`(R-ws)^+` after each window that does not end the flow.

======================= =========================================================== ======================= ====
Quantity                Symbol                                                      Name                    Unit
======================= =========================================================== ======================= ====
idle time of a flow     :math:`\sum_k(R-w_ks)^+` over windows that do not end it    :func:`window_idle_s`   s
queues of n round trips :math:`\sqrt{n+2\sum_{k<n}(n-k)c^k}/n` of their distance    :func:`distance_kept`   1
                        from the mean is left
windows                 doubled until one is marked, halved while they are          :func:`windows_of`      packets
time of a climb         a packet more each round trip until the pipe is full        :func:`climb_packets`   packets
======================= =========================================================== ======================= ====
"""

from collections.abc import Iterator
from itertools import count, islice

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray

LEAST_MARKED_PACKETS = 2.0
"""Window of DCTCP after many cuts, in packets: one, and one more by which it grows before the next cut."""
QUEUE_KEPT = 0.87
"""Share of its distance from the mean that the queue of a shared port keeps for a round trip. Measured on queues by
``tests/agreement/measured/queue_memory.py``, not fitted to completion times."""
_MOST_WINDOWS = 60
_ROUNDING = 1e-9  # of a whole number of packets


def windows_of(first: float, room: ArrayLike, mean_room: ArrayLike | None = None) -> Iterator[FloatArray]:
    """Yield windows that double until one is above the room of a port; halved is each that is, others grow by one.

    A port that marks from K packets on and holds q of others has room for K - q. DCTCP halves: α begins at 1 and hardly
    falls in the few round trips of a short flow. Each window has the shape of `room`, which the first one finds; of its
    distance from `mean_room` a share `QUEUE_KEPT` is left from one to the next. Where both are infinite none is marked.
    """
    mean = np.asarray(room if mean_room is None else mean_room, dtype=float)
    apart = np.subtract(room, mean, out=np.zeros(mean.shape), where=np.isfinite(mean))
    window, doubles = np.full(mean.shape, float(first)), np.ones(mean.shape, dtype=bool)
    for trip in count():
        yield window
        marked = window > np.floor(mean + apart * QUEUE_KEPT**trip + _ROUNDING)
        doubles &= ~marked
        grown = np.where(doubles, 2 * window, window + 1)
        window = np.where(marked, np.maximum(window / 2, LEAST_MARKED_PACKETS), grown)


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
    room: ArrayLike = np.inf,
    mean_room: ArrayLike | None = None,
    mean_rtt_s: FloatArray | None = None,
) -> FloatArray:
    """Return how long windows leave the NIC idle, in seconds: a row a flow, of the shape of round trips and paces.

    Parameters
    ----------
    packets : ndarray of one dimension
        Packets of flows, at least 1.
    rtt_s : ndarray
        Time from a packet to its acknowledgement, with the queues that the flow finds at first, in seconds.
    pace_s : ndarray
        Time between two packets of the flow at its NIC, in seconds.
    first, most : float
        First and largest window, in packets.
    room, mean_room : array_like
        Largest window of which nothing is marked, in packets, beside the queues found and beside queues of mean length;
        they broadcast with `rtt_s`.
    mean_rtt_s : ndarray, optional
        The round trip with queues of mean length, to which those that are found return; `rtt_s` when left out.

    Notes
    -----
    A queue that is found above its mean shortens from one round trip to the next, as `QUEUE_KEPT` says. The idle time
    after n windows lies between that of mean queues and that of the queues found: at the share :func:`distance_kept`.

    Examples
    --------
    >>> idle_s = window_idle_s(np.array([10.0, 11.0]), np.array(8e-6), np.array(0.3e-6), first=10)
    >>> [round(float(one) * 1e6, 6) for one in idle_s]  # one window is enough; another has to wait for the first
    [0.0, 5.0]
    """
    shape = np.broadcast_shapes(np.shape(rtt_s), np.shape(pace_s))
    room = np.reshape(room, (1,) * (len(shape) - np.ndim(room)) + np.shape(room))
    mean_room = room if mean_room is None else np.reshape(mean_room, room.shape)
    windows = _windows_before(float(packets.max()), first, room, mean_room)
    flows = packets.reshape(-1, *(1,) * len(shape))
    ended = np.sum(np.cumsum(windows, axis=0)[:, np.newaxis] < flows, axis=0)  # windows that do not end a flow
    sending_s = np.minimum(windows, most) * pace_s
    idle_s = _idle_so_far(rtt_s, sending_s)
    if mean_rtt_s is not None:
        usual_s = _idle_so_far(mean_rtt_s, sending_s)
        kept = np.array([distance_kept(trips) for trips in range(1, len(windows) + 1)])
        idle_s[1:] = usual_s[1:] + kept.reshape(-1, *(1,) * len(shape)) * (idle_s[1:] - usual_s[1:])
    return np.take_along_axis(idle_s, np.broadcast_to(ended, (len(packets), *shape)), axis=0)


def _windows_before(packets: float, first: float, room: FloatArray, mean_room: FloatArray) -> FloatArray:
    """Return the windows, along the first axis, until none is left that does not end so many packets."""
    sent, windows = np.zeros(room.shape), []
    for window in islice(windows_of(first, room, mean_room), _MOST_WINDOWS):
        sent = sent + window
        if sent.min() >= packets:
            break
        windows.append(window)
    return np.reshape(windows, (-1, *room.shape))


def _idle_so_far(rtt_s: FloatArray, sending_s: FloatArray) -> FloatArray:
    """Return the idle time after 0, 1, ... windows, in seconds, along the first axis."""
    idle_s = np.maximum(rtt_s - sending_s, 0.0)
    return np.concatenate([np.zeros((1, *idle_s.shape[1:])), np.cumsum(idle_s, axis=0)])


def distance_kept(trips: int) -> float:
    r"""Return how far the queues of n round trips are from their mean, over n times the distance of the first, a ratio.

    Notes
    -----
    With :math:`c` = `QUEUE_KEPT` the ratio of standard deviations is :math:`\sqrt{n+2\sum_{k<n}(n-k)c^k}/n`.

    Examples
    --------
    >>> [round(distance_kept(trips), 2) for trips in (1, 2, 10)]
    [1.0, 0.97, 0.82]
    """
    c = QUEUE_KEPT
    apart = c / (1 - c) * (trips - (1 - c**trips) / (1 - c))
    return float(np.sqrt(trips + 2 * apart) / trips)


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


__all__ = ["LEAST_MARKED_PACKETS", "QUEUE_KEPT", "climb_packets", "distance_kept", "first_marked", "window_idle_s"]
