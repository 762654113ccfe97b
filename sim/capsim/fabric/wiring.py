"""Routing tables: every shortest path, in hops, over the links that are up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from capsim.base.bounds import HOPS, LOSS_BURST, LOSS_PROB, PARALLEL, BufferBytes, BufferPackets, Period, Rate, Time
from capsim.base.clock import PS_PER_S, to_ps
from capsim.base.structs import KeyedStruct
from capsim.fabric.topology import HOST, NO_PATH, Bools, Epoch, Fabric, Floats, Int32, Routes
from capsmodel.checks import ParameterError, require

UNREACHED = np.iinfo(np.int16).max  # as a number of hops


def _hops(start: Int32, end: Int32, n_switches: int, targets: Int32) -> npt.NDArray[np.int16]:
    """Return the hops from switches (columns) to the switches `targets` (rows) along the links start -> end.

    Links are in the order of `start`. All searches go on together, a bit for each: a switch is one hop further than
    what its links lead to.
    """
    first = np.flatnonzero(np.diff(start, prepend=-1))  # where the links of a switch begin
    hops = np.full((n_switches, len(targets)), UNREACHED, np.int16)
    hops[targets, np.arange(len(targets))] = 0
    level = 0
    while len(first):
        there = np.packbits(hops == level, axis=1)
        beside = np.unpackbits(np.bitwise_or.reduceat(there[end], first), axis=1, count=len(targets))
        reached = np.zeros(hops.shape, np.bool_)
        reached[start[first]] = beside
        reached &= hops == UNREACHED
        if not reached.any():
            break
        level += 1
        HOPS.check("fabric: links between two switches", level)
        hops[reached] = level
    return np.ascontiguousarray(hops.T)


def shortest_path_routes(
    n_hosts: int, n_switches: int, *, port_from: Int32, port_to: Int32, port_up: Bools, leaf_of_host: Int32
) -> Routes:
    """Return the routing tables of a fabric.

    Parameters
    ----------
    n_hosts, n_switches : int
        Node counts; nodes are numbered hosts first.
    port_from, port_to : ndarray of int32, shape (ports,)
        Ends of each port.
    port_up : ndarray of bool, shape (ports,)
        Whether the port carries packets.
    leaf_of_host : ndarray of int32, shape (hosts,)
        Row of the switch that each host is attached to.

    Returns
    -------
    Routes
        Equal-cost next hops of each switch (row) for each host, ordered by next node, then port.

    Raises
    ------
    ParameterError
        If two switches are farther apart than packets get.

    Notes
    -----
    All hosts of a leaf share one search and one list of candidates, so that 1024 hosts cost 32 searches.
    """
    ports = np.flatnonzero(port_up)
    between = ports[(port_from[ports] >= n_hosts) & (port_to[ports] >= n_hosts)]
    between = between[np.lexsort((between, port_to[between], port_from[between]))]
    start, end = port_from[between] - n_hosts, port_to[between] - n_hosts
    leaves, leaf_index = np.unique(leaf_of_host, return_inverse=True)
    begin, stop = (np.searchsorted(start, np.arange(n_switches), side) for side in ("left", "right"))
    firsts, counts = (np.zeros((n_switches, len(leaves)), np.int32) for _ in range(2))
    blocks: list[Int32] = []
    used, farthest = 0, 0
    for leaf, hops in enumerate(_hops(start, end, n_switches, leaves)):
        forward = hops[end] == hops[start] - 1
        before = np.concatenate([[0], np.cumsum(forward, dtype=np.int32)])
        firsts[:, leaf], counts[:, leaf] = used + before[begin], before[stop] - before[begin]
        blocks.append(between[forward].astype(np.int32))
        used += len(blocks[-1])
        farthest = max(farthest, int(hops[leaves][hops[leaves] != UNREACHED].max()))
    first, count = firsts[:, leaf_index], counts[:, leaf_index]  # from leaves to hosts
    down = ports[(port_from[ports] >= n_hosts) & (port_to[ports] < n_hosts)]
    rows = port_from[down] - n_hosts
    first[rows, port_to[down]] = used + np.arange(len(down))
    count[rows, port_to[down]] = 1
    return Routes(first, count, np.concatenate([*blocks, down.astype(np.int32)]), most_links=farthest + 2)


UNLIMITED = -1


class LinkValues(KeyedStruct, frozen=True, kw_only=True):
    """What may be different about a link.

    Parameters
    ----------
    rate_bps, delay_s, buffer_packets, buffer_bytes : optional
        New values, in bit/s, seconds, packets and bytes. Giving one buffer removes the other.
    loss_prob : float, optional
        Share of packets that are lost on the way to the far end, whatever they carry; independently of each other when
        `loss_burst_packets` and `loss_burst_s` are left out.
    loss_burst_packets : float, optional
        Mean length b of a loss burst in packets, at least 1 / (1 - p) for a share p. Behind a lost packet of the
        link the next is lost with probability 1 - 1/b, behind one that arrived with p / ((1 - p) b), however long it
        is between them (Gilbert 1960, all packets of a bad state being lost).
    loss_burst_s : float, optional
        Mean time d of a loss burst in place of their number, in seconds. A time t behind a packet that was lost the
        next is lost with probability p + (1 - p) e, behind one that arrived with p (1 - e), where e is
        exp(-t / ((1 - p) d)): a link that is not used leaves the bad state too. Giving one removes the other.
    down_s, up_s : float, optional
        Out of service from `down_s` until `up_s` (for ever when left out), in seconds.
    """

    rate_bps: Rate | None = None
    delay_s: Time | None = None
    buffer_packets: BufferPackets | None = None
    buffer_bytes: BufferBytes | None = None
    loss_prob: Annotated[float, LOSS_PROB.meta] | None = None
    loss_burst_packets: Annotated[float, LOSS_BURST.meta] | None = None
    loss_burst_s: Period | None = None
    down_s: Time | None = None
    up_s: Time | None = None


class LinkChange(LinkValues, frozen=True, kw_only=True):
    """What is different about some links: slower, longer, smaller buffers, or out of service for a while.

    Parameters
    ----------
    between : tuple of two str
        Node names at both ends; ``*`` and ``?`` match as in file names (``["leaf*", "spine3"]``).
    one_way : bool
        Whether only the direction from the first to the second name changes.
    parallel : int, optional
        Which of several links between the same two nodes, counted from 1; all of them when left out.
    """

    between: tuple[str, str]
    one_way: bool = False
    parallel: Annotated[int, PARALLEL.meta] | None = None


@dataclass(frozen=True)
class LinkKind:
    """Rate, delay and buffers that a group of links shares; buffers as (sending from a host, from a switch)."""

    rate_bps: float
    delay_s: float
    buffer_packets: int = UNLIMITED
    buffer_bytes: int = UNLIMITED


@dataclass
class Wiring:
    """Collects nodes and links; :meth:`fabric` numbers the ports in the order in which the links came."""

    hosts: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    tiers: list[int] = field(default_factory=list)
    links: list[tuple[str, str, LinkKind]] = field(default_factory=list)
    paths: list[int] = field(default_factory=list)

    def switch(self, kind: str, number: int | str = "", *, tier: int) -> str:
        """Add a switch of a kind (leaf, spine, ...) and return its name, the kind with the number behind it."""
        name = f"{kind}{number}"
        self.named_switch(name, kind=kind, tier=tier)
        return name

    def named_switch(self, name: str, *, kind: str, tier: int) -> None:
        """Add a switch with a name of its own."""
        self.switches.append(name)
        self.kinds.append(kind)
        self.tiers.append(tier)

    def hosts_at(self, switch: str, count: int, *, nic: LinkKind, downlink: LinkKind) -> None:
        """Attach `count` further hosts to `switch`."""
        for _ in range(count):
            name = f"{HOST}{len(self.hosts)}"
            self.hosts.append(name)
            self.link(name, switch, nic, downlink)

    def connect(self, a: str, b: str, kind: LinkKind, *, path: int = NO_PATH) -> None:
        """Add a link between two switches that is the same in both directions."""
        self.link(a, b, kind, kind, path=path)

    def link(self, a: str, b: str, forth: LinkKind, back: LinkKind, *, path: int = NO_PATH) -> None:
        """Add a link from `a` to `b`, and back; `path` is the number of the only path that it belongs to."""
        self.links += [(a, b, forth), (b, a, back)]
        self.paths += [path, path]

    def fabric(
        self,
        changes: tuple[LinkChange, ...] = (),
        *,
        reroute_s: float = 0.0,
        loss_prob: float = 0.0,
        loss_burst_packets: float | None = None,
        loss_burst_s: float | None = None,
        drawn: tuple[tuple[str, ...], ...] = (),
    ) -> Fabric:
        """Return the finished fabric with `changes` applied in their order.

        Links lose packets by `loss_prob` and `loss_burst_packets` or `loss_burst_s` where no change says otherwise.
        `drawn` are the names of what the faults of each entry have drawn.
        """
        names = (*self.hosts, *self.switches)
        number = {name: node for node, name in enumerate(names)}
        port_from = np.array([number[a] for a, _, _ in self.links], np.int32)
        port_to = np.array([number[b] for _, b, _ in self.links], np.int32)
        columns = _Columns(self.links, loss_prob)
        columns.apply(LinkValues(loss_burst_packets=loss_burst_packets, loss_burst_s=loss_burst_s), slice(None))
        outages: list[tuple[int, int, bool]] = []
        for change in changes:
            ports = _ports_of(change, self.links)
            columns.apply(change, ports)
            outages += _outages(change, ports)
        n_hosts = len(self.hosts)
        host_port = _nics(port_from, n_hosts)
        leaf_of_host = port_to[host_port] - np.int32(n_hosts)
        routes = partial(
            shortest_path_routes,
            n_hosts,
            len(self.switches),
            port_from=port_from,
            port_to=port_to,
            leaf_of_host=leaf_of_host,
        )
        all_up = np.ones(len(port_from), np.bool_)
        intact = Epoch(0, routes(port_up=all_up), all_up)
        return Fabric(
            n_hosts=n_hosts,
            n_switches=len(self.switches),
            node_names=names,
            node_kinds=(*[HOST] * n_hosts, *self.kinds),
            port_from=port_from,
            port_to=port_to,
            port_path=np.array(self.paths, np.int32),
            **columns.arrays(self.links),
            host_port=host_port,
            switch_tier=np.array(self.tiers, np.int32),
            leaf_of_host=leaf_of_host,
            routes=intact.routes,
            epochs=_epochs(intact, outages, routes, reroute_ps=to_ps(reroute_s)),
            drawn=drawn,
        )


class _Columns:
    """The per-port numbers while changes are applied."""

    def __init__(self, links: list[tuple[str, str, LinkKind]], loss_prob: float) -> None:
        kinds = [kind for _, _, kind in links]
        self.rate_bps = np.array([round(kind.rate_bps) for kind in kinds], np.int64)
        self.delay_ps = np.array([to_ps(kind.delay_s) for kind in kinds], np.int64)
        self.buffer_packets = np.array([kind.buffer_packets for kind in kinds], np.int64)
        self.buffer_bytes = np.array([kind.buffer_bytes for kind in kinds], np.int64)
        self.loss_prob = np.full(len(kinds), loss_prob)
        self.loss_burst_packets, self.loss_burst_s = np.full(len(kinds), np.nan), np.full(len(kinds), np.nan)

    def apply(self, change: LinkValues, ports: list[int] | slice) -> None:
        if change.rate_bps is not None:
            self.rate_bps[ports] = round(change.rate_bps)
        if change.delay_s is not None:
            self.delay_ps[ports] = to_ps(change.delay_s)
        if change.loss_prob is not None:
            self.loss_prob[ports] = change.loss_prob
        if change.loss_burst_packets is not None or change.loss_burst_s is not None:
            both = change.loss_burst_packets is not None and change.loss_burst_s is not None
            require(not both, "fabric: loss_burst_packets and loss_burst_s exclude each other: leave one of them out")
            self.loss_burst_packets[ports] = np.nan if change.loss_burst_packets is None else change.loss_burst_packets
            self.loss_burst_s[ports] = np.nan if change.loss_burst_s is None else change.loss_burst_s
        if change.buffer_packets is not None or change.buffer_bytes is not None:
            self.buffer_packets[ports] = UNLIMITED if change.buffer_packets is None else change.buffer_packets
            self.buffer_bytes[ports] = UNLIMITED if change.buffer_bytes is None else change.buffer_bytes

    def arrays(self, links: list[tuple[str, str, LinkKind]]) -> dict[str, Any]:
        """Return the columns as the fabric has them."""
        columns = vars(self).copy()
        bursts, bursts_s = columns.pop("loss_burst_packets"), columns.pop("loss_burst_s")
        return columns | {
            "loss_correlation": _loss_correlation(self.loss_prob, bursts, links),
            "loss_memory_ps": np.nan_to_num(PS_PER_S * (1 - self.loss_prob) * bursts_s),
        }


def _loss_correlation(prob: Floats, bursts: Floats, links: list[tuple[str, str, LinkKind]]) -> Floats:
    """Return how successive losses of each link are correlated: 1 - b0/b, b0 being the mean run of independent ones."""
    with np.errstate(divide="ignore"):
        independent = 1 / (1 - prob)
    for port in np.flatnonzero(bursts < independent)[:1]:
        (a, b, _), remedy = links[port], "give that or more, or leave it out for independent losses"
        rule = f"losses of probability {prob[port]:g} come in runs of at least {independent[port]:.6g}"
        raise ParameterError(f"fabric: loss_burst_packets = {bursts[port]:g} of {a}>{b}, but {rule}: {remedy}")
    return np.asarray(1 - np.where(np.isnan(bursts), 1, independent / bursts))


def _nics(port_from: Int32, n_hosts: int) -> Int32:
    """Return over hosts the only port that begins there."""
    ports = np.flatnonzero(port_from < n_hosts).astype(np.int32)
    return ports[np.argsort(port_from[ports])]


def _ports_of(change: LinkChange, links: list[tuple[str, str, LinkKind]]) -> list[int]:
    here, there = change.between
    names = {a for a, _, _ in links}
    at_first, at_second = ({name for name in names if fnmatchcase(name, end)} for end in change.between)
    ports, seen = [], dict[tuple[str, str], int]()
    for port, (a, b, _) in enumerate(links):
        forward = a in at_first and b in at_second
        backward = not change.one_way and a in at_second and b in at_first
        if forward or backward:
            seen[a, b] = seen.get((a, b), 0) + 1
            if change.parallel in (None, seen[a, b]):
                ports.append(port)
    if not ports:
        raise ParameterError(f"fabric.links: no link between {here!r} and {there!r}: nodes are {_spans(links)}")
    return ports


def _spans(links: list[tuple[str, str, LinkKind]]) -> str:
    """Return the first and the last node of each kind, in the order in which the links name them."""
    spans: dict[str, list[str]] = {}
    for name in dict.fromkeys(end for a, b, _ in links for end in (a, b)):
        spans.setdefault(name.rstrip("0123456789."), []).append(name)
    return ", ".join(names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in spans.values())


def _outages(change: LinkChange, ports: list[int]) -> list[tuple[int, int, bool]]:
    if change.down_s is None:
        require(change.up_s is None, "fabric.links: up_s without down_s: a link that returns must first fail")
        return []
    events = [(to_ps(change.down_s), port, False) for port in ports]
    if change.up_s is not None:
        require(change.up_s > change.down_s, f"fabric.links: up_s = {change.up_s:g}, but it must be after down_s")
        events += [(to_ps(change.up_s), port, True) for port in ports]
    return events


def _epochs(
    intact: Epoch, outages: list[tuple[int, int, bool]], routes: Callable[..., Routes], *, reroute_ps: int
) -> tuple[Epoch, ...]:
    """Turn failures into epochs; routes follow the links `reroute_ps` later."""
    if not outages:
        return (intact,)
    n_ports = len(intact.port_up)
    up_at, routes_at = {0: _up(n_ports, outages, 0)}, {0: _up(n_ports, outages, 0)}
    for time_ps in sorted({time_ps for time_ps, _, _ in outages}):
        up_at[time_ps] = _up(n_ports, outages, time_ps)
        routes_at[time_ps + reroute_ps] = up_at[time_ps]
    routes_of = {intact.port_up.tobytes(): intact.routes}  # links that fail and return lead to the same routes again
    epochs = []
    for time_ps in sorted({*up_at, *routes_at}):
        known = routes_at[max(t for t in routes_at if t <= time_ps)]
        if known.tobytes() not in routes_of:
            routes_of[known.tobytes()] = routes(port_up=known)
        up = up_at[max(t for t in up_at if t <= time_ps)]
        epochs.append(Epoch(time_ps, routes_of[known.tobytes()], up))
    return tuple(epochs)


def _up(n_ports: int, outages: list[tuple[int, int, bool]], time_ps: int) -> Bools:
    up = np.ones(n_ports, np.bool_)
    for _, port, returns in sorted(event for event in outages if event[0] <= time_ps):
        up[port] = returns
    return up
