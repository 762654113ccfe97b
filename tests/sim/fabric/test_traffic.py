"""Property and agreement: the flows that traffic entries make, and the load that they offer."""

import math
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsim import (
    Batch,
    Dumbbell,
    FatTree,
    FlowList,
    Incast,
    LeafSpine,
    Listed,
    OnOff,
    ParameterError,
    Poisson,
    Result,
    draw_flows,
    simulate,
)
from capsim.base import schema
from capsim.base.clock import PS_PER_S
from capsim.fabric.endpoints import Pairs, pods
from capsim.fabric.files import FlowFile, read_flow_csv
from capsim.fabric.flows import flow_list
from capsim.fabric.topology import Fabric
from capsim.fabric.traffic import AnyTraffic
from capsim.scenario.scenario import from_dict
from capsmodel import FlowSizes
from capsmodel.workloads.catalogue import load_workload, workload_names

LEAF_SPINE = LeafSpine(leaves=4, hosts_per_leaf=4, spines=2).build()
FAT_TREE = FatTree(pods=4).build()


def drawn(*entries: AnyTraffic, fabric: Fabric = LEAF_SPINE, seed: int = 1) -> FlowList:
    return draw_flows(entries, fabric, seed=seed, short_bytes=100_000)


@given(
    pairs=st.sampled_from(["random", "other-leaf", "other-pod", "staggered", "sides", "permutation", "stride"]),
    seed=st.integers(0, 2**63 - 1),
    skip=st.integers(0, 1),
)
@settings(max_examples=80, deadline=None)
def test_flows_obey_their_pairing(pairs: Pairs, seed: int, skip: int) -> None:
    flows = drawn(
        Batch(flows=40, pairs=pairs, flow_bytes=1, spread_s=1e-3, skip_hosts=skip), fabric=FAT_TREE, seed=seed
    )
    assert len(flows) == 40
    assert np.all(flows.src != flows.dst)
    assert np.all(np.diff(flows.start_ps) >= 0)
    leaf, pod = FAT_TREE.leaf_of_host, pods(FAT_TREE)
    if pairs == "other-leaf":
        assert np.all(leaf[flows.src] != leaf[flows.dst])
    if pairs == "other-pod":
        assert np.all(pod[flows.src] != pod[flows.dst])
    if pairs == "sides":
        assert np.all(leaf[flows.src] == 0)
        assert np.all(leaf[flows.dst] == leaf.max())
    if pairs == "stride":
        assert np.all(flows.dst == (flows.src + 1) % 16)
    if pairs == "permutation":
        assert len(set(zip(flows.src.tolist(), flows.dst.tolist(), strict=True))) == len(set(flows.dst.tolist()))


def test_a_matrix_has_one_flow_for_each_sender() -> None:
    flows = drawn(Batch(pairs="permutation", flow_bytes=1000))
    assert sorted(flows.src) == sorted(flows.dst) == list(range(16))


def test_entries_that_skip_each_others_hosts_have_disjoint_senders() -> None:
    long = Batch(hosts=5, flow_bytes=10**7, pairs="permutation")
    short = Poisson(skip_hosts=5, flow_bytes=70_000, flows_per_s=256, flows=400)
    flows = drawn(long, short)
    senders = [set(flows.src[flows.tag == tag].tolist()) for tag in (0, 1)]
    assert not senders[0] & senders[1]
    assert len(senders[0] | senders[1]) == 16
    assert np.array_equal(flows.short, flows.tag == 1)


def test_offered_load_is_the_load_asked_for(subtests: pytest.Subtests) -> None:
    """Poisson arrivals of one size: over T seconds N is Poisson, so the load has the relative error 1/sqrt(N)."""
    for pairs in ["random", "other-leaf"]:
        for load_of in ["host-links", "leaf-uplinks"]:
            with subtests.test(pairs=pairs, load_of=load_of):
                entry = Poisson(load=0.6, load_of=load_of, pairs=pairs, flow_bytes=50_000, duration_s=2.0)  # type: ignore[arg-type]
                flows = drawn(entry, seed=7)
                counted = np.ones(len(flows), bool)
                capacity_bps = 16 * 1e9
                if load_of == "leaf-uplinks":
                    counted = LEAF_SPINE.leaf_of_host[flows.src] != LEAF_SPINE.leaf_of_host[flows.dst]
                    capacity_bps = 8 * 1e9
                load = 8 * 50_000 * counted.sum() / (2.0 * capacity_bps)
                standard_error = 0.6 / np.sqrt(counted.sum())
                assert standard_error < 0.6 * 0.01, "an error of 3% in the load must not pass"
                assert abs(load - 0.6) < 3.3 * standard_error


