"""Property and identity: tables follow their schema, survive Parquet, and a run can be had again from its manifest."""

import json
import platform
from getpass import getuser
from pathlib import Path

import numpy as np
import pytest

from capsim import (
    Batch,
    Dumbbell,
    LeafSpine,
    LinkChange,
    Listed,
    Poisson,
    Probes,
    Result,
    Scenario,
    compare,
    draw_flows,
    schemes,
    simulate,
)
from capsim import scheme as find
from capsim.base import memory, schema
from capsim.fabric.topology import Fabric
from capsim.protocols.layers.units import COUNTS, UNIT_COLUMNS
from capsim.results.files import read_manifest, read_meanings, read_table
from capsim.results.ideal import ideal_fct_s
from capsim.run import needs
from capsim.run.simulation import prepare
from capsim.scenario.scenario import from_dict
from capsmodel import metrics
from capsmodel.checks import ParameterError
from capsmodel.papers.measurements._packets import HEADER_BYTES
from capsmodel.papers.measurements.single_port import FAST_BPS, RATE_BPS, simulated_port

SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, buffer_packets=20, delay_s=5e-6),
    traffic=(Poisson(workload="websearch", load=0.7, flows=60, pairs="other-leaf"),),
    probes=Probes(period_s=1e-3, ports=("leaf0>spine*",), flows=(0, 3)),
    trace="drops",
    seed=5,
)


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(SCENARIO)


def test_tables_follow_the_schema_and_say_their_units(result: Result) -> None:
    for name, columns in schema.TABLES.items():
        assert list(getattr(result, name).columns) == list(columns)
        assert all(columns.values())
    assert result.own_columns == {"flows": {}, "units": {}}
    assert len(result.subflows) == 0
    assert len(result.flows) == 60
    assert len(result.ports) == 2 * (8 + 4)
    assert len(result.probes) > 0
    assert len(result.trace) == result.ports["packets_dropped"].sum() > 0


def test_a_coding_layer_adds_its_columns(tmp_path: Path) -> None:
    coded = simulate(SCENARIO, scheme="caps")
    assert coded.own_columns == {"flows": COUNTS, "units": UNIT_COLUMNS}
    for name, columns in schema.TABLES.items():
        assert list(getattr(coded, name).columns) == [*columns, *coded.own_columns.get(name, {})]
    folder = coded.save(tmp_path / "out")
    for name, own in coded.own_columns.items():
        assert read_meanings(folder / f"{name}.parquet") == schema.TABLES[name] | own
    assert coded.flows["units"].sum() == len(coded.units) > 0
    assert coded.flows["repair_packets"].sum() == (coded.units["n"] - coded.units["k"]).sum()
    assert (coded.flows.loc[~coded.flows["short"], list(COUNTS)] == 0).all(axis=None)


def test_tables_survive_parquet_with_manifest_and_meanings(result: Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "out")
    for name in ("flows", "ports", "probes", "trace"):
        assert read_table(folder / f"{name}.parquet").equals(getattr(result, name))
        manifest = read_manifest(folder / f"{name}.parquet")
        assert manifest["id"] == result.manifest["id"]
        assert from_dict(manifest["parameters"]["scenario"]) == SCENARIO
        assert manifest["resources"]["traversals"] == result.resources.traversals
    assert not (folder / "units.parquet").exists(), "a table without rows makes no file"
    result.save(folder)
    assert {entry.name for entry in tmp_path.iterdir()} == {"out"}


def test_a_manifest_names_no_host_user_or_place(result: Result) -> None:
    text = json.dumps(result.manifest)
    assert str(Path.home()) not in text.replace('"/"', "")
    for private in (platform.node(), str(Path.cwd()), f'"{getuser()}"'):
        assert private not in text


def test_results_never_replace_foreign_files(result: Result, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"holds 'thesis.tex'"):
        result.save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text(encoding="utf-8") == "years of work"


