r"""When a message is complete whose lost packets are retransmitted, with and without a block code.

====================================  ==========  =========================  ====  ==================
Quantity                              Symbol      Name                       Unit  Equation
====================================  ==========  =========================  ====  ==================
message is not complete at t          1 - F(t)    :func:`message_late_prob`  1     beyond the papers
mean time until it is complete        E[T]        :func:`mean_message_s`     s     beyond the papers
loss from which the code is faster    p*          :func:`coding_pays_from`   1     beyond the papers
====================================  ==========  =========================  ====  ==================

A message of N packets is cut into B blocks of k, of which the last may be smaller. Behind the source packets of a block
leave r repair packets, and as many packets as it has source packets decode it, whichever they are. If j > r packets of
a block are lost, the j - r that are missing are retransmitted a time T later, and again each T until they arrive. With
k = 1 and r = 0 that is selective repetition alone.

Packets leave one behind the other, each within tau. Repetitions take no time of the link, which is kind to repetition
where a share of repair packets would not be much larger than the loss. T, a round trip and what notices the loss, is
the same for all. Losses are independent, or come in runs (Gilbert's
chain, as in :class:`~capsmodel.coding.paths.losses.PathLosses`), which may reach over several blocks. A packet that is
retransmitted is lost with the mean loss, independently: a loss burst is over by then.

For one unit over unequal paths see :mod:`capsmodel.coding.paths.retransmission`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, inf, log
from typing import overload

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from capsmodel.checks import (
    SUM_TOLERANCE,
    FloatArray,
    FloatOrArray,
    closed_form,
    non_negative,
    plain,
    positive,
    probability,
    require,
    whole,
)
from capsmodel.coding.paths.delays import time_left_s

MOST_LOSS = 0.9
"""Largest loss for which times are computed; beyond, each packet is sent tens of times."""
_MOST_BLOCK = 2**9
_MOST_PACKETS = 2**20
_MOST_WORK = 2**23
_NEGLIGIBLE = 1e-18
_TRY = log(2)  # of the log-odds of a loss, in the search for the first at which the code is faster
_LEAST_LOSS = 1e-9  # at which it is seen whether one block is faster at any loss


@dataclass(frozen=True, eq=False)
class _LossChain:
    """The chain of losses: independent ones have one state, runs the states good and bad."""

    loss: float
    burst: float  # mean run, packets; 0: independent

    @cached_property
    def start(self) -> FloatArray:
        """Probabilities of the states."""
        return np.array([1 - self.loss, self.loss]) if self.burst else np.ones(1)

    @cached_property
    def steps(self) -> tuple[FloatArray, FloatArray]:
        """Steps to the next packet, if that arrives and if it is lost."""
        p, good = self.loss, 1 - self.loss
        if not self.burst:
            return np.array([[good]]), np.array([[p]])
        begins, ends = p / (good * self.burst), 1 / self.burst
        return np.array([[1 - begins, 0.0], [ends, 0.0]]), np.array([[0.0, begins], [0.0, 1 - ends]])

    def laws(self, packets: int) -> list[FloatArray]:
        """Return P(l of n are lost, and the state at the last | the state before the first) for n up to `packets`."""
        arrives, lost = self.steps
        laws = [np.zeros((packets + 1, *arrives.shape))]
        laws[0][0] = np.eye(len(arrives))
        for _ in range(packets):
            law = laws[-1] @ arrives
            law[1:] += laws[-1][:-1] @ lost
            laws.append(law)
        return laws


@dataclass(frozen=True, eq=False)
class _Block:
    """A block: how the chain passes it if it is complete after so many repetitions, and how likely it is not."""

    losses: _LossChain
    k: int
    r: int

    @cached_property
    def _laws(self) -> list[FloatArray]:
        return self.losses.laws(self.k + self.r)

    @cached_property
    def at_first(self) -> FloatArray:
        """How likely the first k, k + 1 ... k + r packets do not decode it, by the state before it."""
        return np.array([law[i + 1 :].sum(axis=(0, 2)) for i, law in enumerate(self._laws[self.k :])])

    def after(self, repeats: int) -> tuple[FloatArray, FloatArray]:
        """Return both for a number of repetitions of what is missing."""
        missing = np.maximum(np.arange(self.k + self.r + 1.0) - self.r, 0)
        again = self.losses.loss**repeats
        fails = -np.expm1(missing * np.log1p(-again)) if repeats else np.minimum(missing, 1)
        law = self._laws[-1]
        return np.tensordot(1 - fails, law, 1), fails @ law.sum(axis=2)


def _runs(step: FloatArray, fails: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return what `_Block.after` returns for 0 to `most` such blocks in a row: sums of positive terms."""
    steps, failed = np.eye(len(step))[None], np.zeros((1, len(step)))
    while len(steps) <= most:
        failed = np.concatenate([failed, fails + failed @ step.T])
        steps = np.concatenate([steps, step @ steps])
        step, fails = step @ step, fails + step @ fails
    return steps, failed


