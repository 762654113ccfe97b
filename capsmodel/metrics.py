r"""Measures of a run, each defined once.

=====================  ==============================  ==========================  =======  =================
Quantity               Symbol                          Name                        Unit     Equation
=====================  ==============================  ==========================  =======  =================
ideal completion time  :math:`T_0`                     :func:`ideal_fct_s`         s        store and forward
slowdown               :math:`T/T_0`                   :func:`slowdown`            1
percentile             :math:`x_{(\lceil qn\rceil)}`   :func:`percentile`          of data  nearest rank
goodput                :math:`8B/t`, payload           :func:`goodput_bps`         bit/s    caps u (IX)
throughput             :math:`8B/t`, on the wire       :func:`throughput_bps`      bit/s
offered load           :math:`8\lambda E[X]/C`         :func:`offered_load`        1
arrival rate           :math:`\rho C/(8E[X])`          :func:`arrival_rate_per_s`  1/s
fairness               :math:`(\sum x)^2/(n\sum x^2)`  :func:`jain_fairness`       1        Jain
reordered share        behind a later packet           :func:`reorder_ratio`       1        caps u (IX)
reorder density        displacement histogram          :func:`reorder_density`     1        RFC 5236
=====================  ==============================  ==========================  =======  =================
"""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import overload

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    FloatSequence,
    as_floats,
    closed_form,
    non_negative,
    one_number,
    plain,
    positive,
    probability,
    require,
    whole,
)
from capsmodel.units import BITS_PER_BYTE, serialisation_s


@overload
def ideal_fct_s(
    flow_bytes: float,
    *,
    rate_bps: float,
    n_hops: float = ...,
    propagation_s: float = ...,
    mss_bytes: float = ...,
    header_bytes: float = ...,
) -> float: ...
@overload
def ideal_fct_s(
    flow_bytes: ArrayLike,
    *,
    rate_bps: ArrayLike,
    n_hops: ArrayLike = ...,
    propagation_s: ArrayLike = ...,
    mss_bytes: ArrayLike = ...,
    header_bytes: ArrayLike = ...,
) -> FloatArray: ...
@closed_form
def ideal_fct_s(
    flow_bytes: ArrayLike,
    *,
    rate_bps: ArrayLike,
    n_hops: ArrayLike = 1,
    propagation_s: ArrayLike = 0.0,
    mss_bytes: ArrayLike = 1460,
    header_bytes: ArrayLike = 0,
) -> FloatOrArray:
    r"""Return the completion time of a flow alone in the network, in seconds.

    Parameters
    ----------
    flow_bytes : array_like
        Payload of the flow, in whole bytes, at least 1.
    rate_bps : array_like
        Rate of every link on the way, in bits per second, above 0.
    n_hops : array_like
        Links on the way, at least 1.
    propagation_s : array_like
        One-way propagation delay of the whole way, in seconds, at least 0.
    mss_bytes, header_bytes : array_like
        Payload of a full packet (at least 1) and what every packet carries besides, in bytes.

    Returns
    -------
    float or ndarray
        Seconds from the first bit sent to the last bit received, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    N packets leave back to back, all but the last of time f, the last of time l ≤ f. Switches store and forward, so
    the last packet follows a full one at every hop: :math:`T_0=d+(N-1)f+l+(H-1)f`, and :math:`d+Hl` for N = 1. No
    handshake, no slow start, no acknowledgement: the least that any transport can do.

    Examples
    --------
    >>> round(ideal_fct_s(4500, rate_bps=1e9, n_hops=2, mss_bytes=1500) * 1e6, 9)  # four packet times of 12 us
    48.0
    """
    flow = whole("flow_bytes", flow_bytes, minimum=1)
    mss = whole("mss_bytes", mss_bytes, minimum=1)
    header, rate = whole("header_bytes", header_bytes), positive("rate_bps", rate_bps)
    propagation, later_hops = non_negative("propagation_s", propagation_s), whole("n_hops", n_hops, minimum=1) - 1
    full_packets = np.ceil(flow / mss) - 1
    last_s = serialisation_s(flow - full_packets * mss + header, rate_bps=rate)
    full_s = serialisation_s(mss + header, rate_bps=rate)
    slowest_s = np.where(full_packets > 0, full_s, last_s)
    return plain(propagation + full_packets * full_s + last_s + later_hops * slowest_s)