def test_an_exact_load_is_that_of_the_sizes_drawn(subtests: pytest.Subtests) -> None:
    """Sizes, ends and the order of starts are those without it; the times are scaled by one factor."""
    for start_s in [0.0, 0.25]:
        for load_of in ["host-links", "leaf-uplinks"]:
            with subtests.test(start_s=start_s, load_of=load_of):
                common = {"load": 0.6, "load_of": load_of, "workload": "datamining", "flows": 300, "start_s": start_s}
                by_chance, exact = (drawn(Poisson(**common, exact_load=wanted), seed=5) for wanted in (False, True))  # type: ignore[arg-type]
                for name in ("src", "dst", "flow_bytes", "input_row"):
                    assert np.array_equal(getattr(by_chance, name), getattr(exact, name))
                counted = LEAF_SPINE.leaf_of_host[exact.src] != LEAF_SPINE.leaf_of_host[exact.dst]
                counted |= load_of == "host-links"
                capacity_bps = {"host-links": 16e9, "leaf-uplinks": 8e9}[load_of]
                span_s = np.ptp(exact.start_ps) / 1e12
                assert 8 * exact.flow_bytes[counted].sum() / span_s / capacity_bps == pytest.approx(0.6, rel=1e-10)
                factors = (exact.start_ps / 1e12 - start_s) / (by_chance.start_ps / 1e12 - start_s)
                assert factors == pytest.approx(np.full(300, factors[-1]), rel=1e-6)
                assert abs(factors[-1] - 1) > 0.01  # the sizes drawn are those of another load


def test_tiny_sizes_offer_the_load_asked_for() -> None:
    """Half of the flows has 1 byte, the others 2, as whole bytes are sent: 1.5 on average, and not 1.25."""
    entry = Poisson(flow_bytes_cdf=((1, 0.5), (2, 1)), load=0.5, flows=40_000)
    assert entry.mean_bytes() == 1.5
    flows = drawn(entry)
    load = 8 * flows.flow_bytes.sum() / (np.ptp(flows.start_ps) / 1e12) / 16e9
    assert load == pytest.approx(0.5, rel=4 / 40_000**0.5)


def test_the_load_of_a_published_table_is_that_of_its_mean(subtests: pytest.Subtests) -> None:
    for workload in workload_names():
        with subtests.test(workload=workload):
            assert Poisson(workload=workload).mean_bytes() == load_workload(workload).mean_bytes


def test_workload_sizes_keep_their_mean() -> None:
    flows = drawn(Poisson(workload="websearch", load=0.5, flows=200_000))
    standard_error = flows.flow_bytes.std() / np.sqrt(len(flows))
    assert abs(flows.flow_bytes.mean() - 1_711_250) < 3.3 * standard_error


def test_poisson_gaps_are_exponential() -> None:
    gaps_s = np.diff(drawn(Poisson(flow_bytes=1, flows_per_s=1000.0, flows=50_000)).start_ps) / 1e12
    assert abs(gaps_s.mean() - 1e-3) < 3.3 * 1e-3 / np.sqrt(len(gaps_s))
    assert abs(gaps_s.std() / gaps_s.mean() - 1) < 3.3 * np.sqrt(2 / len(gaps_s))


