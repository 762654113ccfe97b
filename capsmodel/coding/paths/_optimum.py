"""The best coding unit over unequal paths, by any objective, from one table of P(L_n > r).

The proof by which :mod:`capsmodel.coding._unit_search` looks at few sizes needs equal, independent losses; here all k
and r that can be best are compared. A unit of k packets in w/k units takes at least RTT_S and the time to send its
repair packets, so that no r is better from the one on for which this exceeds the least delay known for k.
"""

from typing import NamedTuple

import numpy as np

from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.coding._unit_search import ceiling_rule
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.paths.unit_choice import repair_of_sizes
from capsmodel.coding.unit_parameters import UnitParameters


class BestUnit(NamedTuple):
    """k and r, sizes within a share of the best, and how often the unit fails."""

    k: int
    r: int
    near_k_min: int
    near_k_max: int
    failure_prob: float


def _best(value: FloatArray, r: IntArray, near: float) -> tuple[int, int, int, int]:
    """Return the unit of least value, of those of k = 1, 2, ... packets, and the sizes near it."""
    at = int(value.argmin())
    close = np.flatnonzero(value <= (1 + near) * value[at]) + 1
    return at + 1, int(r[at]), int(close[0]), int(close[-1])


def log_decoded(failure: FloatArray) -> FloatArray:
    """Return log(1 - failure), -inf for units that never decode."""
    logs = np.full(np.shape(failure), -np.inf)
    return np.asarray(np.log1p(-np.asarray(failure), out=logs, where=np.asarray(failure) < 1))


def least_delay(parameters: UnitParameters, losses: PathLosses, *, near: float) -> BestUnit:
    """Return the unit of least delay; `parameters` are one point."""
    k = np.arange(1.0, float(parameters.max_k) + 1)
    if not parameters.repair_costs:
        r = ceiling_rule(k, np.asarray(losses.mean_loss)).astype(np.int64)
        table = losses.failure_table(len(k) + int(r.max()), int(r.max()))
        failure = table[k.astype(np.int64) + r, r]
        delays = parameters.delay_s(k, r=r.astype(float), log_decode_prob=log_decoded(failure))
        best = _best(delays, r, near)
        return BestUnit(*best, float(failure[best[0] - 1]))
    width = 8 + round(2 * len(k) * losses.mean_loss)
    while True:
        table = losses.failure_table(len(k) + width, width)
        repair = np.arange(width + 1)
        failure = table[k.astype(np.int64)[:, None] + repair, repair]
        log_decode_prob = log_decoded(failure)
        delays = parameters.delay_s(k[:, None], r=repair.astype(float), log_decode_prob=log_decode_prob)
        r, least = delays.argmin(axis=1), delays.min(axis=1)
        worth = np.max((least - parameters.rtt_short_s) / (parameters.units(k) * parameters.packet_s))
        if worth <= width:
            best = _best(least, r, near)
            return BestUnit(*best, float(failure[best[0] - 1, best[1]]))
        width = int(min(2 * width, np.ceil(worth)))


def least_overhead(losses: PathLosses, *, failure_prob: float, max_k: int, near: float) -> BestUnit:
    """Return the unit with the least share of repair packets that fails with at most `failure_prob`."""
    sizes = repair_of_sizes(losses, failure_prob=failure_prob, max_k=max_k)
    share = sizes.r / (np.arange(1, len(sizes.r) + 1) + sizes.r)
    best = _best(share, sizes.r, near)
    mean, worst = sizes.fails(np.array([best[0]]))
    return BestUnit(*best, float((worst if losses.first_path == "worst" else mean)[0]))


def require_one_point(parameters: UnitParameters) -> None:
    """Refuse arrays: losses over paths are computed for one point at a time."""
    shape = parameters.blocking_prob.shape
    require(not shape, f"parameters of shape {shape} with losses: give numbers, one point at a time")