@overload
def slowdown(fct_s: float, *, ideal_fct_s: float) -> float: ...
@overload
def slowdown(fct_s: ArrayLike, *, ideal_fct_s: ArrayLike) -> FloatArray: ...
@closed_form
def slowdown(fct_s: ArrayLike, *, ideal_fct_s: ArrayLike) -> FloatOrArray:
    """Return the completion time over the ideal one, a ratio.

    Parameters
    ----------
    fct_s : array_like
        Completion time, in seconds, at least 0.
    ideal_fct_s : array_like
        Completion time without contention, in seconds, above 0; see :func:`ideal_fct_s`.

    Returns
    -------
    float or ndarray
        At least 1 when both are measured between the same two events, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> slowdown(0.003, ideal_fct_s=0.0015)
    2.0
    """
    return plain(non_negative("fct_s", fct_s) / positive("ideal_fct_s", ideal_fct_s))


@overload
def percentile(values: FloatSequence, *, q: float) -> float: ...
@overload
def percentile(values: ArrayLike, *, q: ArrayLike) -> FloatOrArray: ...
@closed_form
def percentile(values: ArrayLike, *, q: ArrayLike) -> FloatOrArray:
    r"""Return a percentile by nearest rank: the smallest value that a share of at least `q` does not exceed.

    Parameters
    ----------
    values : array_like
        Observations along the last axis, at least one, in any order and unit; infinite for what never ended.
    q : array_like
        Probability, in [0, 1]; 0.99 for the 99th percentile.

    Returns
    -------
    float or ndarray
        In the unit of `values`, of shape ``q.shape + values.shape[:-1]``.

    Raises
    ------
    ParameterError
        If there is no value, a value is NaN or `q` leaves [0, 1].

    Notes
    -----
    :math:`x_{(\lceil qn\rceil)}`, and the least value at q = 0. Why not interpolate: completion times have gaps (a
    timeout is 200 ms away from everything else), and a value between two modes is one that no flow ever had. Nearest
    rank is the inverse of the empirical distribution function, the definition that :mod:`capsmodel.workloads.sizes` and
    :mod:`capsmodel.queueing.mg1` use for distributions, and it commutes with every increasing change of unit. Below 100
    observations the 99th percentile is the maximum.

    Examples
    --------
    >>> percentile([1.0, 2.0, 3.0, 200.0], q=[0.5, 0.99]).tolist()
    [2.0, 200.0]
    """
    observed, probs = np.atleast_1d(as_floats("values", values)), probability("q", q, one=True)
    n = observed.shape[-1]
    require(n > 0, "values is empty: a percentile needs at least one observation")
    # q as typed is right to one rounding; 0.07 * 100 must not become rank 8.
    rank = np.maximum(np.ceil(probs * n * (1 - 2 * np.finfo(float).eps)), 1).astype(np.int64)
    return plain(np.moveaxis(np.sort(observed, axis=-1)[..., rank - 1], range(-rank.ndim, 0), range(rank.ndim)))


@overload
def goodput_bps(payload_bytes: float, *, duration_s: float) -> float: ...
@overload
def goodput_bps(payload_bytes: ArrayLike, *, duration_s: ArrayLike) -> FloatArray: ...
@closed_form
def goodput_bps(payload_bytes: ArrayLike, *, duration_s: ArrayLike) -> FloatOrArray:
    """Return the rate of useful data, in bits per second.

    Parameters
    ----------
    payload_bytes : array_like
        Payload handed to the application once: no headers, repair packets, copies or retransmissions; at least 0.
    duration_s : array_like
        Time it took, in seconds, above 0.

    Returns
    -------
    float or ndarray
        8 · payload_bytes / duration_s, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    References
    ----------
    caps u (IX) effective link utilisation is this over the bandwidth.

    Examples
    --------
    >>> goodput_bps(1_250_000, duration_s=0.01)
    1000000000.0
    """
    return plain(BITS_PER_BYTE * non_negative("payload_bytes", payload_bytes) / positive("duration_s", duration_s))


