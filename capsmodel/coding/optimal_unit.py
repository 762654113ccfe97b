r"""The coding unit with the least mean delay of a congestion window, and the delay of every size of unit.

=============================  ======  ===========================  =======  =====================
Quantity                       Symbol  Name                         Unit     Equation
=============================  ======  ===========================  =======  =====================
best k, with r and its delays  –       :func:`optimal_coding_unit`  packets  caps u (VI-C) optimum
delay of every k               d_w(k)  :func:`delay_curve`          s        caps Eq. 4
=============================  ======  ===========================  =======  =====================

Three objectives, the second the default of every function, here and in :mod:`capsmodel.coding.window_delay`:

``"eq4"``
    caps Eq. 4 as printed, r from the ceiling rule. Repair packets cost nothing in it.
``"with_redundancy_cost"``
    Eq. 4 plus the time to send the repair packets of the window, (r w/k) MSS/C; r is the best for each k.
``"overhead"``
    The least share r/n of repair packets of the units that fail with at most a given probability; no delay in it.

The paper prints k = 29, 31, 33, 40 as optimal for w = 64 and p_B = 0.2, 0.25, 0.3, 0.35, computed "by the Equation
(4)". Eq. 4 has its minimum at 61, 64, 61, 64; the second objective, with nothing fitted, has it at 28, 31, 32, 35
(r = 15, 20, 25, 32), and its delay at the printed k is within 0.25% of the minimum.
"""

from dataclasses import dataclass
from math import nan
from typing import Any, Generic, Literal, TypeVar, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    IntArray,
    choice,
    closed_form,
    one_of,
    plain,
    plain_count,
    require,
)
from capsmodel.coding._unit_search import best_sizes, delay_table, log_tails
from capsmodel.coding.paths._optimum import least_delay, least_overhead, log_decoded, require_one_point
from capsmodel.coding.paths.losses import PathLosses, as_losses
from capsmodel.coding.paths.unit_choice import failure_target, unit_failure_prob
from capsmodel.coding.unit_parameters import DEFAULT_OBJECTIVE, Objective, UnitParameters, mean_of_two

UnitObjective = Literal["with_redundancy_cost", "eq4", "overhead"]
_NEAR = 0.01
_TIMES = ("rtt_short_s", "rtt_long_s", "packet_bytes", "rate_bps")
MOST_CURVE_SIZES = 2**13
"""Most sizes of unit of a delay curve, computed in half a second."""
_MOST_CURVE_DELAYS = 2**24  # of all points, 128 MB for each table


_Count_co = TypeVar("_Count_co", covariant=True)
_Real_co = TypeVar("_Real_co", covariant=True)


@dataclass(frozen=True)
class OptimalUnit(Generic[_Count_co, _Real_co]):
    """The best coding unit of each parameter point: ``OptimalUnit[int, float]`` for numbers, else of two arrays.

    Attributes
    ----------
    k, r : int or ndarray of int64
        Source and repair packets of the best unit, packets.
    delay_s, uncoded_delay_s : float or ndarray
        Mean delay of the window with this unit (by the objective) and without coding, s. For ``"overhead"`` with the
        cost of repair packets; NaN where it was given no times.
    near_k_min, near_k_max : int or ndarray of int64
        Smallest and largest k whose delay, or share of repair packets, is within 1% of the least, packets.
    decode_prob, failure_prob : float or ndarray
        Probability that one such unit decodes, and that it does not, with the digits of either.
    objective : str
        The objective that was minimised.
    """

    k: _Count_co
    r: _Count_co
    delay_s: _Real_co
    uncoded_delay_s: _Real_co
    near_k_min: _Count_co
    near_k_max: _Count_co
    decode_prob: _Real_co
    failure_prob: _Real_co
    objective: UnitObjective


@dataclass(frozen=True)
class DelayCurve:
    """Delay of every size of coding unit.

    Attributes
    ----------
    k : ndarray of int64
        Source packets 1, 2, ..., packets, shape (K,).
    r : ndarray of int64
        Repair packets of each k, packets, shape (..., K).
    delay_s : ndarray
        Mean window delay, s, shape (..., K); inf beyond a point's own `max_k`.
    """

    k: IntArray
    r: IntArray
    delay_s: FloatArray


