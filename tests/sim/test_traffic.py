"""Property and agreement: the flows that traffic entries make, and the load that they offer."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsim import Batch, Dumbbell, FatTree, FlowList, Incast, LeafSpine, Listed, OnOff, Poisson, draw_flows
from capsim.fabric.endpoints import Pairs, pods
from capsim.fabric.flows import flow_list, read_flow_csv
from capsim.fabric.topology import Fabric
from capsim.fabric.traffic import AnyTraffic
from capsmodel.checks import ParameterError

LEAF_SPINE = LeafSpine(leaves=4, hosts_per_leaf=4, spines=2).build()
FAT_TREE = FatTree(pods=4).build()


def drawn(*entries: AnyTraffic, fabric: Fabric = LEAF_SPINE, seed: int = 1) -> FlowList:
    return draw_flows(entries, fabric, seed=seed, short_bytes=100_000)


@given(
    pairs=st.sampled_from(["random", "other-leaf", "other-pod", "sides", "permutation", "stride"]),
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


@pytest.mark.parametrize("load_of", ["host-links", "leaf-uplinks"])
@pytest.mark.parametrize("pairs", ["random", "other-leaf"])
def test_offered_load_is_the_load_asked_for(load_of: str, pairs: str) -> None:
    """Poisson arrivals of one size: over T seconds N is Poisson, so the load has the relative error 1/sqrt(N)."""
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


def test_the_first_on_period_follows_the_first_off_period() -> None:
    """Its first of n starts comes after OFF + ON / (n + 1) on average, long before OFF + ON."""
    n, on_s, off_s = 9, 0.10, 0.02
    entry = OnOff(bursts=1, flows_per_burst=n, mean_on_s=on_s, mean_off_s=off_s, flow_bytes=1)
    firsts_s = np.array([drawn(entry, seed=seed).start_ps[0] / 1e12 for seed in range(1, 401)])
    assert within_errors(firsts_s, off_s + on_s / (n + 1))


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


BAD_ENTRIES = [
    (Poisson(load=0.5, flows=10), "one of workload, flow_bytes"),
    (Poisson(load=0.5, flows=10, flow_bytes=1, workload="websearch"), "one of workload, flow_bytes"),
    (Poisson(load=0.5, flow_bytes=1), "one of flows and duration_s"),
    (Poisson(flows=10, flow_bytes=1), "one of load and flows_per_s"),
    (Poisson(load=0.5, flows=10, workload="nosuch"), "nosuch"),
    (Poisson(load=0.5, flows=10, min_bytes=5, max_bytes=2), "at least min_bytes"),
    (Poisson(load=0.5, flows=10, min_bytes=5), "go together"),
    (Poisson(flows_per_s=1e-9, duration_s=1e-3, flow_bytes=1), "no flow arrived"),
    (Batch(flows=5, flow_bytes=1, skip_hosts=16), "only 16 hosts can send"),
    (Batch(flow_bytes=1, pairs="stride", stride_hosts=16), "stride_hosts"),
    (Incast(senders_per_round=3, receiver=99, flow_bytes=1), "numbered 0 to 15"),
    (Listed(flows=()), "empty"),
    (Listed(flows=((0, 1, 5, 0.0), (3, 3, 5, 0.0))), "row 2: src and dst"),
    (Listed(flows=((0, 1, 0, 0.0),)), "row 1: bytes"),
    (Listed(flows=((0, 1, 5, -1.0),)), "row 1: start_s"),
    (Listed(flows=((0, 16, 5, 0.0),)), "row 1: hosts are numbered 0 to 15"),
]


@pytest.mark.parametrize(("entry", "rule"), BAD_ENTRIES)
def test_impossible_traffic_is_named(entry: AnyTraffic, rule: str) -> None:
    with pytest.raises(ParameterError, match=rule):
        drawn(entry)


def test_one_leaf_has_no_other_leaf() -> None:
    fabric = LeafSpine(leaves=1, hosts_per_leaf=4, spines=1).build()
    with pytest.raises(ParameterError, match="only one"):
        drawn(Batch(flows=2, flow_bytes=1, pairs="other-leaf"), fabric=fabric)


def test_flow_files_are_read_or_their_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,bytes,start_s\n0,1,1000,0.5\n1,0,2000,0\n", encoding="utf-8")
    flows = drawn(Listed(flows=tuple(read_flow_csv(file))), fabric=Dumbbell(hosts_per_side=1).build())
    assert (flows.flow_bytes.tolist(), flows.start_ps.tolist()) == ([2000, 1000], [0, 5 * 10**11])
    for text, rule in [
        ("src,dst,size\n", "line 1: the header"),
        ("", "line 1: the header"),
        ("src,dst,bytes,start_s\n", "no flow"),
        ("src,dst,bytes,start_s\n0,1,10,0\n0,1,many,0\n", "line 3"),
        ("src,dst,bytes,start_s\n\n0,1,many,0\n", "line 3"),
        ("src,dst,bytes,start_s\n0,1,10\n", "line 2"),
        ("src,dst,bytes,start_s\n0,1,1_000,0\n", "line 2: '0,1,1_000,0' is not"),
        ("src,dst,bytes,start_s\n0,1,١٢,0\n", "line 2"),
        ("src,dst,bytes,start_s\n0,1,10,nan\n", "line 2"),
        ("src,dst,bytes,start_s\n0,1,9223372036854775808,0\n", "line 2: a number is too large for a flow"),
        ("src,dst,bytes,start_s\n0,2147483648,10,0\n", "line 2: a number is too large for a flow"),
        (f"src,dst,bytes,start_s\n0,1,{'9' * 5000},0\n", r"line 2: '0,1,9{60,80}\.\.\.' is not"),
        (f"src,dst,bytes,start_s\n0,1,{'9' * 200_000},0\n", "line 2: field larger than field limit"),
    ]:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ParameterError, match=rule):
            read_flow_csv(file)
    file.write_bytes("src,dst,bytes,start_s\n0,1,10,0\n# Zürich\n".encode("latin-1"))
    with pytest.raises(ParameterError, match="no UTF-8 text: save it"):
        read_flow_csv(file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_flow_files_of_spreadsheets_are_read(encoding: str, tmp_path: Path) -> None:
    """With a byte-order mark, lines that end as on Windows, spaces and blank lines at the end."""
    file = tmp_path / "flows.csv"
    file.write_bytes("src,dst,bytes,start_s\r\n0, 1,1000,5e-1\r\n1,0,2000,.25\r\n\r\n , ,,\r\n".encode(encoding))
    assert read_flow_csv(file) == [(0, 1, 1000, 0.5), (1, 0, 2000, 0.25)]