@overload
def throughput_bps(wire_bytes: float, *, duration_s: float) -> float: ...
@overload
def throughput_bps(wire_bytes: ArrayLike, *, duration_s: ArrayLike) -> FloatArray: ...
@closed_form
def throughput_bps(wire_bytes: ArrayLike, *, duration_s: ArrayLike) -> FloatOrArray:
    """Return the rate of everything that a link carried, in bits per second.

    Parameters
    ----------
    wire_bytes : array_like
        Bytes sent, with headers, repair packets, copies and retransmissions; at least 0.
    duration_s : array_like
        Time it took, in seconds, above 0.

    Returns
    -------
    float or ndarray
        8 · wire_bytes / duration_s, of the broadcast shape; divided by the link's rate it is the utilisation.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> throughput_bps(1500, duration_s=12e-6) / 1e9
    1.0
    """
    return plain(BITS_PER_BYTE * non_negative("wire_bytes", wire_bytes) / positive("duration_s", duration_s))


@overload
def offered_load(arrivals_per_s: float, *, mean_bytes: float, rate_bps: float) -> float: ...
@overload
def offered_load(arrivals_per_s: ArrayLike, *, mean_bytes: ArrayLike, rate_bps: ArrayLike) -> FloatArray: ...
@closed_form
def offered_load(arrivals_per_s: ArrayLike, *, mean_bytes: ArrayLike, rate_bps: ArrayLike) -> FloatOrArray:
    r"""Return the load ρ that arriving flows offer to a link, a ratio.

    Parameters
    ----------
    arrivals_per_s : array_like
        Flow arrivals λ per second, at least 0.
    mean_bytes : array_like
        Mean flow size E[X], in bytes, above 0; with headers if headers are to count.
    rate_bps : array_like
        Capacity C that the load is measured against, in bits per second, above 0. The papers leave open which links
        are meant; the simulator says it in :mod:`capsim.fabric.load`.

    Returns
    -------
    float or ndarray
        :math:`\rho=8\lambda E[X]/C`, of the broadcast shape; the inverse of :func:`arrival_rate_per_s`.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> offered_load(800, mean_bytes=1_250_000, rate_bps=10e9)
    0.8
    """
    bytes_per_s = non_negative("arrivals_per_s", arrivals_per_s) * positive("mean_bytes", mean_bytes)
    return plain(BITS_PER_BYTE * bytes_per_s / positive("rate_bps", rate_bps))


@overload
def arrival_rate_per_s(load: float, *, mean_bytes: float, rate_bps: float) -> float: ...
@overload
def arrival_rate_per_s(load: ArrayLike, *, mean_bytes: ArrayLike, rate_bps: ArrayLike) -> FloatArray: ...
@closed_form
def arrival_rate_per_s(load: ArrayLike, *, mean_bytes: ArrayLike, rate_bps: ArrayLike) -> FloatOrArray:
    r"""Return the flow arrivals per second that offer `load`.

    Parameters
    ----------
    load : array_like
        Load ρ, at least 0.
    mean_bytes, rate_bps : array_like
        As in :func:`offered_load`.

    Returns
    -------
    float or ndarray
        :math:`\lambda=\rho C/(8E[X])`, of the broadcast shape; the inverse of :func:`offered_load`.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> arrival_rate_per_s(0.8, mean_bytes=1_250_000, rate_bps=10e9)
    800.0
    """
    offered_bps = non_negative("load", load) * positive("rate_bps", rate_bps)
    return plain(offered_bps / (BITS_PER_BYTE * positive("mean_bytes", mean_bytes)))


@overload
def jain_fairness(shares: FloatSequence) -> float: ...
@overload
def jain_fairness(shares: ArrayLike) -> FloatOrArray: ...
@closed_form
def jain_fairness(shares: ArrayLike) -> FloatOrArray:
    r"""Return Jain's fairness index, a ratio between 1/n and 1.

    Parameters
    ----------
    shares : array_like
        What each of n flows got, in any unit, at least 0, along the last axis; at least one.

    Returns
    -------
    float or ndarray
        :math:`(\sum x)^2/(n\sum x^2)`, without the last axis; 1 when all got the same (nothing
        included), m/n when m of them share evenly and the others got nothing.

    Raises
    ------
    ParameterError
        If a share is negative or there is none.

    References
    ----------
    Jain, Chiu and Hawe, DEC-TR-301 (1984).

    Examples
    --------
    >>> jain_fairness([1, 1, 0, 0])
    0.5
    """
    values = np.atleast_1d(non_negative("shares", shares))
    require(values.shape[-1] > 0, "shares is empty: fairness needs at least one flow")
    largest = values.max(axis=-1, keepdims=True)
    # Scaled by the largest so that squares neither overflow nor vanish.
    scaled = np.divide(values, largest, out=np.ones_like(values), where=largest > 0)
    return plain(scaled.sum(axis=-1) ** 2 / (values.shape[-1] * np.square(scaled).sum(axis=-1)))


