r"""Least completion time of each flow alone in the intact fabric: what a slowdown is measured against.

===================== =========== =============== ======
Quantity              Symbol      Name            Unit
===================== =========== =============== ======
ideal completion time :math:`T_0` ``ideal_fct_s`` second
===================== =========== =============== ======

No scheme and no route is faster, so a slowdown is never below 1. Packets leave the NIC back to back, the last one may
be smaller, and switches store and forward. Where there is one path, the time follows. Where there are several, a scheme
may spread the packets over all of them, and a small last packet may overtake others; :math:`T_0` is then the largest of
lower bounds, one for each place that all packets must pass: the NIC, the links up from the first switch, the links down
to the last switch, the last link. The packets need a time to get there, a time to be sent there, one after another on
each link, and the last of them a time to get on. Each is the least over all paths.

While links are out of service, routes may be longer than those of the intact fabric, and with unequal links faster. So
in a run with failures a path counts that has the fastest of all links between switches at every hop. Where a graph has
more than `MOST_WAYS` paths of different rates or delays, one counts that has the fastest of their links at every hop.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capsim.base.clock import PS_PER_S, serialisation_ps
from capsim.fabric.flows import FlowList
from capsim.fabric.paths import pair_classes
from capsim.fabric.topology import Fabric

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MOST_WAYS = 1000  # between two switches; no fat-tree within bounds has as many
Way = tuple[tuple[int, ...], int]  # rates of the links in order, sum of their delays


@dataclass(frozen=True)
class _Between:
    """What lies between two hosts; many pairs have the same."""

    ways: frozenset[Way]
    single: bool  # whether there is one path only, on which packets keep their order
    up_bps: tuple[int, ...]  # from the first switch to others
    down_bps: tuple[int, ...]  # from others to the last switch


@dataclass(frozen=True)
class _Packets:
    """The packets of flows, as they go over a link: so many full ones, then a smaller one where `has_rest`."""

    full: Ints
    full_bytes: int
    has_rest: npt.NDArray[np.bool_]
    rest_bytes: Ints


def ideal_fct_s(
    flows: FlowList,
    fabric: Fabric,
    *,
    mss_bytes: int,
    header_bytes: int = 0,
    link_bytes: int = 0,
    one_path: bool = False,
) -> Floats:
    """Return over flows the least completion time on an idle, intact fabric with all its paths, in seconds.

    Parameters
    ----------
    flows : FlowList
        The flows.
    fabric : Fabric
        Links may differ in rate and delay.
    mss_bytes, header_bytes, link_bytes : int
        Payload of a full packet, its headers, and what a link adds, in bytes.
    one_path : bool
        Whether all packets of a flow take the same path, the best one: the reference of models with a path for each
        flow, which a scheme with several paths may undercut.

    Returns
    -------
    ndarray
        From the first bit sent to the last bit received; no handshake, no window. With one path of equal rates it is
        :func:`capsmodel.metrics.ideal_fct_s`.
    """
    classes = pair_classes(fabric, flows.src, flows.dst)
    _, examples, class_of_flow = np.unique(classes, return_index=True, return_inverse=True)
    paths = _Paths(fabric)
    paths_between = [paths.between(int(flows.src[flow]), int(flows.dst[flow])) for flow in examples]
    kinds = {between: number for number, between in enumerate(dict.fromkeys(paths_between))}
    kind_of_flow = np.array([kinds[between] for between in paths_between])[class_of_flow]
    least_ps = np.zeros(len(flows.src), np.int64)
    for between, number in kinds.items():
        mine = kind_of_flow == number
        packets = _packets(flows.flow_bytes[mine], mss_bytes=mss_bytes, extra_bytes=header_bytes + link_bytes)
        if between.single or one_path:
            times_ps = [_in_order_ps(packets, rates) + delay_ps for rates, delay_ps in between.ways]
            least_ps[mine] = np.min(times_ps, axis=0)
        else:
            least_ps[mine] = _over_all_paths_ps(packets, between)
    return least_ps / PS_PER_S


def _packets(flow_bytes: Ints, *, mss_bytes: int, extra_bytes: int) -> _Packets:
    rest = flow_bytes % mss_bytes
    return _Packets(flow_bytes // mss_bytes, mss_bytes + extra_bytes, rest > 0, rest + extra_bytes)


class _Paths:
    """Finds what lies between hosts; between two leaves it is searched once, as are the rates of a leaf."""

    def __init__(self, fabric: Fabric):
        self.fabric = fabric
        self.routes = (fabric.routes, *(epoch.routes for epoch in fabric.epochs))  # intact first
        self.known: dict[tuple[int, int, int], tuple[frozenset[Way], int]] = {}
        self.known_detours: dict[tuple[int, int], bool] = {}
        inner = (fabric.port_from >= fabric.n_hosts) & (fabric.port_to >= fabric.n_hosts)
        self.fastest_bps = int(fabric.rate_bps[inner].max(initial=1))
        self.least_delay_ps = int(fabric.delay_ps[inner].min(initial=2**62))
        self.inner = np.flatnonzero(inner)
        self.known_rates: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def _rates_bps(self, leaf: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the rates of the links from a leaf to other switches, and of those to it."""
        if leaf not in self.known_rates:
            node, rates_bps = self.fabric.n_hosts + leaf, self.fabric.rate_bps[self.inner]
            up, down = (rates_bps[end[self.inner] == node] for end in (self.fabric.port_from, self.fabric.port_to))
            self.known_rates[leaf] = tuple(sorted(up.tolist())), tuple(sorted(down.tolist()))
        return self.known_rates[leaf]

    def between(self, src: int, dst: int) -> _Between:
        """Return what lies between two hosts."""
        fabric = self.fabric
        first, last = int(fabric.leaf_of_host[src]), int(fabric.leaf_of_host[dst])
        inner, n_paths = self._inner(0, first, last, dst)
        single = n_paths == 1 and not self._has_detour(first, last, dst)
        if not single and len(fabric.epochs) > 1:
            hops = len(next(iter(inner))[0])
            inner |= {((self.fastest_bps,) * hops, self.least_delay_ps * hops)}
        nic, down = int(fabric.host_port[src]), int(fabric.routes.ports(last, dst)[0])
        around_ps = int(fabric.delay_ps[nic] + fabric.delay_ps[down])
        rates = int(fabric.rate_bps[nic]), int(fabric.rate_bps[down])
        ways = frozenset(((rates[0], *between, rates[1]), around_ps + delay_ps) for between, delay_ps in inner)
        return _Between(ways, single, self._rates_bps(first)[0], self._rates_bps(last)[1])

    def _has_detour(self, first: int, last: int, dst: int) -> bool:
        """Return whether packets between two leaves go ways of other links while some are out of service."""
        if (first, last) not in self.known_detours:
            intact, _ = self._inner(0, first, last, dst)
            ways = (self._inner(epoch, first, last, dst)[0] for epoch in range(1, len(self.routes)))
            self.known_detours[first, last] = any(way - intact for way in ways)
        return self.known_detours[first, last]

    def _inner(self, epoch: int, switch: int, leaf: int, dst: int) -> tuple[frozenset[Way], int]:
        """Return the distinct ways from a switch to the leaf of host `dst` in an epoch, and the number of paths."""
        if switch == leaf:
            return frozenset({((), 0)}), 1
        if (epoch, switch, leaf) not in self.known:
            ways, n_paths, fabric = set[Way](), 0, self.fabric
            for port in self.routes[epoch].ports(switch, dst).tolist():
                onwards, further_paths = self._inner(epoch, int(fabric.port_to[port]) - fabric.n_hosts, leaf, dst)
                rate_bps, delay_ps = int(fabric.rate_bps[port]), int(fabric.delay_ps[port])
                ways |= {((rate_bps, *rates), delay_ps + further_ps) for rates, further_ps in onwards}
                n_paths += further_paths
                ways = ways if len(ways) <= MOST_WAYS else {_fastest(ways)}
            self.known[epoch, switch, leaf] = frozenset(ways), n_paths
        return self.known[epoch, switch, leaf]