def test_bursts_and_incast_have_their_counts_and_times() -> None:
    flows = drawn(OnOff(bursts=7, flows_per_burst=50, mean_on_s=0.0, mean_off_s=0.1, min_bytes=1, max_bytes=9))
    assert [len(burst) for burst in np.split(flows.start_ps, np.flatnonzero(np.diff(flows.start_ps)) + 1)] == [50] * 7
    assert (flows.flow_bytes.min(), flows.flow_bytes.max()) == (1, 9)
    flows = drawn(Incast(senders_per_round=15, receiver=3, rounds=4, period_s=0.5, flow_bytes=70_000))
    assert set(flows.dst.tolist()) == {3}
    assert np.array_equal(np.unique(flows.start_ps), np.arange(4) * 5 * 10**11)
    assert all(len(set(flows.src[i * 15 : (i + 1) * 15].tolist())) == 15 for i in range(4))


def within_errors(samples: np.ndarray, mean: float) -> bool:
    """Return whether the mean of independent samples lies within 3.3 standard errors of `mean`."""
    return abs(samples.mean() - mean) < 3.3 * samples.std(ddof=1) / np.sqrt(len(samples))


def test_flows_start_in_on_periods_with_off_periods_between() -> None:
    """n starts, uniform over an ON period, span (n - 1) / (n + 1) of it; what is left lies at its ends."""
    n, bursts, on_s, off_s = 20, 3000, 0.03, 0.01
    entry = OnOff(bursts=bursts, flows_per_burst=n, mean_on_s=on_s, mean_off_s=off_s, flow_bytes=1)
    starts_s = drawn(entry).start_ps.reshape(bursts, n) / 1e12
    spans_s, gaps_s = np.ptp(starts_s, axis=1), starts_s[1:, 0] - starts_s[:-1, -1]
    assert within_errors(spans_s, on_s * (n - 1) / (n + 1))
    assert within_errors(gaps_s, off_s + on_s * 2 / (n + 1))
    share = spans_s.sum() * (n + 1) / (n - 1) / starts_s[-1, -1]
    assert abs(share - 0.75) < 3.3 * 0.75 * 0.25 * np.sqrt(2 / bursts), "ON 75% of the time"
    # How long a pause is has nothing to do with the period before it.
    assert abs(np.corrcoef(spans_s[:-1], gaps_s)[0, 1]) < 0.3


