r"""Flows around those of a Poisson process that count, drawn so that these meet the steady state of its load.

An empty network fills as slowly as its largest flow lasts: a run of 1000 flows whose sizes have a heavy tail never
reaches its load (:mod:`capsmodel.queueing.settling`). These flows are added, which no result counts:

============ ============================================================== ===========================================
Flows        When                                                           Sizes
============ ============================================================== ===========================================
in progress  at the beginning, a Poisson number of mean                     what is left of them
             :math:`\rho Ns`                                                (:meth:`.SizeDistribution.sample_residual`)
before       a tenth of the time of the counted arrivals, in which windows  as those that count
             and queues settle
after        until all counted flows are complete, when the run ends        as those that count
============ ============================================================== ===========================================

N hosts, ρ the load of this process on their links, and the slowdown :math:`s=(1+\rho_t)/(1-\rho_t)` of two links that
share their rates, with the load ρ_t of all Poisson processes of the run
(:func:`capsmodel.queueing.settling.mean_slowdown`), or another s that is given. A transport that keeps its flows
longer than sharing does begins with too few. So do paths chosen by a hash, and fabrics whose inner links have more load
than those of hosts: ρ is that of hosts. How far below it began, a run finds by itself, from how long its flows lasted
(`settled_start`, :mod:`capsim.results.load_record`), and says so below 0.9. 48 runs of 1000 counted flows over 16 long
ones, which count 8000, with Facebook's Hadoop between two leaves at load 0.6; the standard errors of the ratios are
0.02 to 0.05:

=============================================== =============== =========== ============ =============
Setting, at 10 Gbps but for the first           `settled_start` In progress Short flows: Long flows:
                                                                            mean wait    mean slowdown
=============================================== =============== =========== ============ =============
Ultra Ethernet, sprayed, 100 Gbps               0.94            0.89        0.95         0.95
DCTCP, sprayed                                  0.84            0.81        0.97         0.91
DCTCP, hashed                                   0.82            0.80        0.94         0.90
DCTCP, sprayed, 2:1, load of the uplinks        0.88            0.85        0.93         0.91
DCTCP, hashed, 2:1, load of the uplinks         0.82            0.82        0.95         0.92
CDCPS, sprayed                                  0.25            0.38        0.77         0.68
=============================================== =============== =========== ============ =============

A cold start of 1000 flows has 0.61 and 0.65 of the wait and of the slowdown in the first row. Under CDCPS the long runs
still grow: they too are below a steady state. Where this matters, give the slowdown that the run has found: with 5.8
DCTCP, hashed, has 1.00 of its flows in progress, 1.01 of the wait and 1.03 of the slowdown. Or count more flows: from a
steady start a run goes on to settle.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capsmodel.checks import require
from capsmodel.queueing.settling import in_progress, mean_slowdown
from capsmodel.units import BITS_PER_BYTE
from capsmodel.workloads.sizes import SizeDistribution

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEAD = 0.1
"""Time of the arrivals before the counted ones, as a share of theirs."""
_TAIL = 4.0  # expected completion times of a counted flow for which arrivals are drawn; the run ends before


@dataclass(frozen=True)
class Surroundings:
    """Flows that are not counted, by their starts, and when the counted ones begin.

    Attributes
    ----------
    start_s : ndarray of float
        When they start, in seconds from the beginning.
    flow_bytes, whole_bytes : ndarray of int
        What they send, and how large they are: more where only a part is left.
    lead_s : float
        By how much later the counted flows start.
    """

    start_s: Floats
    flow_bytes: Ints
    whole_bytes: Ints
    lead_s: float


@dataclass(frozen=True)
class SteadyLoad:
    """What a steady start rests on.

    Attributes
    ----------
    flows_per_s : float
        Arrival rate of the process.
    load : float
        Load of all processes on the links of hosts.
    rate_bps : float
        Rate of a host, in bits per second.
    slowdown : float, optional
        How many times as long as alone flows last, weighted by their sizes; that of two links that share their rates at
        this load when left out.
    """

    flows_per_s: float
    load: float
    rate_bps: float
    slowdown: float | None = None

    @property
    def kept(self) -> float:
        """Return how many times as long as alone flows last."""
        return mean_slowdown(self.load) if self.slowdown is None else self.slowdown

    def in_progress(self, sizes: SizeDistribution) -> float:
        """Return the mean number of flows in progress: arrival rate times mean completion time (Little's law)."""
        rule = "there is no steady state: lower the load, or give traffic.start=empty"
        require(self.load < 1, f"a steady start, but the links of hosts are asked for {self.load:.2f}: {rule}")
        carried = self.flows_per_s * BITS_PER_BYTE * sizes.expectation(lambda x: x) / self.rate_bps
        return in_progress(carried, slowdown=self.kept)

    def longest_s(self, start_s: Floats, flow_bytes: Ints) -> float:
        """Return until when counted flows may last, in seconds from the beginning."""
        return float(np.max(start_s + _TAIL * self._fct_s(flow_bytes), initial=0.0))

    def flows(self, sizes: SizeDistribution, start_s: Floats, flow_bytes: Ints) -> float:
        """Return about how many flows run in all where these count: with those around them, until these have ended."""
        last_s = float(np.max(start_s, initial=0.0))
        end_s = float(np.max(start_s + self._fct_s(flow_bytes), initial=0.0))
        return self.in_progress(sizes) + len(start_s) + self.flows_per_s * (LEAD * last_s + end_s - last_s)

    def _fct_s(self, flow_bytes: npt.ArrayLike) -> Floats:
        alone_s: Floats = BITS_PER_BYTE * np.asarray(flow_bytes, np.float64) / self.rate_bps
        return alone_s * self.kept


def surroundings(
    sizes: SizeDistribution,
    counted: tuple[Floats, Ints],
    load: SteadyLoad,
    *,
    cool_down_s: float | None,
    rng: np.random.Generator,
) -> Surroundings:
    """Draw the flows around the counted ones.

    Parameters
    ----------
    sizes : SizeDistribution
        Flow sizes, in bytes.
    counted : (ndarray of float, ndarray of int)
        When the counted flows start, in seconds from the first possible one, and their sizes.
    load : SteadyLoad
        Rates of arrivals and of links.
    cool_down_s : float, optional
        For how long arrivals go on after the last counted one, in seconds; when left out as long as four times the
        expected time of the counted flow that lasts longest.
    rng : Generator
        Source of randomness.

    Raises
    ------
    ParameterError
        If the load is 1 or more.
    """
    left, whole = sizes.sample_residual(int(rng.poisson(load.in_progress(sizes))), rng=rng)
    time_s, flow_bytes = counted
    last_s = float(np.max(time_s, initial=0.0))
    lead_s = LEAD * last_s
    longest_s = load.longest_s(time_s, flow_bytes) if cool_down_s is None else last_s + cool_down_s
    before_s = _arrivals(load.flows_per_s, 0.0, lead_s, rng)
    after_s = _arrivals(load.flows_per_s, lead_s + last_s, lead_s + max(longest_s, last_s), rng)
    arrived = sizes.sample(len(before_s) + len(after_s), rng=rng, whole=True)
    return Surroundings(
        start_s=np.concatenate([np.zeros(len(left)), before_s, after_s]),
        flow_bytes=np.concatenate([left, arrived]),
        whole_bytes=np.concatenate([whole, arrived]),
        lead_s=lead_s,
    )


def _arrivals(flows_per_s: float, from_s: float, to_s: float, rng: np.random.Generator) -> Floats:
    times_s: Floats = np.sort(rng.uniform(from_s, to_s, rng.poisson(flows_per_s * (to_s - from_s))))
    return times_s