def _fastest(ways: set[Way]) -> Way:
    """Return a way that no packet needs longer on than on one of `ways`, which have the same number of links."""
    rates = zip(*(rates for rates, _ in ways), strict=True)
    return tuple(max(at_hop) for at_hop in rates), min(delay_ps for _, delay_ps in ways)


def _in_order_ps(packets: _Packets, rates: tuple[int, ...]) -> Ints:
    """Store and forward, hop by hop: when the last full packet and the last packet have been sent at each hop."""
    last_ps = np.zeros(len(packets.full), np.int64)
    first_full_ps, slowest_ps = 0, 0
    for rate_bps in rates:
        one_ps = serialisation_ps(packets.full_bytes, rate_bps)
        first_full_ps += one_ps
        slowest_ps = max(slowest_ps, one_ps)
        full_ps = np.where(packets.full > 0, first_full_ps + (packets.full - 1) * slowest_ps, 0)
        rest_ps = np.where(packets.has_rest, serialisation_ps(packets.rest_bytes, rate_bps), 0)
        last_ps = np.maximum(last_ps, full_ps) + rest_ps
    return last_ps


def _over_all_paths_ps(packets: _Packets, between: _Between) -> Ints:
    """Return the largest of the lower bounds of the places that all packets pass."""
    bounds = np.array([_bounds_ps(packets, way, between) for way in between.ways])
    largest: Ints = bounds.min(axis=0).max(axis=0)
    return largest