class _Message:
    """A message; moments u count from the end of the last packet of the last block, in times of a packet."""

    def __init__(self, packets: float, *, loss: float, repeat: float, k: float, r: float, burst: float) -> None:
        self.losses = _LossChain(loss, burst)
        self.repeat, self.k, self.r = repeat, int(min(k, packets)), int(r)
        self.before = -(-int(packets) // self.k) - 1  # blocks before the last one
        self.last_k = int(packets) - self.before * self.k
        self.all_packets = int(packets) + (self.before + 1) * self.r
        # So many more repetitions make a message as good as complete.
        self.classes = 1 + ceil(log(_NEGLIGIBLE / packets) / log(loss)) if loss else 1
        self.most_in_class = int(min(self.before, repeat // (self.k + self.r) + 2))
        self._last = _Block(self.losses, self.last_k, self.r)
        self._block = _Block(self.losses, self.k, self.r)
        self._known: dict[int, tuple[FloatArray, FloatArray]] = {}

    def _class(self, repeats: int) -> tuple[FloatArray, FloatArray]:
        if repeats not in self._known:
            self._known[repeats] = _runs(*self._block.after(repeats), self.most_in_class)
        return self._known[repeats]

    def _with_time_for(self, repeats: int, moments: FloatArray) -> npt.NDArray[np.int64]:
        """Return how many blocks before the last one had time for so many repetitions or more."""
        ahead = self.last_k + self.r  # of the last block but one
        short = np.ceil((repeats * self.repeat - moments - ahead) / (self.k + self.r))
        return (self.before - np.clip(short, 0, self.before)).astype(np.int64)

    def late(self, moments: FloatArray, repeats: int) -> FloatArray:
        """Return how likely the message is not complete at moments until which the last block had so many repetitions.

        They are -1 before all of its packets have left. The chain is followed from the last block to the first, in runs
        of blocks with the same number of repetitions.
        """
        first = max(repeats, 0)
        if repeats < 0:
            fails = self._last.at_first[np.floor(moments).astype(np.int64) + self.r]
        else:
            fails = np.broadcast_to(self._last.after(repeats)[1], (moments.size, self.losses.start.size))
        self._known = {known: run for known, run in self._known.items() if known >= first}
        reached = np.full(moments.shape, self.before)
        for repeated in range(first, first + self.classes):
            more = self._with_time_for(repeated + 1, moments)
            if np.any(count := reached - more):
                steps, failed = self._class(repeated)
                fails = failed[count] + np.einsum("nst,nt->ns", steps[count], fails)
            reached = more
            if not np.any(reached):
                break
        return np.asarray(fails @ self.losses.start)

    def mean(self) -> float:
        """Return the mean time until it is complete, in times of a packet: the integral of `late`."""
        span = self.classes * self.repeat // (self.k + self.r) + 1
        lags = np.arange(min(self.before, span)) * float(self.k + self.r) + (self.last_k + self.r)
        work = (lags.size + 1) * self.classes
        require(work <= _MOST_WORK, f"{work:g} moments at which a packet may come are too many: give less packets")
        edges = np.unique(np.concatenate([[0.0, self.repeat], -lags % self.repeat]))
        back = np.arange(-ceil(self.r / self.repeat), 0)[:, None] * self.repeat + edges
        early = np.unique(np.concatenate([np.arange(-self.r, 1.0), back[(back > -self.r) & (back < 0)]]))
        total = self.all_packets - self.r + _area(early, self.late(_middles(early), -1))
        for repeats in range(self.classes):
            late = self.late(_middles(edges) + repeats * self.repeat, repeats)
            total += _area(edges, late)
            if late[-1] < _NEGLIGIBLE:
                break
        return total


def _middles(edges: FloatArray) -> FloatArray:
    return np.asarray((edges[1:] + edges[:-1]) / 2)


def _area(edges: FloatArray, heights: FloatArray) -> float:
    return float(np.diff(edges) @ heights)


def _checked(
    packets: ArrayLike,
    *,
    packet_s: ArrayLike,
    repeat_s: ArrayLike,
    delay_s: ArrayLike,
    k: ArrayLike,
    r: ArrayLike,
    burst_packets: ArrayLike | None,
) -> dict[str, FloatArray]:
    """Return what all functions take, checked."""
    checked = {
        "packets": whole("packets", packets, minimum=1),
        "packet_s": positive("packet_s", packet_s),
        "repeat_s": positive("repeat_s", repeat_s),
        "delay_s": non_negative("delay_s", delay_s),
        "k": whole("k", k, minimum=1),
        "r": whole("r", r),
        "burst": np.zeros(()) if burst_packets is None else positive("burst_packets", burst_packets),
    }
    require(checked["packets"] <= _MOST_PACKETS, f"packets are at most {_MOST_PACKETS}: give less")
    require(checked["k"] + checked["r"] <= _MOST_BLOCK, f"k + r is at most {_MOST_BLOCK}: give smaller blocks")
    too_short = "repeat_s is below packet_s: a packet cannot be missed before it has left; give a longer time"
    require(checked["repeat_s"] >= checked["packet_s"], too_short)
    return checked


def _loss(name: str, value: ArrayLike, burst: FloatArray) -> FloatArray:
    """Return a loss that goes with the mean run."""
    loss = probability(name, value)
    require(loss <= MOST_LOSS, f"{name} is above {MOST_LOSS}, the largest loss for which times are computed")
    fits = (burst == 0) | (burst * (1 - loss) >= 1 - SUM_TOLERANCE)
    require(fits, f"burst_packets is below 1/(1 - {name}), the mean run of independent losses: give longer runs")
    return loss


def _for_each(form: Callable[..., float], **arguments: FloatArray) -> FloatOrArray:
    """Return `form` of each entry of the broadcast arguments."""
    arrays = np.broadcast_arrays(*arguments.values())
    entries = zip(*(array.ravel().tolist() for array in arrays), strict=True)
    result = [form(**dict(zip(arguments, entry, strict=True))) for entry in entries]
    return plain(np.reshape(np.array(result, dtype=np.float64), arrays[0].shape))


def _late_at(time_s: float, packet_s: float, repeat_s: float, delay_s: float, **of_message: float) -> float:
    message = _Message(repeat=repeat_s / packet_s, **of_message)
    moment = float(time_left_s(time_s, delay_s, message.all_packets * packet_s)) / packet_s
    if moment < -message.r:
        return 1.0
    repeats = int(min(moment // message.repeat, 2**53)) if moment >= 0 else -1
    return min(float(message.late(np.array([moment]), repeats)[0]), 1.0)


@overload
def message_late_prob(
    time_s: float,
    *,
    packets: float,
    loss_prob: float,
    packet_s: float,
    repeat_s: float,
    delay_s: float = ...,
    k: float = ...,
    r: float = ...,
    burst_packets: float | None = ...,
) -> float: ...
@overload
def message_late_prob(
    time_s: ArrayLike,
    *,
    packets: ArrayLike,
    loss_prob: ArrayLike,
    packet_s: ArrayLike,
    repeat_s: ArrayLike,
    delay_s: ArrayLike = ...,
    k: ArrayLike = ...,
    r: ArrayLike = ...,
    burst_packets: ArrayLike | None = ...,
) -> FloatArray: ...
@closed_form
def message_late_prob(
    time_s: ArrayLike,
    *,
    packets: ArrayLike,
    loss_prob: ArrayLike,
    packet_s: ArrayLike,
    repeat_s: ArrayLike,
    delay_s: ArrayLike = 0.0,
    k: ArrayLike = 1,
    r: ArrayLike = 0,
    burst_packets: ArrayLike | None = None,
) -> FloatOrArray:
    r"""Return the probability that a message is not complete at a time.

    Parameters
    ----------
    time_s : array_like
        Time since the first packet began to leave, s, at least 0.
    packets : array_like
        Packets of the message N, packets, whole, 1 to 2^20.
    loss_prob : array_like
        Probability p that a packet is lost, in [0, 0.9].
    packet_s : array_like
        Time to send a packet tau, s, above 0.
    repeat_s : array_like
        Time T from the last packet of a block to what is retransmitted of it, and between further repetitions, s, at
        least `packet_s`: a round trip and what notices the loss.
    delay_s : array_like
        One-way delay d, s, at least 0.
    k, r : array_like
        Source and repair packets of a block, packets, whole, k >= 1, r >= 0 and k + r <= 512. The default is repetition
        alone; a block larger than the message has only the message's packets, and r.
    burst_packets : array_like, optional
        Mean loss burst b, packets, at least 1/(1 - p); losses are independent when not given.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    Block b has left at :math:`e_b = \tau (bk + br)`, the last one at :math:`e_B = \tau (N + Br)`. At time t it has been
    repeated :math:`J_b = \lfloor (t - d - e_b)/T \rfloor` times. For independent losses

    .. math:: F(t) = \prod_b \sum_j P(L_b = j)\,(1 - p^{J_b})^{\max(j - r, 0)}, \qquad 0^0 = 1,

    with L_b of k + r packets lost, for the last block before e_B only of those that have left. With k = 1 and r = 0 it
    is :math:`\prod_i (1 - p^{1 + J_i})`. In runs the factors are matrices of the chain, which are multiplied in order
    of the blocks. A time that is a step but for rounding counts as the step; all terms are positive, so
    small probabilities are exact too.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    Two packets, of which one or both are lost; then one that was lost twice; and with one repair packet:

    >>> common = {"packets": 2, "loss_prob": 0.1, "packet_s": 1.0, "repeat_s": 5.0}
    >>> [round(message_late_prob(t, **common), 6) for t in (2, 6, 7)]
    [0.19, 0.109, 0.0199]
    >>> round(message_late_prob(3, k=2, r=1, **common), 6)
    0.028
    """
    common = _checked(
        packets, packet_s=packet_s, repeat_s=repeat_s, delay_s=delay_s, k=k, r=r, burst_packets=burst_packets
    )
    loss = _loss("loss_prob", loss_prob, common["burst"])
    return _for_each(_late_at, time_s=non_negative("time_s", time_s), loss=loss, **common)


def _mean_s(packet_s: float, repeat_s: float, delay_s: float, **of_message: float) -> float:
    return delay_s + packet_s * _Message(repeat=repeat_s / packet_s, **of_message).mean()


@overload
def mean_message_s(
    packets: float,
    *,
    loss_prob: float,
    packet_s: float,
    repeat_s: float,
    delay_s: float = ...,
    k: float = ...,
    r: float = ...,
    burst_packets: float | None = ...,
) -> float: ...
@overload
def mean_message_s(
    packets: ArrayLike,
    *,
    loss_prob: ArrayLike,
    packet_s: ArrayLike,
    repeat_s: ArrayLike,
    delay_s: ArrayLike = ...,
    k: ArrayLike = ...,
    r: ArrayLike = ...,
    burst_packets: ArrayLike | None = ...,
) -> FloatArray: ...
@closed_form
def mean_message_s(
    packets: ArrayLike,
    *,
    loss_prob: ArrayLike,
    packet_s: ArrayLike,
    repeat_s: ArrayLike,
    delay_s: ArrayLike = 0.0,
    k: ArrayLike = 1,
    r: ArrayLike = 0,
    burst_packets: ArrayLike | None = None,
) -> FloatOrArray:
    r"""Return the mean time until a message is complete.

    Parameters
    ----------
    packets, loss_prob, packet_s, repeat_s, delay_s, k, r, burst_packets
        As in :func:`message_late_prob`.

    Returns
    -------
    float or ndarray
        Time since the first packet began to leave, s, broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or so many packets are sent so often that 2^23 moments are not enough.

    Notes
    -----
    :math:`E[T] = \int_0^\infty (1 - F(t))\,dt` with F of :func:`message_late_prob`, which is constant between the
    moments at which packets may come: a sum, and exact. Without losses it is :math:`d + \tau (N + (B - 1) r)`: nobody
    waits for the last repair packets. Where T exceeds :math:`\tau N` by far it is, for repetition alone,
    :math:`d + \tau N + T \sum_{j \ge 1} (1 - (1 - p^j)^N)`.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    One packet is sent 1/(1 - p) times; for 512 packets of 0.33 us, with T of 14 us and of 10 ms, a code is slower
    and faster than repetition:

    >>> round(mean_message_s(1, loss_prob=0.2, packet_s=1.0, repeat_s=8.0), 12)
    3.0
    >>> common = {"packets": 512, "loss_prob": 1e-3, "packet_s": 0.33e-6}
    >>> alone = mean_message_s(repeat_s=[14e-6, 10e-3], **common)
    >>> coded = mean_message_s(repeat_s=[14e-6, 10e-3], k=32, r=8, **common)
    >>> (alone * 1e6).round(2).tolist(), (coded * 1e6).round(2).tolist()
    ([169.26, 4151.73], [208.57, 208.57])
    """
    common = _checked(
        packets, packet_s=packet_s, repeat_s=repeat_s, delay_s=delay_s, k=k, r=r, burst_packets=burst_packets
    )
    return _for_each(_mean_s, loss=_loss("loss_prob", loss_prob, common["burst"]), **common)


def _pays_from(k: float, r: float, repeat: float, fallback: float, packets: float, burst: float) -> float:
    """Return the least loss at which a code is faster in the mean; times are those of a packet."""

    def saved(log_odds: float) -> float:
        loss = 1 / (1 + exp(-log_odds))
        alone = _Message(packets, loss=loss, repeat=repeat, k=1, r=0, burst=burst)
        coded = _Message(packets, loss=loss, repeat=fallback, k=k, r=r, burst=burst)
        return alone.mean() - coded.mean()

    most = min(MOST_LOSS, r / (k + r), 1 - 1 / burst if burst else 1)
    blocks = ceil(packets / k)
    spent = (blocks - 1) * r / repeat if blocks > 1 else _LEAST_LOSS * packets
    # Repetition costs at most N p/(1 - p) times T, which is what is spent at the odds `low`: half, against rounding.
    low, end = log(spent / packets / 2), log(most / (1 - most)) if most else -inf
    if low < end and blocks == 1 and saved(low) > 0:
        return 0.0
    while low < end:
        high = min(low + _TRY, end)
        if saved(high) > 0:
            return float(1 / (1 + exp(-brentq(saved, low, high, xtol=1e-11))))
        low = high
    return inf


@overload
def coding_pays_from(
    packets: float,
    *,
    k: float,
    r: float,
    packet_s: float,
    repeat_s: float,
    fallback_s: float | None = ...,
    burst_packets: float | None = ...,
) -> float: ...
@overload
def coding_pays_from(
    packets: ArrayLike,
    *,
    k: ArrayLike,
    r: ArrayLike,
    packet_s: ArrayLike,
    repeat_s: ArrayLike,
    fallback_s: ArrayLike | None = ...,
    burst_packets: ArrayLike | None = ...,
) -> FloatArray: ...
@closed_form
def coding_pays_from(
    packets: ArrayLike,
    *,
    k: ArrayLike,
    r: ArrayLike,
    packet_s: ArrayLike,
    repeat_s: ArrayLike,
    fallback_s: ArrayLike | None = None,
    burst_packets: ArrayLike | None = None,
) -> FloatOrArray:
    r"""Return the loss from which a message is complete sooner, in the mean, with a block code than by repetition.

    Parameters
    ----------
    packets, k, r, packet_s, burst_packets
        As in :func:`message_late_prob`; r is at least 1.
    repeat_s : array_like
        Time T between repetitions without the code, s, at least `packet_s`.
    fallback_s : array_like, optional
        The same for blocks that are not decoded, s; as `repeat_s` when not given.

    Returns
    -------
    float or ndarray
        Loss p*, broadcast over all arguments; 0 where the code is faster at any loss, infinite where at none up to
        r/(k + r), beyond which most blocks are not decoded, or up to 0.9 or 1 - 1/b in runs of b if that is less.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or so many packets are sent so often that 2^23 moments are not enough.

    Notes
    -----
    The least root of :func:`mean_message_s` without the code minus that with it. The code spends
    :math:`(B - 1) r \tau` and repetition at most :math:`T N p/(1 - p)`, so that the root is at least
    :math:`c/(N + c)` with :math:`c = (B - 1) r \tau/T`; from there the odds of the loss are doubled until the code is
    faster. A message of one block spends nothing, as its source packets leave first. Above p* blocks fail too, and
    repetition may be faster again.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    512 packets of 0.33 us and 8 repair packets for 32: by T of 14 us, 100 us, 1 ms and 10 ms:

    >>> repeat_s = [14e-6, 1e-4, 1e-3, 1e-2]
    >>> [f"{p:.2g}" for p in coding_pays_from(512, k=32, r=8, packet_s=0.33e-6, repeat_s=repeat_s)]
    ['inf', '0.0036', '8.6e-05', '7.8e-06']
    """
    require(whole("r", r) > 0, "r is 0: without repair packets nothing is coded; give at least 1")
    common = _checked(packets, packet_s=packet_s, repeat_s=repeat_s, delay_s=0, k=k, r=r, burst_packets=burst_packets)
    del common["delay_s"]
    step_s = common.pop("packet_s")
    again_s = common.pop("repeat_s")
    later_s = again_s if fallback_s is None else positive("fallback_s", fallback_s)
    require(later_s >= step_s, "fallback_s is below packet_s: give a longer time")
    require(common["burst"] * (common["burst"] < 1) == 0, "burst_packets is below 1: no run is shorter than one packet")
    return _for_each(_pays_from, repeat=again_s / step_s, fallback=later_s / step_s, **common)
