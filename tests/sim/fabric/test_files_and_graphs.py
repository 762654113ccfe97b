"""Identity and contract: fabrics from files and graphs are the built ones, their routes those of networkx."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_setups import BUSY, one_run, random_flows, setup_of

from capsim import (
    Batch,
    Edge,
    LeafSpine,
    LinkChange,
    Listed,
    Node,
    ParameterError,
    Probes,
    Result,
    Scenario,
    Topology,
    load_scenario,
    simulate,
)
from capsim.base import bounds
from capsim.engines import run
from capsim.fabric.base import FabricKind
from capsim.fabric.files import read_graph
from capsim.fabric.topology import NO_PATH, Fabric
from capsim.results.ideal import ideal_fct_s
from capsim.run.simulation import prepare
from capsim.scenario.scenario import from_dict

ARRAYS = ("port_from", "port_to", "rate_bps", "delay_ps", "buffer_packets", "buffer_bytes", "host_port", "switch_tier")
FAILING = LeafSpine(
    leaves=2,
    hosts_per_leaf=2,
    spines=3,
    host_buffer_packets=50,
    reroute_s=1e-4,
    links=(
        LinkChange(between=("leaf0", "spine1"), rate_bps=2e8, buffer_bytes=9000),
        LinkChange(between=("leaf*", "spine2"), down_s=1e-3, up_s=4e-3),
    ),
)
WRITTEN = {name: kind for name, (kind, _) in BUSY.items()} | {"failing": FAILING}


def written(fabric: Fabric, folder: Path) -> tuple[Path, Path]:
    """Write the nodes and links of a fabric without changes as CSV files; a port and the next one are a link."""
    kinds = ["host" if node < fabric.n_hosts else "switch" for node in range(fabric.n_hosts + fabric.n_switches)]
    nodes = [f"{name},{kind}" for name, kind in zip(fabric.node_names, kinds, strict=True)]
    links = [
        f"{fabric.node_names[fabric.port_from[port]]},{fabric.node_names[fabric.port_to[port]]},"
        f"{fabric.rate_bps[port]},{fabric.delay_ps[port]}"
        for port in range(0, fabric.n_ports, 2)
    ]
    files = folder / "nodes.csv", folder / "links.csv"
    for file, head, lines in zip(files, ("name,kind", "a,b,rate_bps,delay_ps"), (nodes, links), strict=True):
        file.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    return files


def from_files(kind: FabricKind, folder: Path) -> Topology:
    """Return the topology of the files that a fabric is written to, with its buffers and changes of links."""
    shared = {name: getattr(kind, name) for name in FabricKind.__struct_fields__}
    plain = type(kind)(**{name: getattr(kind, name) for name in kind.__struct_fields__} | {"links": ()})
    nodes, edges = read_graph(*written(plain.build(), folder))
    return Topology(nodes=nodes, edges=edges, **shared)


def test_a_fabric_that_was_written_to_files_is_the_same(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for name in WRITTEN:
        with subtests.test(name=name):
            built, read = WRITTEN[name].build(), from_files(WRITTEN[name], tmp_path).build()
            for array in (*ARRAYS, "leaf_of_host"):
                ours, theirs = getattr(read, array), getattr(built, array)
                assert ours.dtype == theirs.dtype
                assert np.array_equal(ours, theirs), array
            assert (read.node_names, read.port_names) == (built.node_names, built.port_names)
            assert len(read.epochs) == len(built.epochs)
            for ours, theirs in zip(read.epochs, built.epochs, strict=True):
                assert ours.time_ps == theirs.time_ps
                assert np.array_equal(ours.port_up, theirs.port_up)
                for part in ("first", "count", "candidates"):
                    assert np.array_equal(getattr(ours.routes, part), getattr(theirs.routes, part))
            assert set(read.port_path) == {NO_PATH}


@pytest.mark.parametrize("scheme", ["rps", "caps"])
@pytest.mark.parametrize("name", WRITTEN)
def test_so_is_its_run(name: str, scheme: str, tmp_path: Path) -> None:
    kind = WRITTEN[name]
    flows = random_flows(kind.node_counts()[0], n_flows=20, rng=3)
    built, read = (run(setup_of(fabric, flows, scheme)) for fabric in (kind, from_files(kind, tmp_path)))
    for table in ("flows", "subs", "ports", "trace"):
        ours, theirs = getattr(read, table), getattr(built, table)
        names = [
            name for name in ours.dtype.names if (table, name) != ("ports", "layer")
        ]  # kinds of nodes are not read
        assert all(ours[name].tobytes() == theirs[name].tobytes() for name in names), table


SWITCHES = "abcdefgh"


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    """Draw hosts on a connected graph of switches, with nodes and links in any order and direction."""
    count = draw(st.integers(1, len(SWITCHES)))
    tree = {(SWITCHES[draw(st.integers(0, number - 1))], SWITCHES[number]) for number in range(1, count)}
    pairs = [(one, other) for one in SWITCHES[:count] for other in SWITCHES[:count] if one < other]
    chosen = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    places = draw(st.lists(st.sampled_from(SWITCHES[:count]), min_size=2, max_size=6))
    nodes = [(f"h{number}", "host") for number in range(len(places))] + [(name, "switch") for name in SWITCHES[:count]]
    links = [(f"h{number}", place) for number, place in enumerate(places)] + sorted(tree | chosen)
    graph = nx.Graph()
    for name, kind in draw(st.permutations(nodes)):
        graph.add_node(name, kind=kind, x=0.5)
    for a, b in draw(st.permutations(links)):
        rate_bps, delay_s = draw(st.sampled_from([1e8, 1e9, 1e10])), draw(st.sampled_from([0.0, 1e-6, 3e-5]))
        graph.add_edge(*draw(st.permutations([a, b])), rate_bps=rate_bps, delay_s=delay_s, weight=7)
    return graph


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_paths_are_the_shortest_ones_of_networkx(graph: nx.Graph) -> None:
    fabric = Topology.from_networkx(graph).build()
    ends = list(zip(fabric.port_from.tolist(), fabric.port_to.tolist(), strict=True))
    named = [name for name, kind in graph.nodes(data="kind") if kind == "host"]
    assert fabric.node_names[: fabric.n_hosts] == tuple(named)
    longest = 0
    for src in range(fabric.n_hosts):
        assert ends[fabric.host_port[src]] == (src, fabric.n_hosts + fabric.leaf_of_host[src])
        for dst in set(range(fabric.n_hosts)) - {src}:
            ours = [[src, *(ends[port][1] for port in path)] for path in fabric.paths(src, dst)]
            theirs = list(nx.all_shortest_paths(graph, named[src], named[dst]))
            assert sorted([fabric.node_names[node] for node in path] for path in ours) == sorted(theirs)
            longest = max(longest, len(theirs[0]) - 1)
    assert fabric.routes.most_links == longest
    for node, tier in enumerate(fabric.switch_tier, start=fabric.n_hosts):
        hops = [nx.shortest_path_length(graph, fabric.node_names[node], host) for host in named]
        assert tier == min(hops) - 1
        assert fabric.node_kinds[node] == f"tier{tier}"
    for (a, b), port in zip(pairwise(ends), range(fabric.n_ports), strict=False):
        assert port % 2 or a == b[::-1]


@pytest.mark.agreement
@given(graphs(), st.integers(0, 2**32), st.sampled_from(["ecmp", "rps", "caps"]))
@settings(max_examples=15, deadline=None)
def test_engines_agree_on_any_graph_and_none_is_faster_than_ideal(graph: nx.Graph, seed: int, scheme: str) -> None:
    kind = Topology.from_networkx(graph, buffer_packets=15)
    flows = random_flows(kind.node_counts()[0], n_flows=5, rng=seed)
    setup = setup_of(kind, flows, scheme)
    records = one_run(setup).flows
    fct_s = (records["received_ps"] - records["start_ps"])[records["received_ps"] >= 0] / 1e12
    least_s = ideal_fct_s(flows, setup.fabric, mss_bytes=1460, header_bytes=40)[records["received_ps"] >= 0]
    assert np.all(fct_s >= least_s * (1 - 1e-12))


def line_of(switches: int, **changes: Any) -> Topology:
    """Return a host at each end of a line of switches."""
    names = ["x", *(f"s{number}" for number in range(switches)), "y"]
    nodes = tuple(Node(name, "host" if name in ("x", "y") else "switch") for name in names)
    return Topology(nodes=nodes, edges=tuple(Edge(a, b, 1e9, 1e-6) for a, b in pairwise(names)), **changes)


def test_tiers_are_distances_from_hosts_unless_they_are_given() -> None:
    fabric = line_of(5).build()
    assert fabric.switch_tier.tolist() == [0, 1, 2, 1, 0]
    assert fabric.layers == (*("host>tier0", "tier0>host", "tier0>tier1", "tier1>tier0", "tier1>tier2", "tier2>tier1"),)
    given_tier = tuple(Node(node.name, node.kind, 4 if node.name == "s2" else None) for node in line_of(5).nodes)
    fabric = Topology(nodes=given_tier, edges=line_of(5).edges).build()
    assert fabric.switch_tier.tolist() == [0, 1, 4, 1, 0]
    assert fabric.node_kinds[4] == "tier4"


def test_buffers_of_a_link_are_those_of_its_switches() -> None:
    own = {"s0": {"buffer_packets": 7}, "s1": {"buffer_bytes": 9000}, "s2": {}, "y": {}}
    edges = tuple(Edge(edge.a, edge.b, 1e9, 1e-6, **own[edge.b]) for edge in line_of(3).edges)
    shared = Topology(nodes=line_of(3).nodes, edges=edges, buffer_packets=30, host_buffer_bytes=4000).build()
    limits = dict(zip(shared.port_names, zip(shared.buffer_packets, shared.buffer_bytes, strict=True), strict=True))
    assert limits == {
        "x>s0": (-1, 4000), "s0>x": (7, -1), "s0>s1": (-1, 9000), "s1>s0": (-1, 9000),
        "s1>s2": (30, -1), "s2>s1": (30, -1), "s2>y": (30, -1), "y>s2": (-1, 4000),
    }  # fmt: skip


def test_packets_get_no_farther_than_their_time_to_live() -> None:
    fabric = line_of(255).build()
    assert (fabric.routes.most_links, fabric.n_paths(0, 1)) == (256, 1)
    with pytest.raises(ParameterError, match="links between two switches = 255, but it must be from 0 to 254 hops"):
        line_of(256).build()
    ring = (*line_of(300).edges, Edge("s0", "s299", 1e9, 1e-6))
    cut = (LinkChange(between=("s0", "s299"), down_s=1.0),)
    assert Topology(nodes=line_of(300).nodes, edges=ring).build().routes.most_links == 3
    with pytest.raises(ParameterError, match="links between two switches = 255"):
        Topology(nodes=line_of(300).nodes, edges=ring, links=cut).build()


def test_a_trace_is_expected_to_have_two_lines_a_packet_and_link() -> None:
    traffic = (Listed(flows=((0, 1, 146_000, 0.0),)),)
    scenario = Scenario(fabric=line_of(9), traffic=traffic, trace="packets")
    assert len(simulate(scenario, engine="reference").trace) == 2 * 2 * 100 * 10
    assert prepare(scenario).fabric.routes.most_links == 10


DETOUR = (
    *(Edge("x", "a", 1e10, 1e-6), Edge("y", "c", 1e10, 1e-6)),
    *(Edge("a", "c", 1e8, 1e-4), Edge("a", "b", 1e10, 1e-6), Edge("b", "c", 1e10, 1e-6)),
)


def test_a_detour_that_is_faster_than_the_shortest_path_counts_in_the_ideal_time() -> None:
    """Out of service, the slow direct link leaves two fast ones; in service, packets have to take it."""
    nodes = tuple(Node(name, "host" if name in "xy" else "switch") for name in "xyabc")
    traffic = (Listed(flows=((0, 1, 1460, 0.0), (0, 1, 1460, 2.0))),)
    direct = Scenario(fabric=Topology(nodes=nodes, edges=DETOUR), traffic=traffic)
    cut = LinkChange(between=("a", "c"), down_s=1.0)
    failing = direct.replace(fabric=Topology(nodes=nodes, edges=DETOUR, links=(cut,)))
    one_packet_s = 2 * (1500 * 8 / 1e10 + 1e-6) + 1500 * 8 / 1e8 + 1e-4
    flows = simulate(direct, engine="reference").flows
    assert flows["ideal_fct_s"].tolist() == pytest.approx([one_packet_s] * 2, rel=1e-12)
    assert flows["slowdown"].tolist() == pytest.approx([1, 1], rel=1e-12)
    flows = simulate(failing, engine="reference").flows
    assert flows["fct_s"].tolist() == pytest.approx([one_packet_s, 4 * (1500 * 8 / 1e10 + 1e-6)], rel=1e-12)
    assert flows["ideal_fct_s"].tolist() == pytest.approx([3 * (1500 * 8 / 1e10 + 1e-6)] * 2, rel=1e-12)


def test_the_ideal_time_of_a_grid_is_found_although_its_paths_cannot_be_counted() -> None:
    """20 by 20 switches, 3.5e10 shortest paths between two corners, and nearly as many of different rates."""
    grid = nx.grid_2d_graph(20, 20)
    names = {(i, j): f"s{i}.{j}" for i, j in grid.nodes}
    rates = np.random.default_rng(5).uniform(1e9, 2e9, grid.number_of_edges()).round()
    edges = [Edge(names[a], names[b], rate, 0.0) for (a, b), rate in zip(grid.edges, rates.tolist(), strict=True)]
    ends = [Edge("x", "s0.0", 1e9, 0.0), Edge("y", "s19.19", 1e9, 0.0)]
    hosts = (Node("x", "host"), Node("y", "host"))
    kind = Topology(nodes=(*hosts, *(Node(name, "switch") for name in names.values())), edges=(*ends, *edges))
    (row,) = simulate(Scenario(fabric=kind, traffic=(Listed(flows=((0, 1, 1460, 0.0),)),))).flows.itertuples()
    at_most_s = 2 * 12e-6 + 38 * 12e-6
    assert 2 * 12e-6 + 38 * 6e-6 < row.ideal_fct_s <= row.fct_s < at_most_s


GRAPH: dict[str, Any] = {
    "nodes": [{"name": name, "kind": "host" if name in "xy" else "switch"} for name in "xysab"],
    "edges": [{"a": a, "b": b, "rate_bps": "1Gbps", "delay_s": "1us"} for a, b in ("xs", "ys", "sa", "sa", "sb", "ab")],
}


def test_a_topology_may_stand_in_the_scenario_itself_and_links_have_numbers() -> None:
    cut = [{"between": ["s", "a"], "parallel": 2, "rate_bps": "100Mbps"}]
    scenario = from_dict({
        "fabric": {"kind": "topology", "links": cut, **GRAPH},
        "traffic": [{"kind": "batch", "flow_bytes": 3000, "hosts": 1}],
    })  # fmt: skip
    fabric = scenario.fabric.build()
    rates = dict(zip(fabric.port_names, fabric.rate_bps.tolist(), strict=True))
    assert (rates["s>a"], rates["s>a#2"], rates["a>s#2"]) == (10**9, 10**8, 10**8)
    assert fabric.switch_tier.tolist() == [0, 1, 1]
    assert from_dict(scenario.to_dict()) == scenario


def saved_files(folder: Path) -> Path:
    """Write nodes, links and a scenario that names them, and return the scenario's file."""
    (folder / "n.csv").write_text("kind,name\nhost,x\nhost,y\nswitch,s\nswitch,a\nswitch,b\n", encoding="utf-8")
    links = ["delay_us,a,b,rate_gbps,buffer_kb", "1,x,s,1,", "1us,y,s,1.0,", "1,s,a,1Gbps,", "1,s,a,1,"]
    links += ["1,s,b,1000Mbps,", "0.001ms,a,b,1,"]
    (folder / "l.csv").write_text("\n".join(links), encoding="utf-8")
    file = folder / "scenario.toml"
    file.write_text(
        "[fabric]\nkind = 'file'\nnodes_file = 'n.csv'\nlinks_file = 'l.csv'\nbuffer_packets = 9\n"
        "[[fabric.links]]\nbetween = ['s', 'a']\ndown_s = '1ms'\n"
        "[[traffic]]\nkind = 'batch'\nflow_bytes = '20KB'\npairs = 'permutation'\n",
        encoding="utf-8",
    )
    return file


