"""Property: an excerpt is some whole blocks of a fabric, whose flows keep the whole's rates and shares of partners."""

from typing import Any

import numpy as np
import pytest

from capsim import (
    Batch,
    Collective,
    DrawnFault,
    Dumbbell,
    Edge,
    FatTree,
    Incast,
    LeafSpine,
    LinkChange,
    Listed,
    Node,
    OnOff,
    ParameterError,
    Poisson,
    Scenario,
    Scheme,
    Topology,
    draw_flows,
    excerpt,
    load_scenario,
    scheme,
    schemes,
    simulate,
)
from capsim.fabric.endpoints import pods
from capsim.fabric.kinds import AnyFabric
from capsim.fabric.traffic import AnyTraffic
from capsim.results.manifest import run_id, run_parameters
from capsim.scenario.excerpt import check_scheme
from capsim.scenario.scenario import excerpts

LARGE = LeafSpine(leaves=16, hosts_per_leaf=4, spines=3)
FLOWS = Poisson(flow_bytes=20_000, load=0.5, flows=16_000)


def graph(leaves: int, *, rate_bps: float = 1e9) -> Topology:
    """Return leaves a, b, ... with three hosts each under two spines; the hosts of the last have another rate."""
    names = [chr(ord("a") + leaf) for leaf in range(leaves)]
    hosts = [(f"h{leaf}{number}", leaf) for leaf in names for number in range(3)]
    nodes = [*(Node(host, "host") for host, _ in hosts), *(Node(name, "switch") for name in (*names, "s0", "s1"))]
    links = [(*ends, rate_bps if ends[1] == names[-1] else 1e9) for ends in hosts]
    links += [(leaf, spine, 1e9) for leaf in names for spine in ("s0", "s1")]
    return Topology(nodes=tuple(nodes), edges=tuple(Edge(a, b, rate_bps=rate, delay_s=1e-6) for a, b, rate in links))


def large(*entries: AnyTraffic, fabric: AnyFabric = LARGE, **keys: Any) -> Scenario:
    return Scenario(fabric=fabric, traffic=entries or (FLOWS,), **keys)


FABRICS: dict[str, AnyFabric] = {
    "leaf-spine": LARGE,
    "fat-tree": FatTree(pods=8),
    "oversubscribed tree": FatTree(pods=8, hosts_per_edge=6),
    "graph": graph(9),
}


def test_excerpt_has_the_ports_and_the_load_of_its_blocks(subtests: pytest.Subtests) -> None:
    """Of names and links as they are in the whole. Wrong line: a block that is not whole, a load that changes."""
    for name in FABRICS:
        with subtests.test(name=name):
            whole = large(fabric=FABRICS[name])
            small = excerpt(whole)
            ours, all_of_it = small.fabric.build(), whole.fabric.build()
            values = [{port: (rate, delay) for port, rate, delay in _ports(fabric)} for fabric in (ours, all_of_it)]
            assert values[0].items() <= values[1].items()
            links, links_of_whole = (np.bincount(fabric.port_from)[fabric.n_hosts :] for fabric in (ours, all_of_it))
            assert set(links[ours.leaf_of_host]) == set(links_of_whole[all_of_it.leaf_of_host])
            assert small.fabric.size().hosts == ours.n_hosts
            assert small.fabric.size().ports == ours.n_ports
            per_host = [
                each.traffic[0].rate_per_s(built) / built.n_hosts for each, built in ((small, ours), (whole, all_of_it))
            ]
            assert per_host[0] == pytest.approx(per_host[1], rel=1e-12)
            assert small.traffic[0].flows == round(16_000 * ours.n_hosts / all_of_it.n_hosts)


def _ports(fabric: Any) -> list[tuple[str, int, int]]:
    return list(zip(fabric.port_names, fabric.rate_bps.tolist(), fabric.delay_ps.tolist(), strict=True))


