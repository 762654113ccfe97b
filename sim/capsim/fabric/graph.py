"""A fabric of one's own: any graph of hosts and switches, listed in files, in TOML or as a networkx graph.

Hosts have one link each and never forward. Packets take every shortest path, in hops, as in the other fabrics.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import msgspec

from capsim.base import bounds
from capsim.base.bounds import BufferBytes, BufferPackets, Rate, Time, shortened
from capsim.base.structs import KeyedStruct, Struct, converted, in_si
from capsim.fabric.base import Blocks, FabricKind, FabricSize, limit
from capsim.fabric.topology import HOST
from capsim.fabric.wiring import LinkKind, Wiring
from capsmodel.checks import ParameterError, require

# Ports are named a>b and b>a, with #2 behind the second of parallel links; * and ? stand for any part of a name.
_NAME = re.compile(r"[\w.:/-]{1,64}")


class Node(KeyedStruct, frozen=True):
    """A host or a switch.

    Parameters
    ----------
    name : str
        At most 64 letters, digits and signs of ``. : / _ -``.
    kind : str
        ``host`` or ``switch``.
    tier : int, optional
        Of a switch: 0 when hosts are attached to it, else at least 1; the distance from the nearest of those with
        hosts, in hops, when left out.
    """

    name: str
    kind: Literal["host", "switch"]
    tier: Annotated[int, bounds.TIER.meta] | None = None


class Edge(KeyedStruct, frozen=True):
    """A link between two nodes, the same in both directions.

    Parameters
    ----------
    a, b : str
        Names of the nodes; the port ``a>b`` comes before ``b>a``.
    rate_bps : float
        Rate, in bit/s.
    delay_s : float
        One-way propagation delay, in seconds.
    buffer_packets, buffer_bytes : int, optional
        Queue limit where a switch sends; that of the fabric when left out. A host has ``host_buffer_packets`` and
        ``host_buffer_bytes`` of the fabric.
    """

    a: str
    b: str
    rate_bps: Rate
    delay_s: Time
    buffer_packets: BufferPackets | None = None
    buffer_bytes: BufferBytes | None = None


class Topology(FabricKind, frozen=True, kw_only=True, tag="topology"):
    """Hosts, switches and links as listed.

    Hosts and switches are numbered in their order here, ports in the order of the links, ``a>b`` before ``b>a``. Links
    between nodes of two tiers are a layer: ``host>tier0``, ``tier0>tier1``; no link has the number of a path. A scheme
    that acts at the first switch of a flow (tier 0: CAPS) does so at each switch with hosts that a packet crosses.

    In a TOML file ``kind = "file"`` with the keys ``nodes_file`` and ``links_file`` takes both from CSV files
    (:mod:`capsim.fabric.files`).

    Parameters
    ----------
    nodes : tuple of Node
        At least two hosts, and what joins them.
    edges : tuple of Edge
        Their links; a host has one, to a switch. Several links between the same two switches are parallel and must
        have them in the same order.

    Examples
    --------
    >>> switch = [Edge(host, "s", rate_bps=1e9, delay_s=1e-6) for host in ("x", "y")]
    >>> nodes = (Node("x", "host"), Node("y", "host"), Node("s", "switch"))
    >>> Topology(nodes=nodes, edges=tuple(switch)).build().port_names
    ('x>s', 's>x', 'y>s', 's>y')
    """

    nodes: Annotated[tuple[Node, ...], bounds.GRAPH_NODES.of_length]
    edges: Annotated[tuple[Edge, ...], bounds.EDGES.of_length]

    @classmethod
    def from_networkx(cls, graph: Any, **settings: Any) -> "Topology":
        """Return the topology of an undirected networkx graph or multigraph.

        Parameters
        ----------
        graph : networkx.Graph
            Each node has the attribute ``kind`` and perhaps ``tier``, each edge ``rate_bps``, ``delay_s`` and perhaps
            ``buffer_packets`` or ``buffer_bytes``, as in :class:`Node` and :class:`Edge`, or as text with a unit
            (``"10Gbps"``); others are not read. The name of a node is its text, ``str(node)``.
        **settings
            Other parameters of the topology: ``buffer_packets``, ``links``, ...

        Raises
        ------
        ParameterError
            If the graph is directed, lacks an attribute or breaks a rule of :class:`Topology`.

        Examples
        --------
        >>> import networkx as nx
        >>> graph = nx.random_regular_graph(3, 8, seed=1)
        >>> nx.set_node_attributes(graph, "switch", "kind")
        >>> for switch in range(8):
        ...     graph.add_node(f"host{switch}", kind="host")
        ...     graph.add_edge(f"host{switch}", switch)
        >>> for edge in graph.edges.values():
        ...     edge.update(rate_bps=1e9, delay_s=1e-6)
        >>> Topology.from_networkx(graph, buffer_packets=100).size()
        FabricSize(hosts=8, switches=8, leaves=8, inner_links=12)
        """
        if graph.is_directed():
            _refuse_directed(graph)
        named = graph.nodes(data=True)
        nodes = tuple(_struct(Node, {"name": str(node)}, attributes, f"node {node}") for node, attributes in named)
        edges = tuple(
            _struct(Edge, {"a": str(a), "b": str(b)}, attributes, f"edge {a}, {b}")
            for a, b, attributes in graph.edges(data=True)
        )
        topology = cls(nodes=nodes, edges=edges, **settings)
        topology.check()
        return topology

    def check(self) -> None:
        """Raise :class:`ParameterError` unless nodes and edges make a fabric."""
        for fault in faults(self.nodes, self.edges, node_at=_in("nodes"), edge_at=_in("edges")):
            raise ParameterError(fault)

    def size(self) -> FabricSize:
        """Return how large the fabric is, without building anything."""
        hosts = {node.name for node in self.nodes if node.kind == HOST}
        outer = [edge for edge in self.edges if edge.a in hosts or edge.b in hosts]
        leaves = {edge.b if edge.a in hosts else edge.a for edge in outer}
        switches, inner_links = len(self.nodes) - len(hosts), len(self.edges) - len(outer)
        return FabricSize(len(hosts), switches, leaves=len(leaves), inner_links=inner_links)

    def wire(self, wiring: Wiring) -> None:
        """Add nodes and links to `wiring`."""
        self.check()
        hosts = {node.name for node in self.nodes if node.kind == HOST}
        distances = _from_hosts(self.nodes, self.edges)
        for node in self.nodes:
            tier = distances[node.name] - 1 if node.tier is None else node.tier
            if node.kind == HOST:
                wiring.hosts.append(node.name)
            else:
                wiring.named_switch(node.name, kind=f"tier{tier}", tier=tier)
        for edge in self.edges:
            forth, back = (self._direction(edge, from_host=end in hosts) for end in (edge.a, edge.b))
            wiring.link(edge.a, edge.b, forth, back)

    def blocks(self) -> Blocks:
        """Return what the graph falls into without its top tier, alike in all that a flow meets."""
        parts = self._parts
        hosts = {node.name for node in self.nodes if node.kind == HOST}
        at_switch = Counter(edge.b if edge.a in hosts else edge.a for edge in self.edges if {edge.a, edge.b} & hosts)
        alike = len(set(self._shapes(parts))) == 1 and len(set(at_switch.values())) == 1
        rule = "an excerpt needs parts that are alike: run the whole"
        require(alike, f"fabric: the parts of this topology without its top tier differ, and {rule}")
        pods = {frozenset(name.split(".")[0] for name in part & at_switch.keys()) for part in parts}
        apart = len(pods) == len(parts) and all(len(pod) == 1 for pod in pods)
        rule = "switches with hosts need names such as a.0, a.1, b.0: one text before the dot for each part"
        require(apart, f"fabric: pods of a topology are told by names, and for an excerpt {rule}")
        return Blocks("blocks", len(parts), next(iter(at_switch.values())), len(parts[0] & hosts))

    def block_names(self) -> list[tuple[str, ...]]:
        """Return over parts the names of their hosts and switches, in the order of the nodes."""
        return [tuple(node.name for node in self.nodes if node.name in part) for part in self._parts]

    def excerpt(self, blocks: int) -> Self:
        """Return the first `blocks` parts, with all switches of the top tier."""
        gone = frozenset[str]().union(*self._parts[blocks:])
        nodes = tuple(node for node in self.nodes if node.name not in gone)
        edges = tuple(edge for edge in self.edges if edge.a not in gone and edge.b not in gone)
        return msgspec.structs.replace(self, nodes=nodes, edges=edges)

    @property
    def _tiers(self) -> dict[str, int]:
        """Return the tier of each node, -1 of hosts."""
        distances = _from_hosts(self.nodes, self.edges)
        return {node.name: distances[node.name] - 1 if node.tier is None else node.tier for node in self.nodes}

    @property
    def _parts(self) -> list[frozenset[str]]:
        """Return the names of the nodes of each part that is left without the top tier, by their first node."""
        self.check()
        tiers = self._tiers
        top = max(tiers.values())
        require(top > 0, "fabric: all switches of this topology have hosts: without a tier above there is no excerpt")
        beside = _beside(edge for edge in self.edges if max(tiers[edge.a], tiers[edge.b]) < top)
        parts: list[frozenset[str]] = []
        seen = {name for name, tier in tiers.items() if tier == top}
        for node in self.nodes:
            if node.name not in seen:
                parts.append(frozenset(_hops([node.name], beside)))
                seen |= parts[-1]
        return parts

    def _shapes(self, parts: list[frozenset[str]]) -> list[frozenset[Any]]:
        """Return over parts what is equal where they are alike: how many links, of the same tiers and values."""
        number = {name: part for part, names in enumerate(parts) for name in names}
        ends = {name: str(tier) if name in number else f"top {name}" for name, tier in self._tiers.items()}
        shapes: list[Counter[Any]] = [Counter() for _ in parts]
        for edge in self.edges:
            part = number.get(edge.a, number.get(edge.b))
            if part is not None:
                values = edge.rate_bps, edge.delay_s, edge.buffer_packets, edge.buffer_bytes
                shapes[part][frozenset((ends[edge.a], ends[edge.b])), values] += 1
        return [frozenset(one.items()) for one in shapes]

    def _direction(self, edge: Edge, *, from_host: bool) -> LinkKind:
        if from_host:
            return LinkKind(edge.rate_bps, edge.delay_s, *self.nic_limits())
        own = edge.buffer_packets, edge.buffer_bytes
        limits = self.switch_limits() if own == (None, None) else (limit(own[0]), limit(own[1]))
        return LinkKind(edge.rate_bps, edge.delay_s, *limits)


def _struct(kind: type[Struct], ends: dict[str, str], attributes: Mapping[str, Any], where: str) -> Struct:
    """Return the node or edge made of the attributes, of a networkx graph, that it has fields for."""
    try:
        plain = in_si(_read(kind, attributes) | ends, where)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    return converted(plain, kind, where=where)


def _read(kind: type[Struct], attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _whole(attributes[name]) for name in kind.__struct_fields__ if name in attributes}


def _refuse_directed(graph: Any) -> None:
    """Raise ParameterError, with the links whose directions differ: ``to_undirected`` keeps one of the two, unasked."""

    def links(a: Any, b: Any) -> list[dict[str, Any]]:
        attributes = graph.get_edge_data(a, b)
        return [_read(Edge, one) for one in (attributes.values() if graph.is_multigraph() else [attributes])]

    rule = "the graph is directed, but links go both ways"
    for a, b in graph.edges():
        if graph.has_edge(b, a) and links(a, b) != links(b, a):
            values = f"{shortened(links(a, b))} and {shortened(links(b, a))}"
            raise ParameterError(f"{rule}, and the directions of {a}, {b} differ, {values}: make them equal first")
    raise ParameterError(f"{rule}: give graph.to_undirected()")


def _whole(value: Any) -> Any:
    """Return a whole number that is a text as a number: GML has those beyond 32 bits as texts."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,20}", value) else value


