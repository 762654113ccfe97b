"""Shared by completion times of short and of long flows: waits at one queue, by rounds."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    choice,
    one_number,
    plain,
    positive,
    probability,
    whole,
)
from capsmodel.fct.replication import replicated_load, short_byte_share
from capsmodel.queueing.mg1 import effective_bandwidth_wait_quantile, mg1_mean_wait, mg1_wait_quantile
from capsmodel.queueing.service import Deterministic
from capsmodel.workloads.catalogue import PacketSizes

TailModel = Literal["effective_bandwidth", "exact"]


def completion_time(
    load: FloatArray,
    burst_packets: float,
    mean_rounds: float,
    tail_rounds: float = 0.0,
    quantile: float = 0.0,
    tail: TailModel = "effective_bandwidth",
) -> FloatOrArray:
    """Return 1, so many rounds at the mean wait, and so many at its quantile; infinite where a queue is unstable."""
    choice("tail", tail, get_args(TailModel))
    burst = one_number(positive, "burst_packets", burst_packets)
    quantile = one_number(probability, "quantile", quantile)
    stable = np.where(load < 1, load, 0.0)
    moments = {"mean_service": burst, "second_moment_service": burst**2}
    if tail == "exact":
        longest = mg1_wait_quantile(quantile, load=stable, service=Deterministic(burst))
    else:
        longest = effective_bandwidth_wait_quantile(quantile, load=stable, **moments)
    fct = mg1_mean_wait(stable, **moments) * mean_rounds + longest * tail_rounds + 1
    # Fractional rounds may be fewer than the one whose quantile is taken; no flow is faster than without contention.
    return plain(np.where(load < 1, np.maximum(fct, 1), np.inf))


def queue_loads(
    load: ArrayLike, sizes: PacketSizes, short: float, replicas: int, share: float | None
) -> tuple[FloatArray, FloatArray]:
    """Load of each queue, and of the virtual queue of short flows (RepFlow's n = 2, and 1 for no replication)."""
    epsilon = short_byte_share(sizes, short_packets=short) if share is None else share
    each = np.asarray(replicated_load(load, short_byte_share=epsilon, replicas=replicas))
    return each, each ** one_number(whole, "replicas", replicas, minimum=1)
