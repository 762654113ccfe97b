r"""Completion time of each flow alone in the fabric: what a slowdown is measured against.

===================== ========= ================ ======
Quantity              Symbol    Name             Unit
===================== ========= ================ ======
ideal completion time :math:`T_0` ``ideal_fct_s``  second
===================== ========= ================ ======
"""

import numpy as np
import numpy.typing as npt

from capsim.clock import MAX_PS, PS_PER_S, serialisation_ps
from capsim.fabric.flows import FlowList
from capsim.fabric.topology import Fabric

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Way = tuple[tuple[int, ...], int]  # rates of the links in order, sum of their delays


def ideal_fct_s(
    flows: FlowList, fabric: Fabric, *, mss_bytes: int, header_bytes: int = 0, link_bytes: int = 0
) -> Floats:
    """Return over flows the least completion time on an idle, intact fabric, in seconds.

    Parameters
    ----------
    flows : FlowList
        The flows.
    fabric : Fabric
        Links may differ in rate and delay; a flow takes the best of its shortest paths, all packets the same.
    mss_bytes, header_bytes, link_bytes : int
        Payload of a full packet, its headers, and what a link adds, in bytes.

    Returns
    -------
    ndarray
        From the first bit sent to the last bit received; no handshake, no window. With equal rates it is
        :func:`capsmodel.metrics.ideal_fct_s`.
    """
    ends = np.column_stack([flows.src, flows.dst])
    pairs, pair_of_flow = np.unique(ends, axis=0, return_inverse=True)
    inner: dict[tuple[int, int], set[Way]] = {}
    ways = [_ways(fabric, int(src), int(dst), inner) for src, dst in pairs]
    best_ps = np.full(len(flows.src), MAX_PS)
    pair_of_flow = pair_of_flow.ravel()
    for way in set().union(*ways):
        mine = np.array([way in choices for choices in ways])[pair_of_flow]
        time_ps = _alone_ps(flows.flow_bytes[mine], way, mss_bytes=mss_bytes, extra_bytes=header_bytes + link_bytes)
        best_ps[mine] = np.minimum(best_ps[mine], time_ps)
    return best_ps / PS_PER_S


def _ways(fabric: Fabric, src: int, dst: int, inner: dict[tuple[int, int], set[Way]]) -> set[Way]:
    """Return the distinct (rates, delay) of the paths; what lies between two leaves is searched once."""
    leaves = int(fabric.leaf_of_host[src]), int(fabric.leaf_of_host[dst])
    down = int(fabric.routes.ports(leaves[1], dst)[0])
    if leaves not in inner:
        inner[leaves] = {_way(fabric, path[1:-1]) for path in fabric.paths(src, dst)}
    first, last = _way(fabric, (int(fabric.host_port[src]),)), _way(fabric, (down,))
    return {((*first[0], *rates, *last[0]), first[1] + delay + last[1]) for rates, delay in inner[leaves]}


def _way(fabric: Fabric, ports: tuple[int, ...]) -> Way:
    return tuple(int(fabric.rate_bps[port]) for port in ports), sum(int(fabric.delay_ps[port]) for port in ports)


def _alone_ps(flow_bytes: Ints, way: Way, *, mss_bytes: int, extra_bytes: int) -> Ints:
    """Store and forward, hop by hop: when the last full packet and the last packet have been sent at each hop."""
    rates, delay_ps = way
    full_packets = -(-flow_bytes // mss_bytes) - 1
    last_bytes = flow_bytes - full_packets * mss_bytes + extra_bytes
    last_ps = np.zeros(len(flow_bytes), np.int64)
    first_full_ps, slowest_ps = 0, 0
    for rate_bps in rates:
        one_ps = serialisation_ps(mss_bytes + extra_bytes, rate_bps)
        first_full_ps += one_ps
        slowest_ps = max(slowest_ps, one_ps)
        full_ps = np.where(full_packets > 0, first_full_ps + (full_packets - 1) * slowest_ps, 0)
        last_ps = np.maximum(last_ps, full_ps) + serialisation_ps(last_bytes, rate_bps)
    return last_ps + delay_ps