def test_a_scenario_holds_what_stood_in_its_files(tmp_path: Path) -> None:
    scenario = load_scenario(saved_files(tmp_path))
    nodes = tuple(Node(**node) for node in GRAPH["nodes"])
    edges = tuple(Edge(edge["a"], edge["b"], 1e9, 1e-6) for edge in GRAPH["edges"])
    cut = (LinkChange(between=("s", "a"), down_s=1e-3),)
    assert scenario.fabric == Topology(nodes=nodes, edges=edges, buffer_packets=9, links=cut)
    result = simulate(scenario, engine="reference")
    for file in ("n.csv", "l.csv"):
        (tmp_path / file).unlink()
    folder = result.save(tmp_path / "out")
    assert Result.load(folder).scenario == scenario
    (tmp_path / "again.toml").write_text(scenario.to_toml(), encoding="utf-8")
    assert load_scenario(tmp_path / "again.toml") == scenario
    assert result.manifest["id"] == simulate(tmp_path / "again.toml", engine="reference").manifest["id"]


def test_networkx_and_files_describe_the_same_topology(tmp_path: Path) -> None:
    graph = nx.MultiGraph()
    for node in GRAPH["nodes"]:
        graph.add_node(node["name"], kind=node["kind"], name="not read", colour="red")
    for edge in GRAPH["edges"]:
        graph.add_edge(edge["a"], edge["b"], rate_bps=1e9, delay_s=1e-6)
    cut = (LinkChange(between=("s", "a"), down_s=1e-3),)
    made = Topology.from_networkx(graph, buffer_packets=9, links=cut)
    assert made == load_scenario(saved_files(tmp_path)).fabric
    numbers = nx.relabel_nodes(graph, dict(zip("xysab", range(5), strict=True)))
    assert Topology.from_networkx(numbers).build().port_names[:2] == ("0>2", "2>0")