def _in(table: str) -> Callable[[int], str]:
    """Return where an error says that a row of a table of the scenario is."""
    return lambda number: f"fabric.{table}[{number}]"


def faults(
    nodes: Sequence[Node], edges: Sequence[Edge], *, node_at: Callable[[int], str], edge_at: Callable[[int], str]
) -> Iterator[str]:
    """Yield what keeps nodes and edges from being a fabric, one line each, the place first.

    Parameters
    ----------
    nodes, edges : sequence
        The graph.
    node_at, edge_at : callable
        The place of a node or an edge by its number, such as the line of a file.
    """
    sound = True
    for fault in (*_of_nodes(nodes, node_at), *_of_edges(nodes, edges, edge_at), *_of_hosts(nodes, edges, node_at)):
        sound = False
        yield fault
    if sound:  # else one fault would be reported in several ways
        yield from _of_shape(nodes, edges, node_at)


def _of_nodes(nodes: Sequence[Node], at: Callable[[int], str]) -> Iterator[str]:
    known: dict[str, int] = {}
    for number, node in enumerate(nodes):
        if not _NAME.fullmatch(node.name):
            rule = "a name has 1 to 64 letters, digits and . : / _ -"
            yield f"{at(number)}: name = {shortened(node.name)}, but {rule}"
        elif node.name in known:
            yield f"{at(number)}: there is a node {node.name!r} already, {at(known[node.name])}: give it another name"
        elif node.kind == HOST and node.tier is not None:
            yield f"{at(number)}: {node.name!r} is a host, but only switches have a tier: leave it out"
        known.setdefault(node.name, number)
    if sum(node.kind == HOST for node in nodes) < 2:
        yield f"{at(max(0, len(nodes) - 1))}: fewer than two hosts, but a flow needs two: add hosts"