@pytest.mark.parametrize("name", FABRICS)
def test_excerpt_keeps_the_shares_of_near_partners(name: str) -> None:
    """Within four deviations of what all pairs of the whole say: at the same switch, and elsewhere in the pod."""
    whole = large(fabric=FABRICS[name])
    small = excerpt(whole.replace(traffic=(Poisson(flow_bytes=1000, load=0.5, flows=100_000),)))
    built = whole.fabric.build()
    leaf, pod = built.leaf_of_host, pods(built)
    hosts = np.arange(1, built.n_hosts)
    expected = [np.mean(leaf[hosts] == leaf[0]), np.mean((pod[hosts] == pod[0]) & (leaf[hosts] != leaf[0]))]
    fabric = small.fabric.build()
    flows = draw_flows(small.traffic, fabric, seed=1, short_bytes=1)
    leaf, pod = fabric.leaf_of_host, pods(fabric)
    same, near = leaf[flows.src] == leaf[flows.dst], pod[flows.src] == pod[flows.dst]
    for share, found in zip(expected, (same, near & ~same), strict=True):
        assert abs(found.mean() - share) <= 4 * np.sqrt(share * (1 - share) / len(found))


ENTRIES: list[tuple[AnyTraffic, dict[str, Any]]] = [
    (
        Poisson(flow_bytes=9, flows_per_s=1e4, duration_s=1.0, hosts=32, skip_hosts=8),
        {"flows_per_s": 2500.0, "hosts": 8, "skip_hosts": 2},
    ),
    (Poisson(flow_bytes=9, load=0.5, flows="5%"), {"flows": "5%", "load": 0.5}),
    (Poisson(flow_bytes=9, load=0.5, flows=40, exact_load=True), {"flows": 10, "exact_load": False}),
    (Poisson(flow_bytes=9, load=0.5, flows=40, pairs="other-leaf"), {"pairs": "other-leaf", "edge_prob": 0.0}),
    (Batch(flow_bytes=9, flows=10), {"flows": 2}),
    (Batch(flow_bytes=9), {"flows": None}),
    (OnOff(flow_bytes=9, bursts=7, flows_per_burst=8, mean_on_s=1, mean_off_s=1), {"bursts": 7, "flows_per_burst": 2}),
    (
        Incast(flow_bytes=9, senders_per_round=8, rounds=12, period_s=1e-3),
        {"senders_per_round": 8, "rounds": 3, "period_s": 4e-3},
    ),
    (Incast(flow_bytes=9, senders_per_round=8, rounds=12, load=0.4, poisson=True), {"rounds": 3, "load": 0.1}),
]


def test_excerpt_of_an_entry(subtests: pytest.Subtests) -> None:
    """By hand, of 4 of 16 leaves. Wrong line: a rate that stays the whole's, or a share that is taken twice."""
    for entry, expected in ENTRIES:
        with subtests.test(entry=entry, expected=expected):
            small = excerpt(large(entry), leaves=4).traffic[0]
            assert {name: getattr(small, name) for name in expected} == expected


def test_excerpt_of_an_incast_has_the_whole_number_of_senders_under_the_receivers_leaf() -> None:
    """3 of 63 hosts on average, where a draw from all 15 others would give 3 of 15. Within four deviations."""
    small = excerpt(large(Incast(flow_bytes=9, senders_per_round=8, rounds=8000, period_s=1e-3)))
    fabric = small.fabric.build()
    flows = draw_flows(small.traffic, fabric, seed=1, short_bytes=1)
    near = np.mean(fabric.leaf_of_host[flows.src] == fabric.leaf_of_host[flows.dst])
    assert abs(near - 3 / 63) <= 4 * np.sqrt(3 / 63 / len(flows))
    rounds = flows.src.reshape(-1, 8)
    assert all(len(set(one)) == 8 for one in rounds[:50].tolist())