def test_a_graph_that_was_saved_or_has_units_is_the_same_topology(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """GML writes whole numbers beyond 32 bits as texts."""
    for save in ["gml", "graphml", "units", "numpy"]:
        with subtests.test(save=save):
            graph = nx.Graph()
            graph.add_nodes_from(
                [("x", {"kind": "host"}), ("y", {"kind": "host"}), ("s", {"kind": "switch", "tier": 0})]
            )
            graph.add_edge("x", "s", rate_bps=10**10, delay_s=2e-6, buffer_bytes=3 * 10**9)
            graph.add_edge("y", "s", rate_bps=10**9, delay_s=2e-6, buffer_packets=7)
            expected = Topology.from_networkx(graph)
            assert [edge.rate_bps for edge in expected.edges] == [1e10, 1e9]
            if save == "units":
                graph.edges["x", "s"].update(rate_bps="10Gbps", delay_s="2us", buffer_bytes="3GB")
            elif save == "numpy":
                graph.edges["x", "s"].update(
                    rate_bps=np.int64(10**10), delay_s=np.float64(2e-6), buffer_bytes=np.int64(3 * 10**9)
                )
                graph.nodes["s"]["tier"] = np.int8(0)
            else:
                getattr(nx, f"write_{save}")(graph, tmp_path / "graph")
                graph = getattr(nx, f"read_{save}")(tmp_path / "graph")
            assert Topology.from_networkx(graph) == expected


def bad_graph(change: str) -> Any:
    graph = nx.Graph()
    graph.add_nodes_from([("x", {"kind": "host"}), ("y", {"kind": "host"}), ("s", {"kind": "switch"})])
    graph.add_edges_from([("x", "s"), ("y", "s")], rate_bps=1e9, delay_s=1e-6)
    if change == "directed":
        return graph.to_directed()
    if change == "asymmetric":
        graph = graph.to_directed()
        graph.edges["s", "x"]["rate_bps"] = 1e8
    if change == "kind":
        del graph.nodes["s"]["kind"]
    if change == "rate":
        graph.edges["x", "s"]["rate_bps"] = "fast"
    if change == "apart":
        graph.add_node("a", kind="switch")
    return graph


def test_a_graph_that_is_no_fabric_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        ("directed", r"links go both ways: give graph.to_undirected\(\)"),
        ("kind", "node s: Object missing required field `kind`"),
        ("asymmetric", r"the directions of x, s differ, \[\{'rate_bps': 1.* and .*: make them equal first$"),
        ("rate", "edge x, s: rate_bps: 'fast' is not a rate: write a number and a unit"),
        ("apart", r"fabric.nodes\[3\]: no links join 'a' with host 'x'"),
    ]
    for change, rule in cases:
        with subtests.test(change=change, rule=rule), pytest.raises(ParameterError, match=rule):
            Topology.from_networkx(bad_graph(change))