@pytest.mark.parametrize("n", [15, 40])
def test_the_flows_of_an_on_period_may_start_together_each_from_another_sender(n: int) -> None:
    """Of 16 hosts none sends more often than it has to; orders differ; the next burst comes after ON and OFF."""
    bursts, on_s, off_s, hosts = 2000, 0.03, 0.01, 16
    options = {"bursts": bursts, "mean_on_s": on_s, "mean_off_s": off_s, "flow_bytes": 1}
    flows = drawn(OnOff(flows_per_burst=n, together=True, distinct_senders=True, **options))
    starts_s, src = flows.start_ps.reshape(bursts, n) / 1e12, flows.src.reshape(bursts, n)
    assert (starts_s == starts_s[:, :1]).all()
    assert within_errors(np.diff(starts_s[:, 0]), on_s + off_s)
    counts = np.apply_along_axis(np.bincount, 1, src, minlength=hosts)
    assert (counts.min(), counts.max()) == (n // hosts, -(-n // hosts))
    assert within_errors(counts[:, 3] / 1.0, n / hosts)
    assert (flows.src != flows.dst).all()


def test_the_first_on_period_follows_the_first_off_period() -> None:
    """Its first of n starts comes after OFF + ON / (n + 1) on average, long before OFF + ON."""
    n, on_s, off_s = 9, 0.10, 0.02
    entry = OnOff(bursts=1, flows_per_burst=n, mean_on_s=on_s, mean_off_s=off_s, flow_bytes=1)
    firsts_s = np.array([drawn(entry, seed=seed).start_ps[0] / 1e12 for seed in range(1, 401)])
    assert within_errors(firsts_s, off_s + on_s / (n + 1))


def test_incasts_of_a_poisson_process_offer_their_load() -> None:
    """60 senders of 500 kB at 2% of 32 hosts of 10 Gbit/s; the gaps are exponential, so 1/e are above their mean."""
    capacity_bps, load, rounds = 32 * 10e9, 0.02, 4000
    period_s = 8 * 60 * 500e3 / (load * capacity_bps)
    entry = Incast(
        senders_per_round=60, rounds=rounds, period_s=period_s, poisson=True, start_s=0.25, flow_bytes=500_000
    )
    flows = drawn(entry)
    starts_s = flows.start_ps.reshape(rounds, 60) / PS_PER_S
    assert (np.ptp(starts_s, axis=1) == 0).all()
    gaps_s = np.diff(starts_s[:, 0], prepend=0.25)
    offered = 8 * flows.flow_bytes.sum() / (starts_s[-1, 0] - 0.25) / capacity_bps
    assert offered == pytest.approx(load, rel=5 / math.sqrt(rounds))
    share = np.mean(gaps_s > gaps_s.mean())
    assert share == pytest.approx(math.exp(-1), abs=5 * math.sqrt(0.37 * 0.63 / rounds))


@pytest.mark.parametrize("spread_s", [2e-3, 0.25])
def test_a_round_of_an_incast_is_spread_uniformly(spread_s: float) -> None:
    entry = Incast(senders_per_round=10, rounds=200, period_s=0.5, spread_s=spread_s, start_s=0.125, flow_bytes=1)
    after_s = (drawn(entry).start_ps / 1e12 - 0.125).reshape(200, 10) - 0.5 * np.arange(200)[:, np.newaxis]
    assert after_s.min() >= 0
    assert 0.99 * spread_s < after_s.max() < spread_s
    assert within_errors(after_s.ravel(), spread_s / 2)


def test_an_entry_does_not_shift_the_draws_of_another() -> None:
    poisson = Poisson(workload="websearch", load=0.3, flows=50)
    alone, together = drawn(poisson), drawn(poisson, Batch(flow_bytes=10**6, pairs="random"))
    mine = together.tag == 0
    assert np.array_equal(alone.flow_bytes, together.flow_bytes[mine])
    assert np.array_equal(alone.dst, together.dst[mine])


def test_equal_starts_keep_the_order_of_the_list() -> None:
    flows = flow_list([0, 1, 2], [1, 2, 3], flow_bytes=[1, 2, 3], start_s=[0.5, 0.0, 0.5])
    assert flows.flow_bytes.tolist() == [2, 1, 3]


FLOW = (0, 1, 5, 0.0)


@pytest.mark.parametrize(
    ("src", "flow_bytes", "start_s", "rule"),
    [
        (2**24 - 1, 1, 0.0, None),
        (0, 2**40, 4500.0, None),
        (2**24, 1, 0.0, r"^flows\[1\]: src = 16777216, but"),
        (0, 2**40 + 1, 0.0, r"^flows\[1\]: flow_bytes = 1099511627777, but"),
        (0, 1, 4500.001, r"^flows\[1\]: start_s = 4500, but it must be from 0"),
        (7, 1, 0.0, r"^flows\[1\]: src = dst = 7, but"),
    ],
)
def test_arrays_of_flows_have_the_bounds_of_their_quantities(
    src: int, flow_bytes: int, start_s: float, rule: str | None
) -> None:
    columns = {"flow_bytes": [100_001, flow_bytes], "start_s": [0.0, start_s]}
    if rule is not None:
        with pytest.raises(ParameterError, match=rule):
            flow_list([0, src], [7, 7], **columns)
        return
    flows = flow_list([0, src], [7, 7], **columns)
    assert (flows.flow_bytes.tolist(), flows.src.tolist()) == ([100_001, flow_bytes], [0, src])
    assert flows.short.tolist() == [False, flow_bytes <= 100_000]
    assert flow_list([0], [7], flow_bytes=[100_000], start_s=[0.0]).short.all()


BAD_ENTRIES = [
    (Poisson(load=0.5, flows=10), "one of workload, flow_bytes"),
    (Poisson(load=0.5, flows=10, flow_bytes=1, workload="websearch"), "one of workload, flow_bytes"),
    (Poisson(load=0.5, flow_bytes=1), "one of flows and duration_s"),
    (Poisson(flows=10, flow_bytes=1), "one of load and flows_per_s"),
    (Poisson(load=0.5, duration_s=1.0, flow_bytes=10**6, exact_load=True), "exact_load scales .*: give load and flows"),
    (Poisson(flows_per_s=9.0, flows=10, flow_bytes=1, exact_load=True), "give load and flows, at least 2"),
    (Poisson(load=0.5, flows=1, flow_bytes=1, exact_load=True), "at least 2$"),
    (Poisson(load=0.5, flows=10, workload="nosuch"), "nosuch"),
    (Poisson(load=0.5, flows=10, workload=FlowSizes([9], [1])), "of a FlowSizes as flow_bytes_cdf"),
    (Poisson(load=0.5, flows=10, min_bytes=5, max_bytes=2), "at least min_bytes"),
    (Poisson(load=0.5, flows=10, min_bytes=5), "go together"),
    (Poisson(flows_per_s=1e-9, duration_s=1e-3, flow_bytes=1), "no flow arrived"),
    (Batch(flows=5, flow_bytes=1, skip_hosts=16), "only 16 hosts can send"),
    (Batch(flow_bytes=1, pairs="stride", stride_hosts=16), "stride_hosts"),
    (
        Incast(senders_per_round=3, receiver=99, flow_bytes=1),
        r"traffic\[0\].flows\[0\]: dst = 99, but hosts are numbered",
    ),
    (Listed(flows=()), "empty"),
    (Listed(flows=(FLOW, (3, 3, 5, 0.0))), r"^traffic\[0\].flows\[1\]: src = dst = 3, but a flow needs two hosts"),
    (Listed(flows=(FLOW, (0, 1, 0, 0.0))), r"^traffic\[0\].flows\[1\]: flow_bytes = 0, but it must be from 1 to"),
    (Listed(flows=((0, 1, 5, -1.0),)), r"^traffic\[0\].flows\[0\]: start_s = -1, but"),
    (Listed(flows=(FLOW, (0, 16, 5, 0.0))), r"^traffic\[0\].flows\[1\]: dst = 16, but hosts are numbered 0 to 15"),
    (Listed(flows=(FLOW, (-1, 1, 5, 0.0))), r"^traffic\[0\].flows\[1\]: src = -1, but"),
    (Listed(flows=(FLOW,), columns={"fct_s": ("x",)}), "traffic.columns: 'fct_s' is a column of the results"),
    (Listed(flows=(FLOW,), columns={"": ("x",)}), "traffic.columns: a column has no name"),
    (Listed(flows=(FLOW,), columns={"job": ("x", "y")}), "traffic.columns: 'job' has 2 cells for 1 flows"),
]


def test_impossible_traffic_is_named(subtests: pytest.Subtests) -> None:
    for entry, rule in BAD_ENTRIES:
        with subtests.test(entry=entry, rule=rule), pytest.raises(ParameterError, match=rule):
            drawn(entry)


def test_points_of_a_sum_that_misses_one_by_rounding_are_taken() -> None:
    """numpy.cumsum of 0.1, 0.2, 0.3, 0.3, 0.1 ends above 1, of ten times 0.1 below."""
    fabric = {"kind": "dumbbell", "hosts_per_side": 1}
    for probs in ([0.1, 0.2, 0.3, 0.3, 0.1], [0.1] * 10):
        sums = np.cumsum(probs).tolist()
        assert sums[-1] != 1
        points = [[1000 * size, value] for size, value in enumerate(sums, 1)]
        entry = {"kind": "poisson", "load": 0.5, "flows": 9, "flow_bytes_cdf": points}
        (found,) = from_dict({"fabric": fabric, "traffic": [entry]}).traffic
        assert len(drawn(found)) == 9
    with pytest.raises(ParameterError, match=r"flow_bytes_cdf\[0\]\[1\]"):
        from_dict({"fabric": fabric, "traffic": [entry | {"flow_bytes_cdf": [[9, 1.001]]}]})


def test_one_leaf_has_no_other_leaf() -> None:
    fabric = LeafSpine(leaves=1, hosts_per_leaf=4, spines=1).build()
    with pytest.raises(ParameterError, match="only one"):
        drawn(Batch(flows=2, flow_bytes=1, pairs="other-leaf"), fabric=fabric)


def read(folder: Path, *lines: str) -> FlowFile:
    (folder / "flows.csv").write_text("\n".join(lines), encoding="utf-8")
    return read_flow_csv(folder / "flows.csv")


def test_flow_files_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, "src,dst,bytes,start_s", "0,1,1000,0.5", "1,0,2000,0", "")
    assert found.flows == [(0, 1, 1000, 0.5), (1, 0, 2000, 0.0)]
    assert found.entry() == {"kind": "list", "flows": found.flows}
    flows = drawn(Listed(flows=tuple(found.flows)), fabric=Dumbbell(hosts_per_side=1).build())
    assert (flows.flow_bytes.tolist(), flows.start_ps.tolist()) == ([2000, 1000], [0, 5 * 10**11])
    assert flows.input_row.tolist() == [1, 0]


