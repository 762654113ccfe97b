"""A fabric as arrays: hosts, switches, ports (directed links), routes, and what changes when links fail.

Nodes are numbered hosts first (0 .. n_hosts - 1, leaf by leaf), then switches. A *port* is one direction of a link:
an output queue, a serialiser and a propagation delay. The NIC of a host is a port like any other.

====================== ====== ======================= ==================
Quantity               Symbol Name                    Unit
====================== ====== ======================= ==================
link rate              C      ``rate_bps``            bit per second
propagation delay      d      ``delay_ps``            picosecond
queue limit            B      ``buffer_packets``      packet, -1 = none
queue limit            B      ``buffer_bytes``        byte, -1 = none
equal-cost paths       n      ``Fabric.n_paths``      1
loss probability       p      ``loss_prob``           1
correlation of losses  c      ``loss_correlation``    1
time without queueing  T      ``Fabric.base_rtt_ps``  picosecond
====================== ====== ======================= ==================
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

import numpy as np
import numpy.typing as npt

from capsim.base.clock import serialisation_ps
from capsmodel.checks import ParameterError

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


HOST = "host"  # the kind of node that is no switch
NO_PATH = -1


def layer_name(from_kind: str, to_kind: str) -> str:
    """Return the name of all links from nodes of one kind to nodes of another, such as ``leaf>spine``."""
    return f"{from_kind}>{to_kind}"


def leaves_host(layer: str) -> bool:
    """Return whether the links of a layer come from hosts."""
    return layer.startswith(layer_name(HOST, ""))


def enters_host(layer: str) -> bool:
    """Return whether the links of a layer go to hosts."""
    return layer.endswith(layer_name("", HOST))


def ports_like(names: Sequence[str], patterns: Iterable[str], *, where: str, what: str = "ports") -> list[int]:
    """Return the ports whose names match one of the patterns, pattern by pattern.

    Parameters
    ----------
    names : sequence of str
        Over ports, or over something else that has names.
    patterns : iterable of str
        With ``*`` and ``?`` as in file names.
    where : str
        Begins the text of an error.
    what : str
        ``ports`` or ``switches``.

    Raises
    ------
    ParameterError
        If nothing matches a pattern.
    """
    ports, one = [], {"ports": "port", "switches": "switch"}[what]
    for pattern in patterns:
        matching = [port for port, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not matching:
            raise ParameterError(f"{where}: no {one} {pattern!r}: {what} are named as in {names[-1]!r}")
        ports += matching
    return ports


@dataclass(frozen=True)
class Routes:
    """Next hops: ``candidates[first[s, h] : first[s, h] + count[s, h]]`` are the ports of switch s towards host h.

    Switch rows count from 0 (node id minus n_hosts). Candidates are ordered by next node, then by parallel link, so
    that the position of a candidate is the path index. A count of 0 means that the host cannot be reached.
    """

    first: Int32
    count: Int32
    candidates: Int32
    most_links: int  # of a route between two hosts, those of both hosts included

    def ports(self, switch: int, host: int) -> Int32:
        """Return the ports of `switch` (row) that lie on a shortest path to `host`."""
        start = self.first[switch, host]
        return self.candidates[start : start + self.count[switch, host]]


@dataclass(frozen=True)
class Epoch:
    """From `time_ps` on, packets follow `routes`, and what is sent to a port that is not up is lost."""

    time_ps: int
    routes: Routes
    port_up: Bools


@dataclass(frozen=True)
class Fabric:
    """Ports, routes and their changes in time; arrays over ports unless said otherwise."""

    n_hosts: int
    n_switches: int
    node_names: tuple[str, ...]
    node_kinds: tuple[str, ...]  # over nodes: host, leaf, spine, ...
    port_from: Int32
    port_to: Int32
    port_path: Int32  # number of the equal-cost path that alone uses the link, NO_PATH where there are several or none
    rate_bps: Int64
    delay_ps: Int64
    buffer_packets: Int64
    buffer_bytes: Int64
    loss_prob: Floats  # of packets that cross the link
    loss_correlation: Floats  # between a packet and the next one of the link; 0 = independent
    loss_memory_ps: Floats  # where loss bursts last a time: how fast that is forgotten; 0 = counted in packets
    host_port: Int32  # over hosts: the NIC
    switch_tier: Int32  # over switches: 0 = leaf or edge, 1 = spine or aggregation, 2 = core
    leaf_of_host: Int32  # over hosts: row of the switch it is attached to
    routes: Routes  # of the intact fabric
    epochs: tuple[Epoch, ...]
    drawn: tuple[tuple[str, ...], ...] = ()  # over entries of faults: switches or links that were drawn

    @property
    def n_ports(self) -> int:
        """Return the number of ports, host NICs included."""
        return len(self.port_from)

    @cached_property
    def port_names(self) -> tuple[str, ...]:
        """Return ``from>to`` for every port, with ``#2`` behind the second of two parallel links, and so on."""
        seen: dict[tuple[int, int], int] = {}
        names = []
        for pair in zip(self.port_from.tolist(), self.port_to.tolist(), strict=True):
            seen[pair] = seen.get(pair, 0) + 1
            suffix = f"#{seen[pair]}" if seen[pair] > 1 else ""
            names.append(f"{self.node_names[pair[0]]}>{self.node_names[pair[1]]}{suffix}")
        return tuple(names)

    @cached_property
    def port_layers(self) -> tuple[str, ...]:
        """Return the layer of every port (:func:`layer_name`)."""
        pairs = zip(self.port_from.tolist(), self.port_to.tolist(), strict=True)
        return tuple(layer_name(self.node_kinds[start], self.node_kinds[end]) for start, end in pairs)

    @property
    def loss_after(self) -> Floats:
        """Return the probability that a packet is lost behind one that arrived, p (1 - c), and one that was lost.

        Shape (ports, 2). The second is p + (1 - p) c, so that a share p is lost and a loss burst has
        1 / ((1 - p) (1 - c)) packets on average.
        """
        p, c = self.loss_prob, self.loss_correlation
        return np.stack([p * (1 - c), p + (1 - p) * c], axis=1)

    @cached_property
    def leaf_number(self) -> Int64:
        """Return over hosts the position of their switch among all switches that have hosts."""
        return np.unique(self.leaf_of_host, return_inverse=True)[1].astype(np.int64)

    @property
    def layers(self) -> tuple[str, ...]:
        """Return the distinct layers, in the order of their first port."""
        return tuple(dict.fromkeys(self.port_layers))

    def paths(self, src: int, dst: int) -> Iterator[tuple[int, ...]]:
        """Yield every shortest path from host `src` to host `dst` as the ports it crosses, NIC first."""
        yield from self._onwards((int(self.host_port[src]),), dst)

    def _onwards(self, ports: tuple[int, ...], dst: int) -> Iterator[tuple[int, ...]]:
        node = int(self.port_to[ports[-1]])
        if node == dst:
            yield ports
        elif node >= self.n_hosts:
            for port in self.routes.ports(node - self.n_hosts, dst):
                yield from self._onwards((*ports, int(port)), dst)

    def n_paths(self, src: int, dst: int) -> int:
        """Return the number of shortest paths from host `src` to host `dst`."""
        return sum(1 for _ in self.paths(src, dst))

    def one_way_ps(self, src: int, dst: int, *, packet_bytes: int) -> int:
        """Return the least time in picoseconds that a lone packet needs from `src` to `dst`, store and forward."""
        known = self._known_ps.setdefault((dst, packet_bytes), {})
        return self._least_ps(int(self.host_port[src]), dst, packet_bytes, known)

    @cached_property
    def _known_ps(self) -> dict[tuple[int, int], dict[int, int]]:
        """Return by destination and packet size the times from ports that were asked for; other sources share them."""
        return {}

    def _least_ps(self, port: int, dst: int, packet_bytes: int, known: dict[int, int]) -> int:
        """Return the least time from `port` on, as far as it is not known yet."""
        if port not in known:
            node = int(self.port_to[port])
            crossing_ps = int(self.delay_ps[port]) + serialisation_ps(packet_bytes, int(self.rate_bps[port]))
            onwards = [] if node == dst else self.routes.ports(node - self.n_hosts, dst).tolist()
            rests_ps = [self._least_ps(one, dst, packet_bytes, known) for one in onwards]
            known[port] = crossing_ps + (0 if node == dst else min(rests_ps))
        return known[port]

    def base_rtt_ps(self, src: int, dst: int, *, packet_bytes: int, ack_bytes: int) -> int:
        """Return the round trip in picoseconds of one packet and its acknowledgement without any queue."""
        forth = self.one_way_ps(src, dst, packet_bytes=packet_bytes)
        return forth + self.one_way_ps(dst, src, packet_bytes=ack_bytes)
