"""Property: a start in the steady state adds flows that are not counted, and leaves those that are as they were."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsim import FatTree, FlowList, LeafSpine, ParameterError, Poisson, Scenario, draw_flows, simulate
from capsim.base.clock import PS_PER_S
from capsim.fabric.endpoints import Pairs
from capsim.results.load_record import load_record, load_remarks
from capsmodel import load_workload, run_precision

KIND = LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, rate_bps=10e9, delay_s=1e-6)
FABRIC = KIND.build()
FEW = Poisson(workload="websearch", load=0.6, flows=30)


@cache
def drawn(*entries: Poisson, seed: int = 1) -> FlowList:
    """Return the flows of a seed, the same for all tests that ask for them."""
    return draw_flows(entries, FABRIC, seed=seed, short_bytes=100_000)


def steady(**changes: object) -> Poisson:
    return Poisson(**({"workload": "websearch", "load": 0.6, "flows": 30, "start": "steady"} | changes))


@given(seed=st.integers(0, 2**63 - 1), pairs=st.sampled_from(["random", "other-leaf", "permutation", "stride"]))
@settings(max_examples=25, deadline=None)
def test_counted_flows_are_those_of_an_empty_start_a_tenth_later(seed: int, pairs: Pairs) -> None:
    cold = drawn(Poisson(workload="websearch", load=0.6, flows=30, pairs=pairs), seed=seed)
    warm = drawn(steady(pairs=pairs), seed=seed)
    counted = np.flatnonzero(warm.counted)
    assert len(counted) == len(cold) == 30
    for name in ("src", "dst", "flow_bytes", "short"):
        assert np.array_equal(getattr(warm, name)[counted], getattr(cold, name))
    later_ps = warm.start_ps[counted] - cold.start_ps
    assert np.allclose(later_ps, 0.1 * cold.start_ps[-1], atol=2)


def test_flows_around_the_counted_ones_obey_the_same_pairing(subtests: pytest.Subtests) -> None:
    for pairs in ["permutation", "stride", "other-leaf"]:
        with subtests.test(pairs=pairs):
            flows = drawn(steady(pairs=pairs))
            assert np.all(flows.src != flows.dst)
            if pairs == "other-leaf":
                assert np.all(FABRIC.leaf_of_host[flows.src] != FABRIC.leaf_of_host[flows.dst])
            else:  # one receiver for each sender, counted or not
                assert len(np.unique(np.column_stack([flows.src, flows.dst]), axis=0)) == len(np.unique(flows.src))


@pytest.mark.agreement
@pytest.mark.parametrize("load", [0.2, 0.6, 0.8])
def test_the_number_in_progress_is_that_of_littles_law(load: float) -> None:
    """8 hosts: load 8 (1 + load)/(1 - load) on average over 120 seeds, a Poisson number each."""
    found = np.array([np.sum(drawn(steady(load=load), seed=seed).start_ps == 0) for seed in range(120)])
    mean = 8 * load * (1 + load) / (1 - load)
    assert found.mean() == pytest.approx(mean, abs=4 * np.sqrt(mean / 120))
    assert found.var(ddof=1) == pytest.approx(mean, rel=0.35)


@pytest.mark.agreement
@pytest.mark.parametrize("slowdown", [1.0, 9.0])
def test_a_slowdown_that_is_given_decides_how_many_flows_are_in_progress(slowdown: float) -> None:
    """8 hosts: load 0.6 times the slowdown each; the counted flows are the same."""
    found = [drawn(steady(slowdown=slowdown), seed=seed) for seed in range(100)]
    mean = 8 * 0.6 * slowdown
    assert np.mean([np.sum(flows.start_ps == 0) for flows in found]) == pytest.approx(mean, abs=4 * np.sqrt(mean / 100))
    assert np.array_equal(found[3].flow_bytes[found[3].counted], drawn(FEW, seed=3).flow_bytes)


def test_entries_share_the_load_that_decides_how_long_flows_last() -> None:
    """Two entries of 0.3 each begin with as many flows as one of 0.6."""
    halves = [np.sum(drawn(steady(load=0.3), steady(load=0.3), seed=seed).start_ps == 0) for seed in range(100)]
    assert np.mean(halves) == pytest.approx(19.2, abs=4 * np.sqrt(19.2 / 100))


def test_arrivals_keep_their_rate_before_between_and_after() -> None:
    """The counted block is a tenth later; others come at the same rate, up to four times the longest time."""
    rate_per_s = FEW.rate_per_s(FABRIC)
    before, after = [], []
    for seed in range(100):
        flows = drawn(steady(), seed=seed)
        start_s = flows.start_ps / PS_PER_S
        counted_s = start_s[np.asarray(flows.counted)]
        arrived = ~np.asarray(flows.counted) & (start_s > 0)
        last_s = counted_s[-1]
        lead_s = last_s - last_s / 1.1
        before.append((np.sum(arrived & (start_s < lead_s)), lead_s))
        after.append((np.sum(arrived & (start_s > last_s)), start_s[-1] - last_s))
        assert not np.any(arrived & (start_s > lead_s) & (start_s < last_s))
        longest = np.max(
            start_s[np.asarray(flows.counted)] + 4 * 4 * 8 * flows.flow_bytes[np.asarray(flows.counted)] / 10e9
        )
        assert start_s[-1] <= longest
    for part in (before, after):
        number, time_s = np.sum(part, axis=0)
        assert number / time_s == pytest.approx(rate_per_s, rel=4 / np.sqrt(number) + 0.02)


def test_what_is_left_of_a_long_flow_is_no_short_flow() -> None:
    """All flows are long: what is left of some is at most 100 kB, and none is short."""
    flows = drawn(steady(workload=None, flow_bytes=500_000, flows=200, load=0.8))
    assert np.any(flows.flow_bytes <= 100_000)
    assert not np.any(flows.short)


def test_a_cool_down_bounds_the_arrivals_after_the_counted_ones() -> None:
    flows = drawn(steady(cool_down_s=0.0))
    assert flows.start_ps[-1] == flows.start_ps[np.asarray(flows.counted)][-1]


def test_a_half_width_in_place_of_a_number_gives_the_flows_for_it() -> None:
    sizes, load = load_workload("websearch"), 0.6
    flows = drawn(Poisson(workload="websearch", load=load, flows="20%"))
    assert run_precision(sizes, load=load, hosts=8, flows=len(flows)) <= 0.2
    assert run_precision(sizes, load=load, hosts=8, flows=len(flows) - 1) > 0.2
    assert np.sum(drawn(steady(flows="20%")).counted) == len(flows)
    halved = drawn(Poisson(workload="websearch", load=load, flows="10%"))
    assert len(halved) == pytest.approx(4 * len(flows), rel=0.01)


def test_what_is_no_half_width_is_refused_in_one_line(subtests: pytest.Subtests) -> None:
    for flows in ["5 %", "5", "0%", "-5%", "100%", "nan%", "x", "%"]:
        with (
            subtests.test(flows=flows),
            pytest.raises(ParameterError, match=r'^traffic\.flows = .*, but it must be a number, or .* as in "5%"$'),
        ):
            drawn(steady(flows=flows))


def test_a_half_width_that_no_number_gives_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        ({"workload": None, "flow_bytes": 1000}, "none is so long: give a number of flows"),
        ({"load": 1.2, "start": "empty"}, r"but it is 1\.20: give a number"),
        ({"flows": "0.0001%"}, "but it must be from 1 to 100000000 flows"),
    ]
    for changes, message in cases:
        with subtests.test(changes=changes, message=message), pytest.raises(ParameterError, match=message):
            drawn(steady(**{"flows": "5%"} | changes))


@pytest.mark.agreement
def test_the_price_of_a_steady_start_is_about_what_it_runs() -> None:
    """Flows that have started when the run ends, over what an empty start foretells; 5 seeds."""
    foretold, ran = 0.0, 0
    for seed in range(1, 6):
        (entry,) = load_record((FEW,), FABRIC, drawn(FEW, seed=seed))["entries"]
        foretold += entry["flows_if_steady"]
        scenario = Scenario(fabric=KIND, traffic=(steady(),), end_s=20.0, seed=seed, scheme="rps", profile="10g")
        ran += len(simulate(scenario).flows)
    assert foretold / 1.5 < ran < 1.5 * foretold


def test_a_load_without_a_steady_state_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"a steady start, but .* 1\.20: there is no steady state"):
        drawn(steady(load=1.2))
    with pytest.raises(ParameterError, match=r"asked for 1\.20"):
        drawn(steady(load=0.6), Poisson(workload="websearch", load=0.6, flows=10))


@pytest.mark.agreement
@pytest.mark.parametrize("scheme", ["rps", "mptcp", "caps", "repflow"])
def test_both_engines_end_when_all_counted_flows_are_complete(scheme: str) -> None:
    """The schemes end flows by one subflow, several, a decoder and the faster copy."""
    traffic = steady(workload=None, flow_bytes=30_000, flows=12)
    scenario = Scenario(fabric=KIND, traffic=(traffic,), end_s=20.0, seed=3, profile="10g")
    compiled, reference = (simulate(scenario, scheme=scheme, engine=name) for name in ("compiled", "reference"))
    assert compiled.flows.equals(reference.flows)
    flows = compiled.flows
    counted = flows[flows["counted"]]
    assert len(counted) == 12
    assert counted["finished"].all()
    last_s = (counted["start_s"] + counted["acked_fct_s"]).max()
    for result in (compiled, reference):
        assert result.resources.simulated_s == pytest.approx(last_s, rel=1e-12)
    assert not flows["finished"].all()  # arrivals go on until then
    assert flows["start_s"].max() <= last_s  # and what was drawn for later is not listed


@pytest.mark.agreement
@pytest.mark.parametrize("scheme", ["drill", "conga", "ecmp", "ecmp_pq", "mptcp"])
def test_both_engines_start_steadily_in_an_oversubscribed_fabric(scheme: str) -> None:
    """Switches that look at queues or measure paths, hashed paths, priorities and subflows; uplinks at 0.8, 2:1."""
    kind = LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, rate_bps=10e9, delay_s=1e-6)
    traffic = steady(workload=None, flow_bytes=50_000, flows=10, load=0.8, load_of="leaf-uplinks", pairs="other-leaf")
    scenario = Scenario(fabric=kind, traffic=(traffic,), end_s=20.0, seed=5, profile="10g")
    compiled, reference = (simulate(scenario, scheme=scheme, engine=name) for name in ("compiled", "reference"))
    assert compiled.flows.equals(reference.flows)
    assert compiled.ports.equals(reference.ports)
    assert compiled.flows["finished"][compiled.flows["counted"]].all()
    assert (~compiled.flows["counted"] & (compiled.flows["start_s"] == 0)).any()


@pytest.mark.parametrize("scheme", ["rps", "mptcp", "caps", "repflow"])
def test_results_are_of_the_counted_flows(scheme: str) -> None:
    result = simulate(
        Scenario(fabric=KIND, traffic=(steady(flows=12),), end_s=20.0, seed=3, profile="10g"), scheme=scheme
    )
    counted = result.flows[result.flows["counted"]]
    assert result.summary.flows == 12
    assert result.summary.mean_slowdown == counted["slowdown"].mean()
    assert result.fct_by_size()["flows"].sum() == 12
    assert len(result.fct_cdf()) == 12
    assert result.loads["settled_before"] == 1.0
    assert result.loads["settled"] > 0.99  # arrivals go on until the end


def test_a_cold_start_says_what_it_lacks_and_what_mends_it() -> None:
    cold = simulate(Scenario(fabric=KIND, traffic=(FEW,), end_s=20.0), scheme="rps")
    (line,) = [line for line in cold.remarks() if line.startswith("not at its load")]
    assert "traffic.start=steady" in line
    share = cold.loads["settled_before"]
    assert f"a flow finds {100 * share:.0f}% of the flows in progress" in line
    scaled = Poisson(workload="websearch", load=0.6, flows=30, exact_load=True)
    exact = simulate(Scenario(fabric=KIND, traffic=(scaled,), end_s=20.0), scheme="rps")
    assert any(line.startswith("not at its load") for line in exact.remarks())  # nothing silences it


def test_a_steady_start_whose_arrivals_end_early_is_not_told_to_start_steadily() -> None:
    ends = simulate(Scenario(fabric=KIND, traffic=(steady(cool_down_s=0.0),), end_s=20.0), scheme="rps")
    assert ends.loads["settled"] < 0.9
    lines = [line for line in ends.remarks() if line.startswith("not at its load")]
    assert any(f"{100 * ends.loads['settled']:.0f}% of the time of flows lies before" in line for line in lines)
    assert any("give a longer traffic.cool_down_s, or more flows" in line for line in lines)
    assert not any("start=steady" in line for line in lines)


def test_runs_with_and_without_a_steady_start_have_the_remedy_of_each() -> None:
    own = {"settled_start": [np.nan, 0.97], "kept_slowdown": [np.nan, 2.0], "flows_if_longer": [np.nan, 30.0]}
    runs = pd.DataFrame({"scheme": ["cold", "warm"], "settled_before": [0.4, 1.0], "settled": [0.6, 0.7], **own})
    runs = runs.assign(flows_if_steady=90.0, flows_to_settle=4000.0, offered_over_asked=1.0, flows=30)
    runs = runs.assign(expected_load_hosts=0.6, expected_load_inner=0.6, backlog_growth=1.0, backlog_growth_low=1.0)
    of_empty, of_steady = load_remarks(runs)
    assert "finds 40% of the flows in progress of the steady state (cold)" in of_empty
    assert "70% of the time of flows lies before the last arrival (warm): arrivals end" in of_steady


def test_a_fat_tree_under_a_load_of_its_uplinks_starts_steadily_too() -> None:
    fabric = FatTree(pods=4).build()
    entry = Poisson(workload="websearch", load=0.5, load_of="leaf-uplinks", flows=50, start="steady")
    numbers = [np.sum(draw_flows((entry,), fabric, seed=s, short_bytes=1).start_ps == 0) for s in range(100)]
    load = entry.host_load(fabric)
    mean = fabric.n_hosts * load * (1 + load) / (1 - load)
    assert np.mean(numbers) == pytest.approx(mean, abs=4 * np.sqrt(mean / 100))


def test_residual_sizes_are_those_of_the_workload() -> None:
    """The mean of what is left at time 0 is E[X^2]/(2 E[X])."""
    left = np.concatenate([(flows := drawn(steady(), seed=s)).flow_bytes[flows.start_ps == 0] for s in range(120)])
    sizes = load_workload("websearch")
    mean = sizes.expectation(lambda x: x**2) / (2 * sizes.mean_bytes)
    assert left.mean() == pytest.approx(mean, abs=4 * left.std() / np.sqrt(len(left)))