def test_heads_and_numbers_have_units_and_columns_any_order(tmp_path: Path) -> None:
    for head, cell in [
        ("start_s", "1e-5"),
        ("start_ms", ".01"),
        ("start_us", "10"),
        ("Start_US", "0.01 ms"),
        ("start_ns", "10us"),
    ]:
        for size, bytes_ in [("flow_bytes", "1.5e3"), ("flow_kB", "1.5"), ("bytes", "1500B"), ("flow_KiB", "1.5KB")]:
            assert read(tmp_path, f"{head},{size},dst,src", f"{cell},{bytes_},7,3").flows == [(3, 7, 1500, 1e-5)]


HEAD = "src,dst,bytes,start_s"
BAD_FLOWS = [
    (
        ["src,dst,size"],
        "line 1: no column flow_bytes, start_s in ['src', 'dst', 'size'], separated by commas: the first line "
        "names the columns, src, dst, flow_bytes, start_s and perhaps after, path; the page",
    ),
    ([], "line 1: no column src, dst, flow_bytes, start_s in [], separated by blanks"),
    ([HEAD], "holds no row of src,dst,bytes,start_s"),
    (["3", "2 1 3 100 200000 2"], "line 1: no column src, dst, flow_bytes, start_s in ['3'], separated by blanks"),
    (["Nodes 4", "0->3 start 0 size 20"], "line 1: no column src, dst, flow_bytes, start_s in ['Nodes', '4']"),
    (
        ["src dst bytes start_s x,y"],
        "line 1: no column src, dst, flow_bytes, start_s in ['src dst bytes start_s x', 'y'],",
    ),
    ([f"{HEAD},start_ms"], "line 1: 'start_ms' is the second column for 'start_s'"),
    ([f"{HEAD},fct_s"], "line 1: 'fct_s' is a column of the results: give this one another name"),
    ([HEAD, "0,1,10,0", "0,1,many,0"], "line 3: bytes: 'many' is not a size"),
    ([HEAD, "", "0,1,many,0"], "line 3: bytes: 'many'"),
    ([HEAD, "0,1,10"], "line 2: '0,1,10' has 3 cells for 4 columns, separated by commas"),
    ([HEAD, "0,1,1_000,0"], "line 2: bytes: '1_000' is not a size"),
    ([HEAD, "0,1,1.5,0"], "line 2: bytes: '1.5' is 1.5 bytes, but a size is a whole number"),
    ([HEAD, "0,1,١٢,0"], "line 2: bytes: '١٢' is not"),
    ([HEAD, "0,1,10,nan"], "line 2: start_s: 'nan' is not a time"),
    ([HEAD, "0,1,10,-1"], "line 2: start_s: '-1' is not a time: it must be finite and not negative"),
    ([HEAD, "0,1,0,0"], "line 2: bytes: '0', that is flow_bytes = 0, but it must be from 1 to"),
    ([HEAD, "0,1,10,1h"], "line 2: start_s: '1h' is not a time"),
    ([HEAD, "0,,10,0"], "line 2: dst: an empty cell"),
    ([HEAD, "1,1,10,0"], "line 2: src = dst = 1, but a flow needs two hosts"),
    ([HEAD, "0,1,9223372036854775808,0"], "line 2: bytes: '9223372036854775808' is 9.22337e+18 bytes"),
    ([HEAD, "0,2147483648,10,0"], "line 2: dst: dst = 2147483648, but it must be from 0 to"),
    ([HEAD, f"0,1,{'9' * 5000},0"], "line 2: bytes: '9999"),
    ([HEAD, f"0,1,{'9' * 200_000},0"], "line 2: field larger than field limit"),
    ([f"{HEAD},job", '0,1,10,0,"a', 'b"'], "line 2: a cell begins with a quote and does not end on its line"),
    ([f"{HEAD},job", "0,1,10,0,a", '0,1,10,0,"b'], "line 3: unexpected end of data"),
    (["src;dst;flow_kb;start_ms", "0;1;1,5;0"], "line 2: flow_kb: '1,5' is not a size"),
    ([HEAD, "0;1;10;0"], "line 2: '0;1;10;0' has 1 cell for 4 columns, separated by commas"),
    (["src,dst,flow_kb,start_s", "0,1,1e12,0"], "line 2: flow_kb: '1e12', that is flow_bytes = 1000000000000000, but"),
]