def _of_edges(nodes: Sequence[Node], edges: Sequence[Edge], at: Callable[[int], str]) -> Iterator[str]:
    kinds = {node.name: node.kind for node in nodes}
    taken: dict[tuple[str, str] | str, int] = {}  # by ends of a link, or by host
    for number, edge in enumerate(edges):
        ends, back = (edge.a, edge.b), (edge.b, edge.a)
        unknown = [end for end in ends if end not in kinds]
        hosts = [end for end in ends if kinds.get(end) == HOST]
        again = [taken[host] for host in hosts if host in taken]
        if unknown:
            yield f"{at(number)}: there is no node {shortened(unknown[0])}: add it to the nodes"
        elif edge.a == edge.b:
            yield f"{at(number)}: {edge.a!r} is linked to itself: name two nodes"
        elif len(hosts) == 2:
            yield f"{at(number)}: {edge.a!r} and {edge.b!r} are both hosts: put a switch between them"
        elif again:
            yield f"{at(number)}: host {hosts[0]!r} has a link already, {at(again[0])}: a host has one, its NIC"
        elif back in taken:
            twice = f"there is a link from {edge.b!r} to {edge.a!r}, {at(taken[back])}, for both directions"
            yield f"{at(number)}: {twice}: leave this out, or name the nodes of parallel links in the same order"
        taken.setdefault(ends, number)
        taken |= {host: number for host in hosts if host not in taken}