def test_a_failed_save_leaves_nothing(result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("capsim.results.result.write_table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        result.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_same_scenario_gives_the_same_tables(result: Result) -> None:
    again = simulate(SCENARIO)
    assert again.manifest["id"] == result.manifest["id"]
    assert all(getattr(again, name).equals(getattr(result, name)) for name in schema.TABLES)


def test_both_engines_give_the_same_tables() -> None:
    """Of a run that ends before its flows do, so that some have not started, some not finished."""
    cut = SCENARIO.replace(end_s=0.05)
    compiled, reference = (simulate(cut, engine=engine) for engine in ("compiled", "reference"))
    assert 0 < compiled.summary.unfinished_flows < len(compiled.flows)
    assert min(len(compiled.probes), len(compiled.trace)) > 100
    assert reference.manifest["id"] == compiled.manifest["id"]
    assert all(getattr(reference, name).equals(getattr(compiled, name)) for name in schema.TABLES)


def test_watching_does_not_change_what_happens(result: Result) -> None:
    blind = simulate(SCENARIO.replace(probes=None, trace="off"), progress=lambda _: None)
    assert blind.flows.equals(result.flows)
    assert blind.ports.equals(result.ports)
    assert blind.manifest["id"] != result.manifest["id"]


def test_another_seed_gives_other_flows_and_rng_is_recorded(result: Result) -> None:
    drawn = simulate(SCENARIO, rng=np.random.default_rng(3))
    assert drawn.scenario.seed != SCENARIO.seed
    assert not drawn.flows["flow_bytes"].equals(result.flows["flow_bytes"])
    assert simulate(drawn.scenario).flows.equals(drawn.flows)


def test_load_is_written_in_the_result(result: Result) -> None:
    record = result.manifest["load"]
    (load,) = record["entries"]
    assert load["asked"] == 0.7
    assert "links from hosts" in record["definitions"][load["load_of"]]
    span_s = result.flows["start_s"].max() - result.flows["start_s"].min()
    assert load["offered"] == pytest.approx(8 * result.flows["flow_bytes"].sum() / (span_s * 8e9), rel=1e-12)


def test_ideal_completion_time_is_the_metric_where_links_are_equal(result: Result) -> None:
    """Of three packets and more: with fewer, a small last one may overtake on another path."""
    full_s = metrics.ideal_fct_s(
        result.flows["flow_bytes"], rate_bps=1e9, n_hops=4, propagation_s=20e-6, mss_bytes=1460, header_bytes=40
    )
    many = result.flows["flow_bytes"] > 3 * 1460
    np.testing.assert_allclose(result.flows["ideal_fct_s"][many], full_s[many], rtol=1e-12)
    assert (result.flows["ideal_fct_s"] <= full_s * (1 + 1e-12)).all()
    assert (result.flows["slowdown"] >= 1).all()


def test_ideal_completion_time_takes_the_best_path() -> None:
    """Two packets of 1500 B over 10, 1, 1 and 10 Gbps: 1.2 + 12 + 24 + 1.2 us and four delays; not the slow spine."""
    slow = LinkChange(between=("leaf*", "spine1"), rate_bps=1e8)
    kind = LeafSpine(
        leaves=2, hosts_per_leaf=1, spines=2, rate_bps=1e9, host_rate_bps=1e10, delay_s=1e-6, links=(slow,)
    )
    fabric: Fabric = kind.build()
    flows = draw_flows((Listed(flows=((0, 1, 3000, 0.0),)),), fabric, seed=1, short_bytes=0)
    expected_s = 1.2e-6 + 12e-6 + 24e-6 + 1.2e-6 + 4e-6
    np.testing.assert_allclose(ideal_fct_s(flows, fabric, mss_bytes=1500), expected_s, rtol=1e-12)


@pytest.mark.parametrize("payload_bytes", [(1460,), (100, 1460)])
def test_mean_queue_obeys_littles_law(payload_bytes: tuple[int, ...]) -> None:
    """Packets in a NIC on average are the arrival rate times the mean time in it, and it sends what was offered."""
    run = simulated_port(payload_bytes, load=0.8, packets=5000, seed=11)
    nic = run.ports.set_index("name").loc["host0>left"]
    bits = 8 * (run.flows["flow_bytes"].to_numpy() + HEADER_BYTES)
    in_nic_s = run.flows["fct_s"].to_numpy() - 2 * bits / FAST_BPS
    assert nic["mean_queue_packets"] == pytest.approx(in_nic_s.sum() / run.resources.simulated_s, rel=1e-6)
    assert nic["utilisation"] == pytest.approx(bits.sum() / RATE_BPS / run.resources.simulated_s, rel=1e-9)


def test_one_lone_flow_of_one_window_is_ideal() -> None:
    lone = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(pairs="sides", flow_bytes=14_000),))
    assert simulate(lone).flows["slowdown"].to_list() == [1.0]


def test_comparison_shares_flows_within_a_seed() -> None:
    small = SCENARIO.replace(probes=None, trace="off", warm_up_s=0.0)
    runs = compare(small, schemes=["ecmp", "rps"], seeds=3).runs
    assert runs.groupby("seed")["short_flows"].nunique().eq(1).all()
    assert sorted(runs["seed"].unique()) == [5, 6, 7]
    assert len(runs) == 6
    for name, seed in (("ecmp", 6), ("rps", 7)):
        alone = simulate(small.replace(scheme=name, seed=seed))
        row = runs[(runs["scheme"] == name) & (runs["seed"] == seed)].iloc[0]
        assert (row["id"], row["traversals"]) == (alone.manifest["id"], alone.resources.traversals)
    with pytest.raises(ParameterError, match="names one twice"):
        compare(small, schemes=["ecmp", "ecmp"])