def _distinct(arrivals: ArrayLike) -> FloatArray:
    """Check the sequence numbers and keep the first arrival of each."""
    order = np.atleast_1d(whole("arrivals", arrivals))
    require(order.ndim == 1, "arrivals must be one list of sequence numbers in the order of arrival")
    return order[np.sort(np.unique(order, return_index=True)[1])]


@closed_form
def reorder_ratio(arrivals: ArrayLike) -> float:
    """Return the share of packets that arrive after a packet sent later, a ratio.

    Parameters
    ----------
    arrivals : array_like
        Sequence numbers (whole, at least 0) in the order of arrival; a number seen before is a duplicate, not counted.

    Returns
    -------
    float
        In [0, 1); 0 for no packets.

    Raises
    ------
    ParameterError
        If `arrivals` is no list of whole numbers.

    Notes
    -----
    A packet is reordered if its number is below the largest seen before. One late packet counts once, however far it
    fell behind; one early packet makes all it overtook count. Losses do not count.

    References
    ----------
    caps u (IX) disorder ratio; RFC 4737 section 4.1.

    Examples
    --------
    >>> reorder_ratio([1, 2, 5, 3, 4])
    0.4
    """
    order = _distinct(arrivals)
    return float(np.mean(order < np.maximum.accumulate(order))) if order.size else 0.0


@dataclass(frozen=True, eq=False)
class ReorderDensity:
    """Histogram of packet displacements.

    Parameters
    ----------
    displacement : ndarray of int
        Displacements that occur, rising; positive is late, negative early.
    density : ndarray
        Share of the counted packets with that displacement; sums to 1.
    """

    displacement: npt.NDArray[np.int64]
    density: FloatArray


@closed_form
def reorder_density(arrivals: ArrayLike, *, first: int = 1, threshold_packets: int = 16) -> ReorderDensity:
    """Return the distribution of how far packets arrive from their place, of RFC 5236.

    Parameters
    ----------
    arrivals : array_like
        Sequence numbers (whole, at least 0) in the order of arrival.
    first : int
        Sequence number of the first packet sent, at least 0.
    threshold_packets : int
        A packet more than this many places late counts as lost, at least 0.

    Returns
    -------
    ReorderDensity
        Displacements and their shares; empty arrays for no packets.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    Arriving packets get the receive indices `first`, `first` + 1, ..., passing over the numbers of lost packets;
    displacement is receive index minus sequence number. A number is lost if, when its index is
    due, it has not arrived and is not among the next `threshold_packets` + 1 arrivals. Duplicates, and packets that
    come after they were taken for lost, get no index. Packets early by more than the threshold are kept.

    References
    ----------
    RFC 5236 sections 3 and 4.

    Examples
    --------
    >>> result = reorder_density([1, 2, 4, 3, 5])
    >>> result.displacement.tolist(), result.density.tolist()
    ([-1, 0, 1], [0.2, 0.6, 0.2])
    """
    due, depth = (
        int(one_number(whole, "first", first)),
        int(one_number(whole, "threshold_packets", threshold_packets)) + 1,
    )
    numbers = _distinct(arrivals)
    require(numbers >= first, f"arrivals holds a number below first = {first}: lower first")
    stream = iter(numbers.astype(np.int64).tolist())
    window = deque(islice(stream, depth))
    present = sorted(numbers.astype(np.int64).tolist())
    arrived, displacements = set[int](), list[int]()
    while window:
        while due not in arrived and due not in window:
            due = present[bisect_right(present, due)]  # numbers that never arrive are lost in one step
        number = window.popleft()
        # Of what is still to come, all below the index that is due was taken for lost.
        window.extend(islice((later for later in stream if later >= due), 1))
        # Losses in between can stretch the displacement of a packet that was in reach.
        if due - number < depth:
            arrived.add(number)
            displacements.append(due - number)
            due += 1
    values, counts = np.unique(np.asarray(displacements, np.int64), return_counts=True)
    return ReorderDensity(values, counts / max(counts.sum(), 1))
