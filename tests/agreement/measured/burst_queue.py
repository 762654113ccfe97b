"""RepFlow's queue by Lindley's recursion: Poisson bursts of one size at one queue, and the shorter of two such waits.

==================================== =============== ========================= ========= ===================
Quantity                             Symbol          Column                    Unit      Equation
==================================== =============== ========================= ========= ===================
wait of a burst                      W               `wait_packets`            packets   repflow Eq. 4
its square                           W²              `wait_packets2`           packets²  Takács
flow of one round                    1 + W/X         `slowdown`                1         repflow Eq. 5
flow of three rounds                 1 + ΣW/X        `rounds_slowdown`         1         repflow Eq. 3
it lasts longer than Eq. 11          --              `beyond_printed_prob`     1         repflow Eq. 11
shorter of two waits                 min(W, W')      `shorter_wait_packets`    packets   repflow Eq. 6
both queues are busy                 --              `both_busy_prob`          1         repflow u (IV-B)
==================================== =============== ========================= ========= ===================

The other columns are the same for the shorter wait and for the exact quantile. One packet takes one unit of time.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from capsmodel.checks import generator
from capsmodel.experiments.measurement import measurement
from capsmodel.fct.completion import tail_fct
from capsmodel.fct.slow_start import BURST_PACKETS, WINDOW_PACKETS
from capsmodel.papers.measurements.means import batch_columns
from capsmodel.workloads.catalogue import PacketSizes

__all__ = ["THREE_ROUNDS_PACKETS", "burst_queue", "burst_waits"]

THREE_ROUNDS_PACKETS = 7 * WINDOW_PACKETS  # 12 + 24 + 48
_WARM_UP = 0.1


def burst_waits(load: float, *, bursts: int, rng: np.random.Generator | int | None = None) -> npt.NDArray[np.float64]:
    """Return successive waits of Poisson bursts of M = 44 packets at one queue, in packet times, shape (bursts,).

    Parameters
    ----------
    load : float
        Share of time that the queue sends, in (0, 1).
    bursts : int
        Number of bursts; the first finds the queue empty.
    rng : Generator or int, optional
        Source of randomness.

    Notes
    -----
    Lindley's W' = max(W + M - T, 0), T exponential with mean M/ρ, is a random walk minus its lowest point so far.

    Examples
    --------
    >>> float(burst_waits(0.5, bursts=100_000, rng=1).mean().round())  # ρM/(2(1-ρ)) = 22
    22.0
    """
    between = generator(rng).exponential(BURST_PACKETS / load, bursts - 1)
    walk = np.concatenate([[0.0], np.cumsum(BURST_PACKETS - between)])
    return np.asarray(walk - np.minimum.accumulate(walk))


@measurement("burst-queue", revision=1)
def burst_queue(load: float, *, bursts: int, seed: int) -> dict[str, float]:
    """Measure RepFlow's short flows of one round, with one and with two copies, at queues of bursts.

    Parameters
    ----------
    load : float
        Load of each queue, in (0, 1); the copies of short flows do not add to it.
    bursts : int
        Bursts at each of two queues; the first tenth is warm-up.
    seed : int
        Seed of the run.

    Returns
    -------
    dict
        The columns above, by :func:`~capsmodel.papers.measurements.means.batch_columns`.

    Notes
    -----
    A flow of three rounds, 84 packets, adds waits that are a third of the run apart, as the model takes them to be
    independent. Thresholds are :func:`capsmodel.fct.completion.tail_fct` with the printed and with the exact quantile.

    Examples
    --------
    >>> found = burst_queue(0.5, bursts=100_000, seed=1)
    >>> round(found["both_busy_prob"], 2), round(found["beyond_exact_prob"], 2), round(found["beyond_printed_prob"], 2)
    (0.25, 0.01, 0.04)
    """
    start = int(_WARM_UP * bursts)
    wait, other = (burst_waits(load, bursts=bursts, rng=np.random.default_rng([seed, i]))[start:] for i in range(2))
    shorter = np.minimum(wait, other)
    # Thirds of the run, not a rotated run: with repeated batches the estimated error would be too small.
    rounds = wait[: len(wait) // 3 * 3].reshape(3, -1).sum(axis=0)
    once, twice = 1 + wait / WINDOW_PACKETS, 1 + shorter / WINDOW_PACKETS
    flow: dict[str, Any] = {"sizes": PacketSizes.fixed(WINDOW_PACKETS)}
    pair = flow | {"replicas": 2, "short_byte_share": 0.0}
    return batch_columns(
        wait_packets=wait,
        wait_packets2=wait**2,
        slowdown=once,
        rounds_slowdown=1 + rounds / THREE_ROUNDS_PACKETS,
        beyond_printed_prob=once > tail_fct(load, **flow),
        beyond_exact_prob=once > tail_fct(load, **flow, tail="exact"),
        both_busy_prob=shorter > 0,
        shorter_wait_packets=shorter,
        shorter_slowdown=twice,
        shorter_beyond_printed_prob=twice > tail_fct(load, **pair),
        shorter_beyond_exact_prob=twice > tail_fct(load, **pair, tail="exact"),
    )