NODES = ["name,kind,tier", "x,host,", "y,host,", "s,switch,0", "t,switch,1"]
LINKS = ["a,b,rate_bps,delay_s", "x,s,1e9,1e-6", "y,s,1e9,1e-6", "s,t,1e9,1e-6"]
FAULTS = [
    ("nodes", 1, "name,typ,tier", "line 1: unknown column 'typ': the columns are name, kind and perhaps tier"),
    ("nodes", 1, "name,tier,x", "line 1: no column kind in ['name', 'tier', 'x'], separated by commas"),
    ("nodes", 1, "name,kind,kind", "line 1: 'kind' is the second column for 'kind'"),
    ("nodes", 1, "name,kind,", "line 1: column 3 has no name"),
    ("nodes", 2, "x,hots,", "line 2: kind: 'hots', but a node is a host or a switch"),
    ("nodes", 2, "x,,", "line 2: kind: an empty cell"),
    ("nodes", 2, "x,host", "line 2: 'x,host' has 2 cells for 3 columns, separated by commas"),
    ("nodes", 2, "x>y,host,", "line 2: name = 'x>y', but a name has 1 to 64 letters"),
    ("nodes", 3, "x,host,", "line 3: there is a node 'x' already, nodes.csv line 2"),
    ("nodes", 3, "y,host,1", "line 3: 'y' is a host, but only switches have a tier"),
    ("nodes", 3, "y,switch,", "line 5: fewer than two hosts"),
    ("nodes", 4, "s,switch,2", "line 4: tier = 2, but switch 's' has hosts: it is 0"),
    ("nodes", 5, "t,switch,0", "line 5: tier = 0, but switch 't' has no host: it is at least 1"),
    ("nodes", 5, "t,switch,1.5", "line 5: tier: '1.5' is no whole number"),
    ("nodes", 5, "t,switch,300", "line 5: tier: tier = 300, but it must be from 0 to 254"),
    ("links", 1, "a,b,rate_bps,delay", "line 1: unknown column 'delay'"),
    ("links", 1, "a,b,delay_s,delay_us", "line 1: 'delay_us' is the second column for 'delay_s'"),
    ("links", 2, "x,s,1e9,fast", "line 2: delay_s: 'fast' is not a time: write a number and a unit"),
    ("links", 2, "x,s,10us,1e-6", "line 2: rate_bps: '10us' is not a rate"),
    ("links", 2, "x,s,0.5,1e-6", "line 2: rate_bps: '0.5', that is rate_bps = 0.5, but it must be from 1 to"),
    ("links", 2, "x,q,1e9,1e-6", "line 2: there is no node 'q'"),
    ("links", 2, "x,x,1e9,1e-6", "line 2: 'x' is linked to itself"),
    ("links", 2, "x,y,1e9,1e-6", "line 2: 'x' and 'y' are both hosts: put a switch between them"),
    ("links", 3, "x,t,1e9,1e-6", "line 3: host 'x' has a link already, links.csv line 2: a host has one"),
    ("links", 3, "s,t,1e9,1e-6", "line 3: host 'y' has no link"),
    ("links", 3, "t,s,1e9,1e-6", "line 4: there is a link from 't' to 's', links.csv line 3, for both directions"),
    ("links", 4, "", "line 5: no links join 't' with host 'x'"),
]