@overload
def optimal_coding_unit(
    window_packets: float,
    *,
    blocking_prob: float | None = ...,
    rtt_short_s: float | None = ...,
    rtt_long_s: float | None = ...,
    packet_bytes: float | None = ...,
    rate_bps: float | None = ...,
    objective: UnitObjective = ...,
    whole_units: bool = ...,
    max_k: float | None = ...,
    losses: PathLosses | None = ...,
    failure_prob: float | None = ...,
) -> OptimalUnit[int, float]: ...
@overload
def optimal_coding_unit(
    window_packets: ArrayLike,
    *,
    blocking_prob: ArrayLike | None = ...,
    rtt_short_s: ArrayLike | None = ...,
    rtt_long_s: ArrayLike | None = ...,
    packet_bytes: ArrayLike | None = ...,
    rate_bps: ArrayLike | None = ...,
    objective: UnitObjective = ...,
    whole_units: bool = ...,
    max_k: ArrayLike | None = ...,
    losses: PathLosses | None = ...,
    failure_prob: float | None = ...,
) -> OptimalUnit[IntArray, FloatArray]: ...
@closed_form
def optimal_coding_unit(
    window_packets: ArrayLike,
    *,
    blocking_prob: ArrayLike | None = None,
    rtt_short_s: ArrayLike | None = None,
    rtt_long_s: ArrayLike | None = None,
    packet_bytes: ArrayLike | None = None,
    rate_bps: ArrayLike | None = None,
    objective: UnitObjective = DEFAULT_OBJECTIVE,
    whole_units: bool = False,
    max_k: ArrayLike | None = None,
    losses: PathLosses | None = None,
    failure_prob: float | None = None,
) -> OptimalUnit[int | IntArray, FloatOrArray]:
    r"""Return the coding unit with the least mean delay of a congestion window, or with the least overhead.

    Parameters
    ----------
    window_packets, blocking_prob, rtt_short_s, rtt_long_s, packet_bytes, rate_bps : array_like
        As in :func:`capsmodel.coding.window_delay.window_delay_s`. For ``"overhead"`` the last four may be left out.
    objective : {"with_redundancy_cost", "eq4", "overhead"}
        What to minimise: the delay over k and r with the cost of repair packets; the delay over k with r from the
        ceiling rule; or the share r/n of repair packets among all units that fail with at most `failure_prob`.
    whole_units : bool
        Round w/k up to whole units; the paper does not.
    max_k : array_like, optional
        Largest k to consider, packets, whole, at least 1; the window when not given, and with the cost at most that.
    losses : PathLosses, optional
        Losses over unequal paths in place of `blocking_prob`; then all other arguments are numbers.
    failure_prob : float, optional
        Largest probability that a unit fails, in (0, 1), for ``"overhead"`` and only then.

    Returns
    -------
    OptimalUnit
        k, r, both delays, the k within 1% of the least delay, p_S; each broadcast over all array arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range, RTT_L is below RTT_S or the objective is unknown.

    Notes
    -----
    All k (and r, see :mod:`capsmodel.coding._unit_search` for the proof that none is missed) are compared; of equal
    delays the smallest k wins.

    *Why the default is not Eq. 4.* The window is complete only after the bottleneck has also sent its r w/k repair
    packets, which takes (r w/k) MSS/C: 0.2 ms at the minimum of Eq. 4 for p = 0.2, twice RTT_S. Eq. 4 leaves that time
    out. It prescribes r by the ceiling rule, for which p_S tends to 1/2 whatever k; all that is left to reward is to
    have few units, so its least delay lies at the window or above (k = 101 to 110 if k may exceed w = 64), against the
    paper's own finding that large units are bad. With the cost, k and r have an interior optimum, p_S there is near
    0.99, and the paper's printed k are within 0.25% of the least delay. The optimum is flat: any k from `near_k_min` to
    `near_k_max` with its best r (:func:`delay_curve`) will do, except where the curve, a sawtooth, has local maxima
    in between.

    References
    ----------
    caps u (VI-C) optimum of Eq. 4; the cost term is not in the paper.

    Examples
    --------
    >>> fabric = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
    >>> best = optimal_coding_unit(64, blocking_prob=[0.2, 0.25, 0.3, 0.35], **fabric)
    >>> best.k.tolist(), best.r.tolist(), best.near_k_min.tolist(), best.near_k_max.tolist()
    ([28, 31, 32, 35], [15, 20, 25, 32], [22, 24, 27, 28], [34, 37, 41, 45])
    >>> optimal_coding_unit(64, blocking_prob=[0.2, 0.25, 0.3, 0.35], objective="eq4", **fabric).k.tolist()
    [61, 64, 61, 64]

    Of 40 paths 8 are blocked, so that p_B is 0.2 too, but packets take the paths in turn:

    >>> in_turn = PathLosses([0.0] * 40, spread="in-turn", down_paths=8)
    >>> best = optimal_coding_unit(64, losses=in_turn, **fabric)
    >>> best.k, best.r, best.failure_prob, round(best.delay_s * 1e6, 9)
    (32, 8, 0.0, 478.0)

    Fewest repair packets for one failure in a million:

    >>> best = optimal_coding_unit(128, blocking_prob=0.01, objective="overhead", failure_prob=1e-6)
    >>> best.k, best.r
    (122, 9)
    """
    choice("objective", objective, get_args(UnitObjective))
    one_of("blocking_prob", blocking_prob, "losses", losses)
    by_overhead = objective == "overhead"
    require(
        by_overhead == (failure_prob is not None), 'failure_prob goes with objective = "overhead": give both or neither'
    )
    setting: dict[str, Any] = {
        "rtt_short_s": rtt_short_s,
        "rtt_long_s": rtt_long_s,
        "packet_bytes": packet_bytes,
        "rate_bps": rate_bps,
        "whole_units": whole_units,
        "max_k": max_k,
    }
    if losses is not None or by_overhead:
        given = as_losses(blocking_prob) if losses is None else as_losses(losses)
        if by_overhead or given.equal_loss is None:
            return _over_paths(window_packets, given, objective, failure_prob, setting)
        blocking_prob = given.equal_loss
    setting |= {"blocking_prob": blocking_prob, "objective": objective}
    parameters = UnitParameters.checked(window_packets, **setting)
    prob = parameters.blocking_prob
    k, r, near_min, near_max = best_sizes(parameters, near=_NEAR).reshape(4, *prob.shape)
    log_decode_prob, log_failure_prob = log_tails(k, r, prob)

    return OptimalUnit(
        k=plain_count(k),
        r=plain_count(r),
        delay_s=plain(parameters.delay_s(k, r=r, log_decode_prob=log_decode_prob)),
        uncoded_delay_s=plain(parameters.uncoded_delay_s()),
        near_k_min=plain_count(near_min),
        near_k_max=plain_count(near_max),
        decode_prob=plain(np.exp(log_decode_prob)),
        failure_prob=plain(np.exp(log_failure_prob)),
        objective=objective,
    )