def test_excerpt_is_a_scenario_that_knows_what_it_is_of() -> None:
    """It goes through TOML, runs, and has its origin in the manifest. Wrong line: a key that reading fills in again."""
    whole = large(fabric=LeafSpine(leaves=8, hosts_per_leaf=2, spines=2, rate_bps=1e11, delay_s=1e-6), profile="100g")
    small = excerpt(whole, leaves=4)
    assert load_scenario(small.to_dict()) == small
    assert load_scenario(whole.to_dict() | {"excerpt": {"leaves": 4}}) == small
    run = simulate(small.replace(traffic=(Batch(flow_bytes=3000),)), engine="reference")
    kept = run.manifest["parameters"]["scenario"]["excerpt_of"]
    assert (kept["blocks"], kept["of_blocks"], kept["hosts"], kept["fabric"]["leaves"]) == (4, 8, 16, 8)
    assert "excerpt_of" not in whole.to_dict()


def test_built_pods_leave_the_id_of_a_whole_tree_alone() -> None:
    """Its id is of the tables without the key; with it there is another fabric."""
    ids = [
        run_id(run_parameters(large(fabric=FatTree(pods=4, **keys)), scheme("ecmp")))
        for keys in ({}, {"built_pods": None}, {"built_pods": 2})
    ]
    assert ids[0] == ids[1] != ids[2]


def test_excerpt_refuses_numbers_of_blocks(subtests: pytest.Subtests) -> None:
    cases = [
        ({"leaves": 3}, "leaves = 3, but an excerpt has at least 4: flows of one pair"),
        ({"leaves": 9}, "leaves = 9, but an excerpt has at most half of the 16 leaves: give fewer, or run the whole"),
        ({"pods": 4}, "pods = 4, but a leaf-spine is cut into leaves: give leaves = 4"),
        ({"leaves": 4, "blocks": 4}, "leaves and blocks of an excerpt: give one of them"),
    ]
    for asked, line in cases:
        with subtests.test(asked=asked, line=line), pytest.raises(ParameterError, match=line):
            excerpt(large(), **asked)


RING = Collective(algorithm="ring_allgather", vector_bytes=6400)
PAIRS = "an excerpt moves partners, and here they are the question: run the whole"
REFUSED: list[tuple[AnyTraffic, str]] = [
    (Batch(flow_bytes=9, pairs="permutation"), f"pairs = 'permutation', but {PAIRS}"),
    (Batch(flow_bytes=9, pairs="stride"), f"pairs = 'stride', but {PAIRS}"),
    (Batch(flow_bytes=9, pairs="sides"), f"pairs = 'sides', but {PAIRS}"),
    (Batch(flow_bytes=9, common_partners=True), f"common_partners = true, but {PAIRS}"),
    (Listed(flows=((0, 1, 9, 0.0),)), "1 of what a flow of the list meets is of its own pair: above 0.1 an excerpt"),
    (Listed(flows=((0, 1, 9, 0.0), (2, 1, 9, 0.0)), after=("", "0")), "flows of a list wait for others"),
    (Listed(flows=((0, 4, 9, 0.0),), path=("0",)), "flows of a list have paths by name"),
    (Listed(flows=((0, 64, 9, 0.0),)), "dst = 64, but hosts are numbered 0 to 63"),
    (RING, "a collective among hosts of 16 leaves, but an excerpt has 4: run the whole"),
    (Incast(flow_bytes=9, senders_per_round=8, rounds=9, receiver=3), "an incast with one receiver"),
    (Incast(flow_bytes=9, senders_per_round=8, rounds=9, same_ends=True), "an incast with one receiver"),
    (Incast(flow_bytes=9, senders_per_round=9, rounds=9), "senders_per_round = 9, but an excerpt of 16 hosts takes at"),
    (Incast(flow_bytes=9, senders_per_round=8, rounds=3), "rounds = 3: 0.75 of them fall to the excerpt: give more"),
    (OnOff(flow_bytes=9, bursts=9, flows_per_burst=9, mean_on_s=0, mean_off_s=1), "flows_per_burst = 9: 2.25 of them"),
]


def test_excerpt_refuses_traffic(subtests: pytest.Subtests) -> None:
    for entry, line in REFUSED:
        with subtests.test(entry=entry, line=line), pytest.raises(ParameterError, match=line):
            excerpt(large(FLOWS, entry))