def refusal(folder: Path, nodes: list[str], links: list[str]) -> ParameterError:
    files = folder / "nodes.csv", folder / "links.csv"
    for file, lines in zip(files, (nodes, links), strict=True):
        file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ParameterError) as raised:
        read_graph(*files)
    return raised.value


def test_each_fault_of_a_file_is_named_with_its_line(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for file, line, text, fault in FAULTS:
        with subtests.test(file=file, line=line, text=text, fault=fault):
            lines = {"nodes": list(NODES), "links": list(LINKS)}
            lines[file][line - 1] = text
            error = refusal(tmp_path, *lines.values())
            found = [str(error), *getattr(error, "__notes__", [])]
            assert any(fault in text for text in found), found
            assert all(text.startswith(("nodes.csv line ", "links.csv line ")) and "\n" not in text for text in found)


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    error = refusal(tmp_path, [*NODES, "t,switch,", "a b,switch,", "z,host,"], [*LINKS, "s,q,1,1"])
    assert str(error).startswith("nodes.csv line 6: there is a node 't' already")
    begins = ["nodes.csv line 7: name = 'a b'", "links.csv line 5: there is no node 'q'", "nodes.csv line 8: host 'z'"]
    assert [note.startswith(begin) for note, begin in zip(error.__notes__, begins, strict=True)] == [True] * 3
    apart = refusal(tmp_path, [*NODES[:4], "t,switch,0"], LINKS[:3])
    assert str(apart).startswith("nodes.csv line 5: no links join 't'")
    assert not hasattr(apart, "__notes__"), "a node that nothing joins has no distance to speak of"


def test_a_file_with_too_many_rows_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capsim.base.bounds.EDGES", replace(bounds.EDGES, largest=3))
    assert refusal(tmp_path, NODES, [*LINKS, "s,t,1,1", "s,t,1,?"]).args == (
        "links.csv has more than 3 rows, and no more are read",
    )


def test_of_many_faults_the_first_are_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, NODES, [LINKS[0], *["x,s,?,1"] * 50])
    lines = [text.partition(":")[0] for text in (str(error), *error.__notes__[:-1])]
    assert lines == [f"links.csv line {line}" for line in range(2, 22)]
    assert error.__notes__[-1] == "there may be more: nothing was read beyond this"