def _over_paths(
    window_packets: ArrayLike,
    losses: PathLosses,
    objective: UnitObjective,
    failure_prob: float | None,
    setting: dict[str, Any],
) -> OptimalUnit[int, float]:
    """Return the best unit of one window over unequal paths."""
    timeless = objective == "overhead" and all(setting[name] is None for name in _TIMES)
    times = dict.fromkeys(_TIMES, 1.0) if timeless else {}
    form = DEFAULT_OBJECTIVE if objective == "overhead" else objective
    point = {"blocking_prob": losses.mean_loss, "objective": form} | setting | times
    parameters = UnitParameters.checked(window_packets, **point)
    require_one_point(parameters)
    if objective == "overhead":
        limit, most = failure_target(failure_prob or 0.0), int(parameters.max_k)
        best = least_overhead(losses, failure_prob=limit, max_k=most, near=_NEAR)
    else:
        best = least_delay(parameters, losses, near=_NEAR)
    window = max(1, int(parameters.window_packets))
    log_decode_prob, log_uncoded = (
        log_decoded(np.asarray(p)) for p in (best.failure_prob, unit_failure_prob(window, r=0, losses=losses))
    )
    delay_s = parameters.delay_s(float(best.k), r=np.asarray(float(best.r)), log_decode_prob=log_decode_prob)
    uncoded_s = mean_of_two(log_uncoded, parameters.rtt_short_s, parameters.rtt_long_s)
    return OptimalUnit(
        k=best.k,
        r=best.r,
        delay_s=nan if timeless else float(delay_s),
        uncoded_delay_s=nan if timeless else float(uncoded_s),
        near_k_min=best.near_k_min,
        near_k_max=best.near_k_max,
        decode_prob=1 - best.failure_prob,
        failure_prob=best.failure_prob,
        objective=objective,
    )


