"""The paths between hosts: how many, their numbers and names; flows that are pinned to one keep to it."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from support.engine_setups import CROWDED, FABRICS, differences, setup_of

from capsim import (
    Edge,
    LeafSpine,
    LinkChange,
    Listed,
    Node,
    ParameterError,
    Scenario,
    Topology,
    load_scenario,
    simulate,
)
from capsim.engines import run
from capsim.engines.state import RawRecords, Setup
from capsim.fabric.base import FabricKind
from capsim.fabric.listed import pinned_paths
from capsim.fabric.paths import Paths, label_of, paths_between, reverse
from capsim.records import ACK, ARRIVED, DROPPED, LINK_DOWN
from capsim.scenario.scenario import from_dict


def uneven() -> Topology:
    """Two leaves joined over switches with one and with three choices: no two hosts see a tree."""
    inner = [("l", "a"), ("l", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("b", "e"), ("c", "r"), ("d", "r"), ("e", "r")]
    pairs = [("x", "l"), ("y", "r"), *inner]
    nodes = [
        Node(name, "host" if name in "xy" else "switch") for name in sorted({end for pair in pairs for end in pair})
    ]
    return Topology(nodes=tuple(nodes), edges=tuple(Edge(a, b, rate_bps=1e9, delay_s=1e-6) for a, b in pairs))


KINDS: dict[str, FabricKind] = {**FABRICS, "uneven": uneven()}


def test_a_path_has_the_number_of_its_place_among_all(subtests: pytest.Subtests) -> None:
    for kind in KINDS:
        with subtests.test(kind=kind):
            fabric = KINDS[kind].build()
            paths, last = Paths(fabric), fabric.n_hosts - 1
            for src, dst in {(0, last), (last, 0), (0, 1)}:
                found = list(fabric.paths(src, dst))
                n_paths, _ = paths_between(fabric, np.array([src]), np.array([dst]))
                assert n_paths.tolist() == [len(found)]
                assert [paths.named(str(number), src, dst) for number in range(len(found))] == found
                with pytest.raises(
                    ParameterError, match=f"path = {len(found)}, but there are {len(found)} from host {src}"
                ):
                    paths.named(str(len(found)), src, dst)


def test_no_two_paths_have_one_label_and_a_label_read_digit_by_digit_is_the_path(subtests: pytest.Subtests) -> None:
    for kind in KINDS:
        with subtests.test(kind=kind):
            fabric = KINDS[kind].build()
            dst = fabric.n_hosts - 1
            found = list(fabric.paths(0, dst))
            labels = [label_of(fabric, path, dst) for path in found]
            assert len(set(labels)) == len(found)
            for path, label in zip(found, labels, strict=True):
                rest = label
                for port in path[1:]:
                    ports = fabric.routes.ports(int(fabric.port_from[port]) - fabric.n_hosts, dst).tolist()
                    assert ports[rest % len(ports)] == port
                    rest //= len(ports)


def test_as_many_paths_as_networkx_finds() -> None:
    kind = uneven()
    fabric = kind.build()
    graph = nx.Graph([(edge.a, edge.b) for edge in kind.edges])
    expected = len(list(nx.all_shortest_paths(graph, "x", "y")))
    n_paths, distance = paths_between(fabric, np.array([0, 1]), np.array([1, 0]))
    assert (n_paths.tolist(), distance.tolist()) == ([expected] * 2, [2, 2])


def test_ways_and_distances_of_a_fat_tree() -> None:
    """Four pods of two racks of three: 1 path in the rack, 2 in the pod, 4 over the core; so in the flows table."""
    flows = tuple((0, dst, 1000, 0.0) for dst in (1, 3, 6))
    result = simulate(Scenario(fabric=FABRICS["fat-tree"], traffic=(Listed(flows=flows),)), engine="reference")
    assert result.flows["n_paths"].tolist() == [1, 2, 4]
    assert result.flows["distance"].tolist() == [0, 1, 2]


def test_the_other_direction_crosses_the_same_nodes_backwards() -> None:
    fabric = FABRICS["fat-tree"].build()
    for path in fabric.paths(0, fabric.n_hosts - 1):
        back = reverse(path)
        assert back in set(fabric.paths(fabric.n_hosts - 1, 0))
        assert fabric.port_from[list(back)].tolist() == fabric.port_to[list(reversed(path))].tolist()


# -- by name


def test_a_path_by_the_names_of_its_switches_with_or_without_the_hosts() -> None:
    fabric = FABRICS["fat-tree"].build()
    paths, last = Paths(fabric), fabric.n_hosts - 1
    for path in fabric.paths(0, last):
        nodes = [
            fabric.node_names[fabric.port_from[path[0]]],
            *(fabric.node_names[fabric.port_to[port]] for port in path),
        ]
        assert paths.named(">".join(nodes), 0, last) == path
        assert paths.named(" > ".join(nodes[1:-1]), 0, last) == path


def test_what_is_no_path_is_refused_with_one_that_is(subtests: pytest.Subtests) -> None:
    cases = ["leaf0>spine1", "spine1", "leaf0>spine9>leaf2", "leaf0>leaf2", "leaf2>spine0>leaf0", "-1", "one", ">", "²"]
    for text in cases:
        with (
            subtests.test(text=text),
            pytest.raises(ParameterError, match=r"no shortest path from host 0 to host 8: .* as in leaf0>spine0>leaf2"),
        ):
            Paths(FABRICS["leaf-spine"].build()).named(text, 0, 8)


def test_parallel_links_have_names_in_common_and_need_numbers() -> None:
    paths = Paths(FABRICS["parallel-paths"].build())
    with pytest.raises(ParameterError, match="no shortest path"):
        paths.named("left>right", 0, 7)
    assert len({paths.named(str(number), 0, 7) for number in range(4)}) == 4


# -- obeyed


def pinned(kind: FabricKind, name: str, *, fabric: str) -> Setup:
    """Return the busy set-up of a fabric in which every second flow is pinned, each to another path."""
    setup = setup_of(kind, CROWDED[fabric][1], name)
    flows, paths, pins = setup.flows, Paths(setup.fabric), {}
    for flow in range(0, len(flows), 2):
        src, dst = int(flows.src[flow]), int(flows.dst[flow])
        pins[flow] = paths.named(str(7 * flow % setup.fabric.n_paths(src, dst)), src, dst)
    return replace(setup, pinned=pins)


def keep_to_their_paths(raw: RawRecords, setup: Setup) -> bool:
    """Return whether every packet of a pinned flow arrived only over the links of its path, or of the way back."""
    arrived = raw.trace[raw.trace["what"] == ARRIVED]
    flow = raw.subs["flow"][arrived["sub"]]
    return all(
        set(arrived["port"][(flow == number) & (arrived["kind"] != ACK)]) == set(ports)
        and set(arrived["port"][(flow == number) & (arrived["kind"] == ACK)]) == set(reverse(ports))
        for number, ports in setup.pinned.items()
    )


@pytest.mark.parametrize("name", ["ecmp", "rps", "drill", "caps", "caps_ns2", "mptcp", "rps_pq"])
@pytest.mark.parametrize("fabric", ["leaf-spine", "fat-tree"])
def test_a_pinned_flow_keeps_to_its_path_whatever_the_balancer(fabric: str, name: str) -> None:
    setup = pinned(CROWDED[fabric][0], name, fabric=fabric)
    raw = run(setup)
    assert keep_to_their_paths(raw, setup)
    spread = replace(setup, pinned={}, end_ps=5 * 10**8)
    assert not keep_to_their_paths(run(spread), setup)


@pytest.mark.parametrize(("fabric", "name"), [("leaf-spine", "rps"), ("fat-tree", "caps"), ("parallel-paths", "mptcp")])
def test_engines_agree(fabric: str, name: str) -> None:
    assert differences(pinned(CROWDED[fabric][0], name, fabric=fabric)) == []


def test_a_flow_whose_path_fails_is_not_rerouted_and_no_other_one_moves() -> None:
    """Spine 1 of 3 is gone from 200 us on: what is pinned to it is lost, what is pinned to spine 2 stays there."""
    fabric, _ = CROWDED["leaf-spine"]
    tables = {key: getattr(fabric, key) for key in fabric.__struct_fields__}
    failing = LeafSpine(**tables | {"links": (LinkChange(between=("leaf*", "spine1"), down_s=2e-4),)})
    setup = pinned(failing, "ecmp", fabric="leaf-spine")
    raw = run(setup, engine="reference")
    names = setup.fabric.port_names
    over = {flow: names[ports[1]].partition(">")[2] for flow, ports in setup.pinned.items() if len(ports) == 4}
    lost = raw.trace[(raw.trace["what"] == DROPPED) & (raw.trace["reason"] == LINK_DOWN)]
    late = {int(flow) for flow in raw.subs["flow"][lost["sub"][lost["time_ps"] > 3 * 10**8]]}
    assert {over[flow] for flow in late & set(over)} == {"spine1"}
    assert all(raw.flows["received_ps"][flow] > 0 for flow, spine in over.items() if spine != "spine1")
    unaffected = {flow: ports for flow, ports in setup.pinned.items() if over.get(flow) != "spine1"}
    assert keep_to_their_paths(raw, replace(setup, pinned=unaffected))
    assert differences(setup) == []


def test_a_path_over_a_link_that_is_down_from_the_start_is_refused() -> None:
    links = (LinkChange(between=("leaf0", "spine1"), down_s=0.0),)
    fabric = LeafSpine(leaves=2, hosts_per_leaf=1, spines=3, links=links)
    flows = tuple((0, 1, 1000, 0.0) for _ in range(3))
    scenario = Scenario(fabric=fabric, traffic=(Listed(flows=flows, path=("2", "", "0")),), trace="packets")
    trace = simulate(scenario, engine="reference").trace.query("layer == 'leaf>spine' and packet == 'data'")
    assert {0: "leaf0>spine2", 2: "leaf0>spine0"}.items() <= dict(
        zip(trace["flow"], trace["port"], strict=True)
    ).items()
    down = scenario.replace(traffic=(Listed(flows=flows, path=("1", "", "")),))
    with pytest.raises(ParameterError, match="leaf0>spine1 is out of service from the start: take another path"):
        simulate(down, engine="reference")


# -- in a list of flows


def test_the_column_path_of_a_file_pins_flows_and_comes_back_with_the_results(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(
        "src,dst,bytes,start_s,path\n0,2,3000,0,1\n0,2,3000,0.1,leaf0>spine0>leaf1\n0,2,3000,0.2,\n"
    )
    text = '[fabric]\nkind = "leaf-spine"\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n'
    (tmp_path / "s.toml").write_text(
        f'trace = "packets"\nscheme = "rps"\n{text}[[traffic]]\nkind = "csv"\nfile = "flows.csv"\n'
    )
    scenario = load_scenario(tmp_path / "s.toml")
    assert from_dict(scenario.to_dict()) == scenario
    result = simulate(scenario, engine="reference")
    assert result.flows["path"].tolist() == ["1", "leaf0>spine0>leaf1", ""]
    data = result.trace.query("event == 'arrived' and packet == 'data' and layer == 'leaf>spine'")
    used = {flow: set(rows["port"]) for flow, rows in data.groupby("flow")}
    assert (used[0], used[1]) == ({"leaf0>spine1"}, {"leaf0>spine0"})
    result.save(tmp_path / "out")
    assert type(result).load(tmp_path / "out").flows["path"].tolist() == result.flows["path"].tolist()


def test_a_file_without_a_path_in_any_row_is_a_plain_list(tmp_path: Path) -> None:
    table = {"fabric": {"kind": "dumbbell", "hosts_per_side": 1}, "traffic": [{"kind": "csv", "file": "f.csv"}]}
    (tmp_path / "f.csv").write_text("src,dst,bytes,start_s,path\n0,1,3000,0,\n")
    entry = from_dict(table, folder=tmp_path).traffic[0]
    assert entry == Listed(flows=((0, 1, 3000, 0.0),))
    setup = setup_of(FABRICS["dumbbell"], CROWDED["dumbbell"][1])
    assert pinned_paths((entry,), setup.flows, setup.fabric) == {}


def test_bad_paths_are_told_in_one_line(subtests: pytest.Subtests) -> None:
    cases = [
        ({"path": ["7"]}, r"traffic\[0\]\.flows\[0\]: path = 7, but there are 2 from host 0 to host 2, from 0"),
        (
            {"path": ["leaf0>spine5>leaf1"]},
            r"traffic\[0\]\.flows\[0\]: path = 'leaf0>spine5>leaf1' is no shortest path",
        ),
        ({"path": ["0", "1"]}, r"traffic\.'path' has 2 cells for 1 flows: give one for each"),
        ({"columns": {"path": ["0"]}}, r"traffic\.columns: 'path' is a key beside it"),
    ]
    for entry, text in cases:
        with subtests.test(entry=entry, text=text):
            fabric = {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2}
            traffic = [{"kind": "list", "flows": [[0, 2, 1000, 0.0]], **entry}]
            with pytest.raises(ParameterError, match=text) as error:
                simulate(from_dict({"fabric": fabric, "traffic": traffic}), engine="reference")
            assert "\n" not in str(error.value)


def test_consecutive_ports_of_a_named_path_meet() -> None:
    fabric = KINDS["uneven"].build()
    for number in range(fabric.n_paths(0, 1)):
        ports = Paths(fabric).named(str(number), 0, 1)
        assert all(fabric.port_to[one] == fabric.port_from[other] for one, other in pairwise(ports))