def test_a_bad_line_of_a_flow_file_is_named(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for lines, fault in BAD_FLOWS:
        with subtests.test(lines=lines, fault=fault):
            with pytest.raises(ParameterError) as raised:
                read(tmp_path, *lines)
            assert str(raised.value).startswith("flows.csv")
            assert fault in str(raised.value)
            assert len(str(raised.value)) < 300


def test_all_bad_lines_are_named(tmp_path: Path) -> None:
    """All rows of another length first, then all cells that cannot be read, in the order of the file."""
    with pytest.raises(ParameterError, match=r"^flows.csv line 4: '0,1' has 2 cells") as raised:
        read(tmp_path, HEAD, "0,1,x,y", "0,1,10,0", "0,1", "0")
    assert [note.partition(":")[0] for note in raised.value.__notes__] == ["flows.csv line 5"]
    with pytest.raises(ParameterError, match=r"^flows.csv line 2: dst") as raised:
        read(tmp_path, HEAD, "0,u,10,y", "x,1,10,0", "0,1,10,0", "x,1,10,y")
    assert [note.rpartition(":")[0].partition(":")[0] for note in raised.value.__notes__] == [
        *("flows.csv line 2", "flows.csv line 3", "flows.csv line 5", "flows.csv line 5")
    ]
    tables = {"fabric": {"kind": "dumbbell", "hosts_per_side": 1}, "traffic": [{"kind": "csv", "file": "flows.csv"}]}
    read(tmp_path, HEAD, "0,1,10,0", "9,1,10,0", "0,2,10,0")
    with pytest.raises(ParameterError, match=r"^flows.csv line 3: src = 9, but hosts are numbered 0 to 1 in") as raised:
        from_dict(tables, folder=tmp_path)
    assert raised.value.__notes__ == ["flows.csv line 4: dst = 2, but hosts are numbered 0 to 1 in this fabric"]


def test_a_file_in_another_encoding_is_no_flow_file(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_bytes("src,dst,bytes,start_s\n0,1,10,0\n# Zürich\n".encode("latin-1"))
    with pytest.raises(ParameterError, match="no UTF-8 text: save it"):
        read_flow_csv(file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_flow_files_of_spreadsheets_are_read(encoding: str, tmp_path: Path) -> None:
    """With a byte-order mark, lines that end as on Windows, spaces and blank lines at the end."""
    file = tmp_path / "flows.csv"
    file.write_bytes("src,dst,bytes,start_s\r\n0, 1,1000,5e-1\r\n1,0,2000,.25\r\n\r\n , ,,\r\n".encode(encoding))
    assert read_flow_csv(file).flows == [(0, 1, 1000, 0.5), (1, 0, 2000, 0.25)]


def test_whatever_separates_the_cells_a_flow_list_is_the_same(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """With comments, which count as lines, and a cell in quotes."""
    for separator in [",", ";", "\t", " ", " ; ", "   ", ",\t"]:
        with subtests.test(separator=separator):
            lines = [
                "# flows, of run; 3",
                "src dst bytes start_ms job",
                "0 2 1000 0 a",
                "  # half",
                "",
                '2 0 1KB .5 "b"',
            ]
            found = read(tmp_path, *(line if "#" in line else line.replace(" ", separator) for line in lines))
            assert found.flows == [(0, 2, 1000, 0.0), (2, 0, 1000, 0.0005)]
            assert found.table.lines == [3, 6]
            if separator in ",;\t ":
                assert found.table.extra == {"job": ["a", "b"]}
            with pytest.raises(ParameterError, match=r"^flows\.csv line 4: src"):
                read(tmp_path, *(line.replace(" ", separator) for line in ("#", lines[1], "", "x 1 1 1 1")))


def test_the_separator_is_that_of_the_heads_outside_quotes(tmp_path: Path) -> None:
    """Catches a separator that is guessed from what a name or a quoted cell holds."""
    found = read(tmp_path, 'src;dst;bytes;start_s;"a, b, c, d, e, f"', "0;1;5;0;x,y", "1;0;5;0;x")
    assert found.table.extra == {"a, b, c, d, e, f": ["x,y", "x"]}
    assert read(tmp_path, "src,dst,bytes,start_s,note; free", "0,1,5,0,x;y").table.extra == {"note; free": ["x;y"]}


def test_a_row_of_another_length_is_found_before_a_number_is_read(tmp_path: Path) -> None:
    """Catches reading a million numbers first, which takes ten times as long as counting their cells."""
    with pytest.raises(ParameterError, match=r"^flows\.csv line 4: '0,1' has 2 cells for 4 columns"):
        read(tmp_path, HEAD, *["0,1,no number,0"] * 2, "0,1")


JOBS = """job,src,start_ms,dst,flow_kb, note,wait_s
b 7,0,3,2,20,,10us
007,1,1,3,5,"x, y",1.50
b 7,2,2,1,10, Zürich,?
"""


def test_further_columns_come_back_with_the_results(tmp_path: Path) -> None:
    """Unchanged and each with its flow, in the order of the file, missing for flows of another entry."""
    (tmp_path / "jobs.csv").write_text(JOBS, encoding="utf-8")
    fabric = {"kind": "dumbbell", "hosts_per_side": 2}
    traffic = [{"kind": "batch", "flow_bytes": 3000, "hosts": 1}, {"kind": "csv", "file": "jobs.csv"}]
    scenario = from_dict({"fabric": fabric, "traffic": traffic}, folder=tmp_path)
    (tmp_path / "jobs.csv").unlink()
    assert from_dict(tomllib.loads(scenario.to_toml())) == scenario
    result = simulate(scenario, engine="reference")
    assert list(result.flows.columns) == [*schema.FLOWS, "job", "note", "wait_s"]
    listed = result.flows[result.flows["traffic_entry"] == 1].sort_values("input_row")
    assert listed["input_row"].tolist() == [0, 1, 2]
    assert listed["flow"].tolist() == [3, 1, 2]
    assert listed["job"].tolist() == ["b 7", "007", "b 7"]
    assert listed["note"].tolist() == ["", "x, y", " Zürich"]
    assert listed["wait_s"].tolist() == ["10us", "1.50", "?"]
    assert listed["flow_bytes"].tolist() == [20_000, 5_000, 10_000]
    (other,) = result.flows[result.flows["traffic_entry"] == 0].itertuples()
    assert (other.flow, other.input_row) == (0, 0)
    assert result.flows[["job", "note"]].isna().sum().tolist() == [1, 1]
    again = Result.load(result.save(tmp_path / "out"))
    pd.testing.assert_frame_equal(again.flows, result.flows, check_exact=True)
    pd.testing.assert_series_equal(pd.Series(again.summary.to_dict()), pd.Series(result.summary.to_dict()))


def test_rows_of_drawn_flows_are_numbered_too() -> None:
    flows = drawn(Batch(flow_bytes=1, spread_s=1.0), Incast(senders_per_round=3, flow_bytes=2, spread_s=1.0))
    for tag, count in ((0, 16), (1, 3)):
        assert sorted(flows.input_row[flows.tag == tag].tolist()) == list(range(count))
    alone = drawn(Batch(flow_bytes=1, spread_s=1.0))
    order = np.argsort(alone.input_row)
    assert alone.src[order].tolist() == list(range(16)), "senders take turns as they were drawn"