@closed_form
def delay_curve(
    window_packets: ArrayLike,
    *,
    blocking_prob: ArrayLike,
    rtt_short_s: ArrayLike,
    rtt_long_s: ArrayLike,
    packet_bytes: ArrayLike,
    rate_bps: ArrayLike,
    objective: Objective = DEFAULT_OBJECTIVE,
    whole_units: bool = False,
    max_k: ArrayLike | None = None,
) -> DelayCurve:
    r"""Return the mean delay of a congestion window, in seconds, for every coding unit from one packet to `max_k`.

    Parameters
    ----------
    window_packets, blocking_prob, rtt_short_s, rtt_long_s, packet_bytes, rate_bps : array_like
        As in :func:`capsmodel.coding.window_delay.window_delay_s`.
    objective, whole_units, max_k
        As in :func:`optimal_coding_unit`, with r the best for each k, or by the ceiling rule for ``"eq4"``.

    Returns
    -------
    DelayCurve
        k of shape (K,), r and delays of the broadcast shape with an axis of length K (the largest `max_k`) appended.

    Raises
    ------
    ParameterError
        As :func:`optimal_coding_unit`, and if there is no point at all.

    Notes
    -----
    The delay of :func:`capsmodel.coding.window_delay.window_delay_s` at each k. With the ceiling rule the curve is a
    sawtooth: rounding up helps some k most.

    References
    ----------
    caps Eq. 4, Fig. 8(b).

    Examples
    --------
    >>> fabric = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
    >>> curve = delay_curve(64, blocking_prob=0.2, **fabric)
    >>> curve.delay_s.shape, int(curve.k[curve.delay_s.argmin()]), round(float(curve.delay_s.min()) * 1e3, 4)
    ((64,), 28, 0.7155)
    """
    parameters = UnitParameters.checked(
        window_packets,
        blocking_prob=blocking_prob,
        rtt_short_s=rtt_short_s,
        rtt_long_s=rtt_long_s,
        packet_bytes=packet_bytes,
        rate_bps=rate_bps,
        objective=objective,
        whole_units=whole_units,
        max_k=max_k,
    )
    shape = parameters.blocking_prob.shape
    require(0 not in shape, "delay_curve was given an empty array: a curve needs at least one parameter point")
    largest = np.max(parameters.max_k)
    fit = min(MOST_CURVE_SIZES, _MOST_CURVE_DELAYS // parameters.max_k.size)
    require(
        largest <= fit, f"a curve of {largest:g} sizes of unit at each point was asked for, but {fit} fit: lower max_k"
    )
    flat = parameters.flat()
    ranking, r = delay_table(flat)
    k = np.arange(1.0, len(r) + 1)
    # The table ranks; the delays shown are evaluated from r anew.
    exact = flat.delay_s(k[:, None], r=r, log_decode_prob=log_tails(k[:, None], r, flat.blocking_prob)[0])
    exact = np.where(np.isinf(ranking), np.inf, exact)
    shape = (*shape, k.size)
    return DelayCurve(k=k.astype(np.int64), r=r.T.reshape(shape).astype(np.int64), delay_s=exact.T.reshape(shape))