def _of_hosts(nodes: Sequence[Node], edges: Sequence[Edge], at: Callable[[int], str]) -> Iterator[str]:
    linked = {end for edge in edges for end in (edge.a, edge.b)}
    for number, node in enumerate(nodes):
        if node.kind == HOST and node.name not in linked:
            yield f"{at(number)}: host {node.name!r} has no link: add one to a switch"


def _of_shape(nodes: Sequence[Node], edges: Sequence[Edge], at: Callable[[int], str]) -> Iterator[str]:
    first = next(node.name for node in nodes if node.kind == HOST)
    joined = _hops_from([first], edges)
    apart = [number for number, node in enumerate(nodes) if node.name not in joined]
    for number in apart:
        yield f"{at(number)}: no links join {nodes[number].name!r} with host {first!r}: add links"
    if apart:
        return
    distances = _from_hosts(nodes, edges)
    for number, node in enumerate(nodes):
        distance = distances[node.name]
        if node.tier is not None and (node.tier == 0) != (distance == 1):
            has, rule = ("has hosts", "it is 0") if distance == 1 else ("has no host", "it is at least 1")
            yield f"{at(number)}: tier = {node.tier}, but switch {node.name!r} {has}: {rule}, or left out"


def _from_hosts(nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[str, int]:
    """Return by node the hops from the nearest host; a switch without a tier of its own has one less as its tier."""
    return _hops_from([node.name for node in nodes if node.kind == HOST], edges)


def _hops_from(starts: Iterable[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return by node the hops from the nearest of `starts`; nodes that no links join with one are not there."""
    return _hops(starts, _beside(edges))


def _beside(edges: Iterable[Edge]) -> dict[str, list[str]]:
    """Return by node those that a link joins with it."""
    beside: dict[str, list[str]] = {}
    for edge in edges:
        beside.setdefault(edge.a, []).append(edge.b)
        beside.setdefault(edge.b, []).append(edge.a)
    return beside


def _hops(starts: Iterable[str], beside: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return by node the hops from the nearest of `starts`, over neighbours."""
    hops = dict.fromkeys(starts, 0)
    reached = list(hops)
    for node in reached:  # the list grows meanwhile
        for other in beside.get(node, ()):
            if other not in hops:
                hops[other] = hops[node] + 1
                reached.append(other)
    return hops