def _bounds_ps(packets: _Packets, way: Way, between: _Between) -> list[Ints]:
    """Return the lower bounds by way: of the full packets at four places, of all packets at the first and last link."""
    rates, delay_ps = way
    full = [serialisation_ps(packets.full_bytes, rate_bps) for rate_bps in rates]
    rest = [serialisation_ps(packets.rest_bytes, rate_bps) for rate_bps in rates]
    last = len(rates) - 1
    places = {0: rates[:1], 1: between.up_bps, last - 1: between.down_bps, last: rates[-1:]}
    bounds = [
        np.where(packets.full > 0, sum(full) - full[hop] + _sent_ps(packets, links_bps) + delay_ps, 0)
        for hop, links_bps in places.items()
    ]
    bounds += [np.zeros_like(packets.full)] * (4 - len(bounds))  # up and down are the same links between two switches
    # The last packet leaves the NIC behind the full ones, but may be the first to reach the last link.
    before_ps = packets.full * full[0] + sum(rest[:-1])
    first_ps = np.where(packets.full > 0, np.minimum(sum(full[:-1]), before_ps), before_ps)
    bounds.append(np.where(packets.has_rest, packets.full * full[0] + sum(rest) + delay_ps, 0))
    bounds.append(np.where(packets.has_rest, first_ps + packets.full * full[last] + rest[last] + delay_ps, 0))
    return bounds


def _sent_ps(packets: _Packets, links_bps: tuple[int, ...]) -> Ints:
    """Return how long links side by side take to send all full packets, whole packets on each."""
    rates, counts = np.unique(links_bps, return_counts=True)
    times = [serialisation_ps(packets.full_bytes, int(rate_bps)) for rate_bps in rates]
    if len(times) == 1:
        return np.asarray(-(-packets.full // counts[0]) * times[0])
    least = np.zeros_like(packets.full)
    enough = packets.full * min(times)
    while np.any(least < enough):
        middle = (least + enough) // 2
        sent = sum(count * (middle // time_ps) for count, time_ps in zip(counts, times, strict=True))
        least, enough = np.where(sent < packets.full, middle + 1, least), np.where(sent < packets.full, enough, middle)
    return enough