def test_other_tables_are_refused(subtests: pytest.Subtests, tmp_path: Path) -> None:
    cases = [
        ({"kind": "file", "nodes_file": "n.csv"}, "kind = 'file' has the keys nodes_file and links_file"),
        ({"kind": "file", "nodes_file": "n.csv", "links_file": "l.csv", "nodes": []}, "from files only"),
        ({"kind": "file", "nodes_file": "n.csv", "links_file": "l.csv", "rate_bps": 1e9}, "unknown key `rate_bps`"),
        ({"kind": "topology", **GRAPH, "edges": GRAPH["edges"][1:]}, r"fabric.nodes\[0\]: host 'x' has no link"),
        (
            {"kind": "topology", **GRAPH, "nodes": 3 * [{"name": "x", "kind": "router"}]},
            r"nodes\[0\].kind: 'router' is none of its values",
        ),
        ({"kind": "topology", **GRAPH, "edges": [GRAPH["edges"][0] | {"colour": 1}] * 2}, "unknown key `colour`"),
        ({"kind": "topology", "nodes": [], "edges": []}, r"fabric.nodes: Expected `array` of length >= 3"),
        ({"kind": "topology", "nodes": GRAPH["nodes"][1:], "edges": GRAPH["edges"][1:]}, "fewer than two hosts"),
    ]
    for fabric, rule in cases:
        with subtests.test(fabric=fabric, rule=rule):
            saved_files(tmp_path)
            traffic = [{"kind": "batch", "flow_bytes": 1}]
            with pytest.raises(ParameterError, match=rule):
                prepare(from_dict({"fabric": fabric, "traffic": traffic}, folder=tmp_path))


def test_probes_and_pairs_know_the_names_and_leaves_of_a_topology() -> None:
    traffic = (Batch(flow_bytes=20_000, pairs="other-leaf"),)
    fabric = line_of(3)
    scenario = Scenario(fabric=fabric, traffic=traffic, probes=Probes(period_s=1e-5, ports=("s0>s1",)))
    result = simulate(scenario, engine="reference")
    assert set(result.probes["entity"]) == {"s0>s1"}
    assert result.ports["layer"].astype(str).tolist()[:2] == ["host>tier0", "tier0>host"]
    assert set(result.ports["path"]) == {NO_PATH}
    assert "topology, 2 hosts, 3 switches" in repr(result)
