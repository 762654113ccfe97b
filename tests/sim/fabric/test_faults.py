"""Faults and hot spots that are drawn: how many, which ones by seed and entry, and what then differs."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

from capsim import (
    Batch,
    DrawnFault,
    FatTree,
    LeafSpine,
    ParallelPaths,
    ParameterError,
    Scenario,
    load_scenario,
    simulate,
    with_settings,
)
from capsim.fabric.topology import Fabric
from capsim.run.needs import check_fabric
from capsim.run.simulation import prepare
from capsim.scenario.scenario import from_dict

CORES = DrawnFault(nodes="core*", count=2, one_way=True, buffer_packets=10)


def tree(*faults: DrawnFault, seed: int = 1) -> Fabric:
    return FatTree(pods=4, faults=faults).build(seed=seed)


def named(fabric: Fabric, column: str, value: Any) -> set[str]:
    """Return the names of the ports that have a value."""
    return {
        name for name, found in zip(fabric.port_names, getattr(fabric, column).tolist(), strict=True) if found == value
    }


def test_hot_spots_have_small_queues_towards_the_pods_and_nothing_else_differs() -> None:
    fabric, plain = tree(CORES), FatTree(pods=4).build()
    (drawn,) = fabric.drawn
    assert len(drawn) == 2
    small = named(fabric, "buffer_packets", 10)
    assert small == {name for name in fabric.port_names if name.partition(">")[0] in drawn}
    assert len(small) == 2 * 4
    assert named(fabric, "buffer_packets", 256) == named(plain, "buffer_packets", 256) - small
    for same in ("rate_bps", "delay_ps", "buffer_bytes", "loss_prob"):
        assert np.array_equal(getattr(fabric, same), getattr(plain, same))


@pytest.mark.agreement
def test_every_switch_is_drawn_as_often_as_any_other() -> None:
    counts: dict[str, int] = {f"core{number}": 0 for number in range(4)}
    for seed in range(400):
        for name in tree(CORES, seed=seed).drawn[0]:
            counts[name] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


def test_the_seed_and_the_position_decide() -> None:
    assert tree(CORES, seed=3).drawn == tree(CORES, seed=3).drawn
    assert len({tree(CORES, seed=seed).drawn for seed in range(30)}) == 6  # two of four
    assert any(len(set(tree(CORES, CORES, seed=seed).drawn)) == 2 for seed in range(10))


def test_a_larger_set_holds_the_smaller_ones(subtests: pytest.Subtests) -> None:
    for seed in range(5):
        with subtests.test(seed=seed):
            sets = [set(tree(DrawnFault(nodes="*", count=count), seed=seed).drawn[0]) for count in range(0, 21, 5)]
            assert [len(each) for each in sets] == [0, 5, 10, 15, 20]
            assert all(small < large for small, large in pairwise(sets))


def test_a_share_is_rounded_down(subtests: pytest.Subtests) -> None:
    cases = [(0.0, 0), (0.1, 0), (0.25, 1), (0.6, 2), (0.75, 3), (1.0, 4)]
    for share, count in cases:
        with subtests.test(share=share, count=count):
            assert len(tree(DrawnFault(nodes="core*", share=share, rate_bps=1e8)).drawn[0]) == count


def test_a_share_that_is_no_binary_number_counts_what_it_says() -> None:
    """0.29 of 100 links is 28.999... in floating point."""
    fabric = ParallelPaths(
        paths=100, hosts_per_side=1, faults=(DrawnFault(between=("left", "right"), share=0.29),)
    ).build()
    assert len(fabric.drawn[0]) == 29


def test_drawn_links_change_one_by_one_in_both_directions_or_one() -> None:
    for one_way in (False, True):
        fault = DrawnFault(between=("spine*", "leaf*"), count=3, one_way=one_way, rate_bps=1e8)
        fabric = LeafSpine(leaves=3, hosts_per_leaf=1, spines=3, faults=(fault,)).build()
        slow, forth = named(fabric, "rate_bps", 10**8), set(fabric.drawn[0])
        assert slow == forth | (set() if one_way else {">".join(reversed(name.split(">"))) for name in forth})
        assert all(name.startswith("spine") for name in forth)


def test_parallel_links_are_drawn_apart() -> None:
    fault = DrawnFault(between=("*", "right"), count=2, rate_bps=1e8)
    fabric = ParallelPaths(paths=4, hosts_per_side=1, faults=(fault,)).build(seed=2)
    between = {name for name in fabric.drawn[0] if name.startswith("left")}
    slow = named(fabric, "rate_bps", 10**8)
    assert between == {name for name in slow if name.startswith("left")}
    assert len(slow) == 4


def test_a_drawn_switch_that_fails_carries_nothing_from_then_on() -> None:
    fault = DrawnFault(nodes="spine*", count=1, down_s=0.0)
    scenario = Scenario(
        fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=4, faults=(fault,)),
        traffic=(Batch(pairs="other-leaf", flow_bytes=100_000),),
    )
    first, again = (simulate(scenario, scheme=name, engine="reference") for name in ("rps", "ecmp"))
    ((dead,),) = first.manifest["faults"]
    assert again.manifest["faults"] == [[dead]]
    sent = first.ports.set_index("name")["packets_out"]
    assert all((sent[name] == 0) == (dead in name) for name in sent.index if "spine" in name)
    begun = scenario.replace(end_s=1e-6)
    dead_by_seed = {simulate(begun, rng=seed, engine="reference").manifest["faults"][0][0] for seed in range(8)}
    assert len(dead_by_seed) > 1


def test_subflows_over_a_link_that_fails_stay_there_in_the_hot_spot_pattern() -> None:
    """DC2-MTCP: four links to core switches are out from 1 ms to 1 s, and routing does not follow."""
    fabric = load_scenario("dc2mtcp-hot-spot").fabric.build(seed=5)
    (drawn,) = fabric.drawn
    assert len(drawn) == 4
    assert all(name.startswith("agg") and ">core" in name for name in drawn)
    ways = {">".join(order) for name in drawn for ends in [name.split(">")] for order in (ends, ends[::-1])}
    before, failed, back, *later = fabric.epochs
    assert [epoch.time_ps for epoch in (before, failed, back)] == [0, 10**9, 10**12]
    down = {name for name, up in zip(fabric.port_names, failed.port_up.tolist(), strict=True) if not up}
    assert down == ways
    assert before.port_up.all()
    assert back.port_up.all()
    assert np.array_equal(failed.routes.candidates, before.routes.candidates)
    assert all(epoch.time_ps >= 3600 * 10**12 for epoch in later)


def test_a_run_without_faults_says_nothing_of_them() -> None:
    scenario = Scenario(fabric=FatTree(pods=4), traffic=(Batch(flow_bytes=1000, flows=1),))
    assert "faults" not in simulate(scenario, engine="reference").manifest


def test_from_a_file_and_with_settings(tmp_path: Any) -> None:
    file = tmp_path / "hot.toml"
    file.write_text(
        '[fabric]\nkind = "fat-tree"\npods = 4\n[[fabric.faults]]\nnodes = "core*"\nshare = 0.5\nrate_bps = "100Mbps"\n'
        '[[traffic]]\nkind = "batch"\nflow_bytes = 1000\n'
    )
    scenario = load_scenario(file)
    assert from_dict(scenario.to_dict()) == scenario
    assert len(prepare(scenario).fabric.drawn[0]) == 2
    assert len(prepare(with_settings(scenario, {"fabric.faults.0.share": 0.25})).fabric.drawn[0]) == 1
    assert len(prepare(with_settings(scenario, {"fabric.faults.0.count": 3})).fabric.drawn[0]) == 3
    with pytest.raises(ParameterError, match=r"fabric\.faults\.1\.share is no setting: fabric\.faults has 1 entries"):
        with_settings(scenario, {"fabric.faults.1.share": 0.25})


def test_what_cannot_be_drawn_is_told_in_one_line(subtests: pytest.Subtests) -> None:
    cases = [
        ({"count": 1}, "give one of nodes and between"),
        ({"nodes": "core*", "between": ["*", "*"], "count": 1}, "give one of nodes and between"),
        ({"nodes": "core*"}, "give one of count and share"),
        ({"nodes": "core*", "count": 1, "share": 0.5}, "give one of count and share"),
        ({"nodes": "core*", "count": 5}, "count = 5, but only 4 match: draw fewer"),
        ({"nodes": "spine*", "count": 1}, r"no switch is called 'spine\*': they are edge0.0 to core3"),
        ({"between": ["core*", "host*"], "count": 1}, r"no link between 'core\*' and 'host\*'"),
        ({"nodes": "core*", "share": 1.5}, "share"),
        ({"nodes": "core*", "count": 1, "up_s": 1.0}, "up_s without down_s"),
    ]
    for fault, text in cases:
        with subtests.test(fault=fault, text=text):
            fabric = {"kind": "fat-tree", "pods": 4, "faults": [fault]}
            with pytest.raises(ParameterError, match=text) as error:
                prepare(from_dict({"fabric": fabric, "traffic": [{"kind": "batch", "flow_bytes": 1}]}))
            assert "\n" not in str(error.value)


def test_faults_that_would_take_long_to_match_are_refused() -> None:
    fabric = FatTree(pods=24, faults=(DrawnFault(between=("*", "*"), count=10_000),))
    with pytest.raises(ParameterError, match=r"fabric\.links and fabric\.faults: 10000 changes, but 4"):
        check_fabric(Scenario(fabric=fabric, traffic=(Batch(flow_bytes=1),)))