def listed(*, hosts: int, block_hosts: int, each: int = 40) -> Listed:
    """Return flows of 100 bytes and more with random ends, twice as many from the first block as from any other."""
    rng = np.random.default_rng(1)
    src = np.concatenate([rng.integers(0, hosts, each * hosts), rng.integers(0, block_hosts, each * block_hosts)])
    dst = (src + rng.integers(1, hosts, len(src))) % hosts
    rows = zip(src.tolist(), dst.tolist(), rng.integers(100, 200, len(src)).tolist(), rng.random(len(src)), strict=True)
    return Listed(flows=tuple(rows), columns={"name": tuple(map(str, range(len(src))))})


@pytest.mark.parametrize("fabric", [LARGE, FatTree(pods=8)])
def test_a_list_has_the_flows_that_two_leaves_of_each_class_of_load_send(fabric: AnyFabric) -> None:
    """Of its own rows, from blocks of the seed; ends elsewhere stay in their class and leave their block.

    Wrong line: a block twice, an end of another class, a flow that moves into its block, the row of another flow.
    """
    blocks = fabric.blocks()
    kept, each = blocks.count // 2, blocks.block_hosts
    entry = listed(hosts=blocks.hosts, block_hosts=each)
    whole = np.array([row[:3] for row in entry.flows])
    load = sum(np.bincount(whole[:, end] // each, whole[:, 2]) for end in (0, 1))
    order = np.argsort(np.argsort(-load))
    class_of = order * (kept // 2) // blocks.count
    small = excerpt(large(entry, fabric=fabric), blocks=kept)
    drawn = []
    for seed in range(1, 9):
        flows = draw_flows(small.traffic, small.fabric.build(), seed=seed, short_bytes=1)
        src, dst, size = whole[flows.input_row].T
        assert (size == flows.flow_bytes).all()
        assert (src % each == flows.src % each).all()
        assert (dst % each == flows.dst % each).all()
        here, there = flows.src // each, flows.dst // each
        assert (class_of[src // each] == here // 2).all()
        assert (class_of[dst // each] == there // 2).all()
        assert ((src // each == dst // each) == (here == there)).all()
        pairs = set(zip(here.tolist(), (src // each).tolist(), strict=True))
        assert len(pairs) == len({block for _, block in pairs}) == kept
        assert len(flows) == np.isin(whole[:, 0] // each, list(dict(pairs).values())).sum()
        stays = np.array([dict(pairs)[block] for block in there.tolist()]) == dst // each
        assert stays[np.isin(dst // each, list(dict(pairs).values()))].all()
        drawn.append(frozenset(dict(pairs).values()))
    assert len(set(drawn)) > 1
    assert any(0 in one for one in drawn)


def test_a_list_of_an_excerpt_runs_with_its_columns() -> None:
    """And goes through TOML. Wrong line: a column of another flow, or as many flows as the whole has."""
    small = excerpt(large(listed(hosts=64, block_hosts=4)), leaves=8)
    assert load_scenario(small.to_dict()) == small
    assert small.traffic[0].expected_flows(small.fabric.build()) == len(small.traffic[0].flows) / 2
    flows = simulate(small, engine="reference").flows
    sizes = {str(row): flow[2] for row, flow in enumerate(small.traffic[0].flows)}
    assert [sizes[name] for name in flows["name"]] == flows["flow_bytes"].tolist()


def test_excerpt_refuses_a_list(subtests: pytest.Subtests) -> None:
    cases = [
        (large(listed(hosts=64, block_hosts=4)), {"leaves": 5}, "leaves = 5 of a list of flows, but two of each class"),
        (large(*[listed(hosts=64, block_hosts=4)] * 2), {}, "traffic has 2 lists of flows"),
        (large(listed(hosts=27, block_hosts=3), fabric=graph(9)), {}, "leaves of a list are told by the numbers of"),
    ]
    for scenario, keys, line in cases:
        with subtests.test(scenario=scenario, keys=keys, line=line), pytest.raises(ParameterError, match=line):
            excerpt(scenario, **keys)


def test_excerpt_refuses_a_list_beside_links_that_differ() -> None:
    whole = large(listed(hosts=64, block_hosts=4), fabric=leaves(link=("leaf3", "spine1")))
    with pytest.raises(ParameterError, match="a list of flows and the fabric links that differ"):
        excerpts(whole)


def test_a_list_says_both_what_it_is_of_or_neither() -> None:
    with pytest.raises(ParameterError, match="of_blocks = 8 and block_hosts = None of a list go together"):
        draw_flows((Listed(flows=((0, 1, 9, 0.0),), of_blocks=8),), LARGE.build(), seed=1, short_bytes=1)


SPINES = {"links": (LinkChange(between=("leaf*", "spine1"), rate_bps=1e8),)}
DIFFER = "links differ in some leaves only, and there is an excerpt of them and one of sound leaves: capsmodel estimate"


def leaves(*, link: tuple[str, str] | None = None, **keys: Any) -> LeafSpine:
    """Return the large leaf-spine with slow links between nodes of two names."""
    links = () if link is None else (LinkChange(between=link, rate_bps=1e8),)
    return LeafSpine(leaves=16, hosts_per_leaf=4, spines=3, links=links, **keys)


BAD_FABRICS: list[tuple[AnyFabric, str]] = [
    (Dumbbell(hosts_per_side=9), "a dumbbell has no leaves or pods that are alike, as an excerpt needs: run the whole"),
    (graph(9, rate_bps=1e8), "the parts of this topology without its top tier differ"),
    (leaves(link=("leaf3", "spine1")), DIFFER),
    (leaves(link=("leaf?", "spine1")), "links differ in 10 of 16 leaves, but in one of 4 of an excerpt: give fewer"),
    (leaves(link=("leaf?", "host?")), "links differ in several ways among leaves, but in an excerpt one differs in"),
    (leaves(faults=(DrawnFault(between=("leaf*", "spine*"), count=9, down_s=0),)), "in several ways among leaves"),
    (leaves(faults=(DrawnFault(nodes="leaf*", count=1, down_s=0),)), DIFFER),
    (leaves(faults=(DrawnFault(between=("leaf*", "*"), count=1, down_s=0),)), DIFFER),
]


def test_excerpt_refuses_fabrics(subtests: pytest.Subtests) -> None:
    for fabric, line in BAD_FABRICS:
        with subtests.test(fabric=fabric, line=line), pytest.raises(ParameterError, match=line):
            excerpt(large(fabric=fabric))


def test_excerpt_keeps_what_holds_for_all_blocks(subtests: pytest.Subtests) -> None:
    cases = [SPINES, {"faults": (DrawnFault(nodes="spine*", count=1, rate_bps=1e8),)}, {"buffer_packets": 9}]
    for changed in cases:
        with subtests.test(changed=changed):
            fabric = LeafSpine(leaves=16, hosts_per_leaf=4, spines=3, **changed)
            small = excerpt(large(fabric=fabric)).fabric
            assert small == LeafSpine(leaves=4, hosts_per_leaf=4, spines=3, **changed)
            small.build()


def slow(*ends: tuple[str, str]) -> tuple[LinkChange, ...]:
    return tuple(LinkChange(between=pair, rate_bps=1e8) for pair in ends)


def ends(host: int) -> list[tuple[str, str]]:
    return [(f"host{host}", "edge0.2"), ("edge0.2", f"host{host}")]


TOUCHED: list[tuple[AnyFabric, int, list[str]]] = [  # ports that are slow, of a leaf or pod by its number 0
    (leaves(link=("leaf3", "spine1")), 1, ["leaf0>spine1", "spine1>leaf0"]),
    (
        LeafSpine(leaves=16, hosts_per_leaf=4, spines=2, links=slow(("leaf3", "spine*"), ("leaf15", "spine*"))),
        2,
        ["leaf0>spine0", "leaf0>spine1", "spine0>leaf0", "spine1>leaf0"],
    ),
    (leaves(link=("*", "host13")), 1, ["host1>leaf0", "leaf0>host1"]),
    (
        FatTree(pods=8, links=slow(("agg5.1", "edge5.?"))),
        1,
        [*(f"agg0.1>edge0.{edge}" for edge in range(4)), *(f"edge0.{edge}>agg0.1" for edge in range(4))],
    ),
    (FatTree(pods=8, links=slow(("edge6.2", "host*"))), 1, [f"{a}>{b}" for n in range(8, 12) for a, b in ends(n)]),
]


def test_where_links_of_some_blocks_differ_the_second_excerpt_has_one_of_them(subtests: pytest.Subtests) -> None:
    """As the first block, and the first excerpt has none. Wrong line: other links of it, of two blocks, or a sum."""
    for fabric, count, ports in TOUCHED:
        with subtests.test(fabric=fabric, count=count, ports=ports):
            sound, touched = excerpts(large(fabric=fabric))
            assert sound.excerpt_of == touched.excerpt_of
            assert sound.excerpt_of is not None
            assert sound.excerpt_of.touched == count
            assert sound.replace(fabric=touched.fabric) == touched
            built = touched.fabric.build()
            slowed = np.array(built.port_names)[built.rate_bps == 1e8]
            assert sorted(slowed.tolist()) == sorted(ports)
            assert (sound.fabric.build().rate_bps > 1e8).all()
            assert load_scenario(touched.to_dict()) == touched


def test_the_seed_draws_which_link_of_a_block_differs() -> None:
    """That of the whole, with what holds for all and what is drawn above. Wrong line: another draw, or one left out."""
    drawn = DrawnFault(between=("leaf*", "spine*"), count=1, rate_bps=1e8)
    above = DrawnFault(nodes="spine*", count=1, delay_s=5e-6)
    alike = LinkChange(between=("leaf*", "host*"), rate_bps=5e8)
    fabric = LeafSpine(leaves=16, hosts_per_leaf=4, spines=3, links=(alike,), faults=(above, drawn))
    for seed in range(1, 6):
        (name,) = fabric.build(seed=seed).drawn[1]
        sound, touched = excerpts(large(fabric=fabric, seed=seed))
        assert sound.fabric.faults == touched.fabric.faults == (above,)
        assert touched.fabric.links[0] == alike
        assert touched.fabric.links[1].between == ("leaf0", name.split(">")[1])
        assert sound.fabric.links == (alike,)


def test_an_excerpt_of_an_excerpt_is_refused() -> None:
    with pytest.raises(ParameterError, match="this is an excerpt already: make another one of the whole"):
        excerpt(excerpt(large()))


def test_the_key_excerpt_is_checked() -> None:
    with pytest.raises(ParameterError, match="excerpt = 4, but it must be such as"):
        load_scenario(large().to_dict() | {"excerpt": 4})


def test_schemes_that_learn_by_pair_of_leaves_do_not_run_in_an_excerpt() -> None:
    """All others do. Wrong line: a scheme with memory for each leaf that runs, or DRILL with one for a set of ports."""
    refused = {name for name, each in schemes().items() if _is_refused(each)}
    assert {"conga", "ag", "freeway"} & set(schemes()) <= refused
    assert not {"ecmp", "uet", "drill", "letflow", "presto", "dctcp"} & refused
    with pytest.raises(ParameterError, match="scheme = 'conga': its switches learn by pair of leaves"):
        simulate(excerpt(large()), scheme="conga", engine="reference")


def _is_refused(one: Scheme) -> bool:
    try:
        check_scheme(one)
    except ParameterError:
        return True
    return False


def test_excerpt_has_room_where_the_whole_has_not() -> None:
    """Of 128 pods the whole has 3 million ports. Wrong line: a limit that is asked of the whole."""
    small = excerpt(large(Poisson(flow_bytes=9, load=0.5, flows=320), fabric=FatTree(pods=128)), pods=4)
    assert small.fabric == FatTree(pods=128, built_pods=4)
    assert small.traffic[0].flows == 10