def test_the_first_copy_of_a_flow_hashes_as_without_replication() -> None:
    single, doubled = (simulate(SCENARIO, scheme=name).raw for name in ("ecmp", "repflow"))
    own, first = (raw.subs[raw.flows["first_sub"]] for raw in (single, doubled))
    assert len(doubled.subs) == 60 + int((single.flows["short"] != 0).sum())
    for field in ("hash", "reverse_hash"):
        assert np.array_equal(first[field], own[field])
        assert len(set(doubled.subs[field].tolist())) == len(doubled.subs)


def test_the_trace_takes_about_what_was_said() -> None:
    traced = SCENARIO.replace(trace="packets")
    setup = prepare(traced)
    said = needs.trace_size_bytes(traced, setup.fabric, setup.flows, mss_bytes=1460)
    taken = simulate(traced).raw.trace.nbytes
    assert 0.5 < said / taken < 2


def test_a_parameter_keeps_the_kind_of_its_default() -> None:
    changed = find("caps").with_params(layer={"max_overhead": 1, "unit_size": "fixed"}, transport={"mss_bytes": 1400.0})
    assert isinstance(changed.short.layer.params.max_overhead, float)
    assert isinstance(changed.short.transport.params.mss_bytes, int)
    assert isinstance(changed.long.transport.params.mss_bytes, int)
    assert changed.short.layer.params.unit_size.name == "FIXED"
    assert simulate(SCENARIO, scheme=changed).summary.unfinished_flows == 0


def test_a_run_that_would_not_fit_says_so_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 5 * 10**8)
    for change in (
        {"traffic": (Batch(flow_bytes=1, flows=10**8),)},
        {"traffic": (Poisson(flow_bytes=100, load=0.9, duration_s=10.0),)},
        {"fabric": LeafSpine(leaves=200, hosts_per_leaf=200, spines=200)},
        {"traffic": (Batch(flow_bytes=10**9, flows=10),), "probes": Probes(period_s=1e-8, ports=("leaf0>*",))},
    ):
        with pytest.raises(ParameterError, match=r"would not fit in memory: .* GB needed, 0.5 GB free: fewer"):
            simulate(SCENARIO.replace(**change))


def test_what_only_the_run_can_know_is_named_too(subtests: pytest.Subtests) -> None:
    cases = [
        ({"scheme": "nosuch"}, "nosuch"),
        ({"params": {"transport": {"nosuch": 1}}}, "transport.nosuch"),
        ({"params": {"nosuch": {"mss_bytes": 1}}}, "nosuch"),
        (
            {"params": {"transport": {"dup_ack_threshold": "many"}}},
            "dup_ack_threshold = 'many', but it must be a number",
        ),
        ({"params": {"transport": {"mss_bytes": 1.5}}}, "whole number"),
        ({"params": {"transport": {"mss_bytes": 0}}}, "mss_bytes"),
        ({"params": {"transport": {"initial_window_packets": 0}}}, "initial_window_packets"),
        ({"params": {"transport": {"min_rto_s": float("nan")}}}, "min_rto_s = nan, but it must be a number"),
        ({"params": {"transport": {"min_rto_s": -1.0}}}, "at least 0"),
        ({"params": {"transport": {"handshake": 1}}}, "true or false"),
        ({"scheme": "caps", "params": {"layer": {"unit_size": "huge"}}}, "there are .*window"),
        ({"params": {"sharing": {"copies": 3}}}, "sharing.copies is not a parameter of single: there are none"),
        ({"probes": Probes(period_s=1.0, ports=("moon",))}, "no port 'moon'"),
        ({"probes": Probes(period_s=1.0, flows=(60,))}, "numbered 0 to 59"),
    ]
    for change, rule in cases:
        with subtests.test(change=change, rule=rule), pytest.raises(ParameterError, match=rule):
            simulate(SCENARIO.replace(**change))


@pytest.mark.agreement
@pytest.mark.parametrize("name", sorted(schemes()))
def test_a_run_cut_short_in_a_failing_fabric_still_adds_up(name: str) -> None:
    """simulate() returns only what adds up (test_conservation.py); here packets are in queues, on wires and lost."""
    failing = LinkChange(between=("leaf0", "spine0"), down_s=0.01, up_s=0.02)
    fabric = LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, buffer_packets=20, links=(failing,), reroute_s=1e-3)
    cut = simulate(SCENARIO.replace(scheme=name, fabric=fabric, end_s=0.03))
    assert cut.summary.unfinished_flows > 0
    assert int(cut.raw.counters["in_flight"][0]) > 0
    assert "link down" in set(cut.trace["reason"])
    assert cut.flows.loc[~cut.flows["finished"], "fct_s"].isna().all()
    assert cut.resources.simulated_s <= 0.03
