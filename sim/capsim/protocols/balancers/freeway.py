"""Freeway (Wang et al. 2014), reconstructed: some paths to a leaf are for short flows, the others for long ones.

Each flow keeps one path. Short flows are hashed over the first n_L paths, so many that their packets are in time; a
long flow goes to the other path with the fewest long flows. Without long flows all paths are for short ones: ECMP.

The publication has an M/G/1 model of the delay and asks that 99 % of short flows meet a deadline. Its periods and
thresholds are not public, nor is what its controller measures. **Here each switch decides, by a reconstruction:** once
a period it takes the bytes of short flows that it has sent to a leaf, and n_L becomes one more if the waits of an
M/D/1 queue at the load of n_L paths, taken as exponential, exceed the deadline too often, and one less if they would
not at n_L - 1.

====================================== ============ ===============================
Quantity                               Symbol       Name
====================================== ============ ===============================
paths for short flows                  n_L          ``own.towards.n_low``
bytes of short flows in the period                  ``own.towards.short_bytes``
long flows on a path, this period and               ``own.paths[i].now``, ``.before``
the one before
====================================== ============ ===============================
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.clock import PS_PER_S
from capsim.base.inlined import inlined
from capsim.protocols.balancers.caps import LongFrom, goes_back, is_long
from capsim.protocols.balancers.ecmp import hashed
from capsim.records import NONE
from capsim.roles.components import Balancer

PORT_BITS = 8.0 * PS_PER_S


@dataclass(frozen=True, kw_only=True)
class FreewayParams:
    """Parameters of Freeway; all of them are of this reconstruction.

    Parameters
    ----------
    period_s : float
        How often the paths are divided anew, in seconds.
    deadline_s : float
        Longest wait of a short flow's packet at a port, in seconds.
    deadline_waits : float
        How many mean waits the deadline must have: ln 100, so that 99 % of exponential waits are shorter.
    packet_bytes : int
        Packet of the queueing model, in bytes.
    threshold_bytes : int
        Bytes from which a flow is long, for ``long_from = "threshold"``.
    long_from : LongFrom
        Whether sizes are known (``"start"``), as in the papers that compare with Freeway, or bytes are counted.
    """

    period_s: Annotated[float, bounds.PERIOD_S] = 10e-3
    deadline_s: Annotated[float, bounds.PERIOD_S] = 100e-6
    deadline_waits: Annotated[float, bounds.FACTOR] = 4.605170186
    packet_bytes: Annotated[int, bounds.PACKET_BYTES] = 1500
    threshold_bytes: Annotated[int, bounds.THRESHOLD_BYTES] = 100_000
    long_from: LongFrom = LongFrom.START

    @property
    def needs_sizes(self) -> bool:
        """Whether sizes of flows must be known."""
        return self.long_from == LongFrom.START


@inlined
def in_time(params: Any, short_bytes: int, n_low: int, rate_bps: int) -> bool:
    """Return whether short flows that sent so much in a period meet the deadline on `n_low` paths."""
    bits_ps = float(n_low) * float(rate_bps)
    load = float(short_bytes) * PORT_BITS / (bits_ps * float(params.period_ps))
    if load >= 1.0:
        return False
    wait_ps = float(params.packet_bytes) * PORT_BITS / float(rate_bps) * load / (2.0 * (1.0 - load))
    return wait_ps * params.deadline_waits <= float(params.deadline_ps)


@inlined
def divided(params: Any, short_bytes: int, n_low: int, n_paths: int, rate_bps: int) -> int:
    """Return how many paths are for short flows in the next period."""
    if not in_time(params, short_bytes, n_low, rate_bps):
        return min(n_low + 1, n_paths - 1)
    if n_low > 1 and in_time(params, short_bytes, n_low - 1, rate_bps):
        return n_low - 1
    return min(n_low, n_paths - 1)


@inlined
def begin_period(params: Any, towards: Any, paths: Any, n_paths: int, rate_bps: int, now_ps: int) -> None:
    """Divide the paths anew if a period has begun; what came before a period without packets is forgotten."""
    period = now_ps // params.period_ps
    if period == towards.period:
        return
    last = period == towards.period + 1
    towards.period = period
    towards.n_low = divided(params, towards.short_bytes if last else 0, towards.n_low, n_paths, rate_bps)
    towards.long_before = towards.long_now if last else 0
    towards.short_bytes = 0
    towards.long_now = 0
    for path in range(n_paths):
        paths[path].before = paths[path].now if last else 0
        paths[path].now = 0


@inlined
def long_path(towards: Any, paths: Any, flow: Any, n_paths: int) -> int:
    """Return the path of a long flow: its own, as long as it is one for long flows, else that with the fewest."""
    path = int(flow.path)
    if not towards.n_low <= path < n_paths:
        path = int(towards.n_low)
        for other in range(towards.n_low + 1, n_paths):
            if max(paths[other].now, paths[other].before) < max(paths[path].now, paths[path].before):
                path = other
        flow.path = path
        flow.period = NONE
    if flow.period != towards.period:
        flow.period = towards.period
        paths[path].now += 1
    return path


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the path of a long flow, or the hashed one of a short flow or an acknowledgement."""
    towards, n_paths = own.towards, len(candidates)
    begin_period(params, towards, own.paths, n_paths, ports[candidates[0]].rate_bps, now_ps)
    if is_long(params, own.subflow, switch, sub, packet) and not goes_back(packet):
        towards.long_now = 1
        return long_path(towards, own.paths, own.passing, n_paths)
    towards.short_bytes += packet.bytes
    divide = towards.long_now or towards.long_before
    return hashed(switch, packet, min(towards.n_low, n_paths - 1) if divide else n_paths)


FREEWAY = Balancer(
    name="freeway",
    choose=choose,
    params=FreewayParams(),
    memory={
        "towards": (
            *(("period", "i8"), ("n_low", "i8", 1), ("short_bytes", "i8")),
            *(("long_now", "i8"), ("long_before", "i8")),
        ),
        "path": (("now", "i8"), ("before", "i8")),
        "passing": (("path", "i8", NONE), ("period", "i8", NONE)),
        "subflow": (("bytes", "i8"),),
    },
    reads_queues=False,
)
