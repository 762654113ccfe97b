"""Property: settings by name change what a file would, a study is the product of its grid, ids are those of content."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capsim import (
    Batch,
    Dumbbell,
    LeafSpine,
    ParameterError,
    Poisson,
    Scenario,
    Studied,
    Study,
    load_scenario,
    load_study,
    scheme,
    schemes,
    simulate,
    with_settings,
)
from capsim.results.manifest import run_id, run_parameters
from capsim.roles.catalogue import parameters
from capsim.roles.components import components
from capsim.roles.hooks import HOST_ROLES
from capsim.scenario.scenario import from_dict
from capsim.study.scheme_runs import SHOWN_METRICS, metric_table, result_name, row_of
from capsmodel.datafiles import data_path

SMALL = Scenario(
    fabric=Dumbbell(hosts_per_side=2), traffic=(Poisson(workload="websearch", load=0.5, flows=10, pairs="sides"),)
)


def study(grid, **changes):
    return Study(**{"scenario": SMALL, "axes": grid, "seeds": 2, **changes})


def test_a_setting_changes_one_key(subtests):
    cases = [
        ({"seed": 7}, {"seed": 7}),
        ({"fabric.rate_bps": "10Gbps"}, {"fabric": {"kind": "dumbbell", "hosts_per_side": 2, "rate_bps": 1e10}}),
        ({"transport.min_rto_s": "10ms"}, {"params": {"transport": {"min_rto_s": 0.01}}}),
        ({"params.transport.ecn": True}, {"params": {"transport": {"ecn": True}}}),
    ]
    for settings, expected in cases:
        with subtests.test(settings=settings, expected=expected):
            assert with_settings(SMALL, settings).to_dict() == SMALL.to_dict() | expected


def test_a_setting_replaces_what_says_the_same_in_another_way(subtests):
    cases = [
        ({"traffic.flows_per_s": 10.0}, {"load"}),
        ({"traffic.duration_s": "1ms"}, {"flows"}),
        ({"traffic.flow_bytes": "10KB"}, {"workload"}),
        ({"traffic.min_bytes": 1, "traffic.max_bytes": 9}, {"workload"}),
        ({"traffic.0.flow_bytes_cdf": [[10, 1.0]]}, {"workload"}),
    ]
    for settings, gone in cases:
        with subtests.test(settings=settings, gone=gone):
            entry = with_settings(SMALL, settings).to_dict()["traffic"][0]
            assert entry.keys() == (SMALL.to_dict()["traffic"][0].keys() - gone) | {
                name.split(".")[-1] for name in settings
            }


def test_a_setting_of_traffic_goes_to_every_entry_that_has_it():
    both = SMALL.replace(traffic=(*SMALL.traffic, Batch(flow_bytes=1000, flows=1, pairs="sides")))
    changed = with_settings(both, {"traffic.load": 0.9, "traffic.start_s": "1ms", "traffic.1.flows": 3})
    poisson, batch = changed.traffic
    assert (poisson.load, poisson.start_s, batch.start_s, poisson.flows, batch.flows) == (0.9, 1e-3, 1e-3, 10, 3)


def test_bounds_in_packets_and_in_bytes_replace_each_other():
    limited = with_settings(SMALL, {"fabric.buffer_packets": 10})
    assert "buffer_packets" not in with_settings(limited, {"fabric.buffer_bytes": "64KB"}).to_dict()["fabric"]


def test_a_file_of_sizes_is_found_beside_the_scenario(tmp_path):
    (tmp_path / "mine.csv").write_text("1000,0.5\n3000,1\n")
    tables = SMALL.to_dict()
    tables["traffic"][0]["workload"] = "mine.csv"
    scenario = from_dict(tables, folder=tmp_path)
    assert scenario.traffic[0].flow_bytes_cdf == ((1000, 0), (1000, 0.5), (3000, 1))
    assert scenario.traffic[0].mean_bytes() == 1500  # half on 1000, half even up to 3000
    sizes = scenario.traffic[0].sizes(2000, np.random.default_rng(1))
    assert np.mean(sizes == 1000) == pytest.approx(0.5, abs=0.06)  # 5 standard deviations
    assert (sizes[sizes > 1000] <= 3000).all()
    assert from_dict(scenario.to_dict()) == scenario
    with pytest.raises(FileNotFoundError):
        from_dict(tables, folder=tmp_path / "nowhere")


def test_a_point_of_a_study_is_the_scenario_with_its_settings():
    design = study({"scheme": ["ecmp", "rps"], "traffic": {"load": [0.2, 0.4]}}).design
    assert [dict(point) for point in design.points()] == [
        {"scheme": name, "traffic.load": load} for name in ("ecmp", "rps") for load in (0.2, 0.4)
    ]
    assert design.described(design.points()[1]).scenario == with_settings(SMALL, {"traffic.load": 0.4})
    assert design.described(design.points()[2]).scenario.scheme == "rps"


def test_scenarios_may_be_an_axis_and_all_schemes_a_word(tmp_path):
    (tmp_path / "mine.toml").write_text(SMALL.replace(name="mine").to_toml(), encoding="utf-8")
    text = 'scenario = { base = "{fabric}" }\n[axes]\nfabric = ["p64", "mine.toml"]\nscheme = ["rps", "all"]\n'
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    design = load_study(tmp_path / "study.toml").design
    points = design.points()
    assert [design.described(point).scenario.name for point in points[:: len(points) // 2]] == ["p64", "mine"]
    reliable = [name for name in schemes() if name not in ("cbr", "on_off")]
    assert [dict(point)["scheme"] for point in points[: len(reliable)]] == ["rps", *sorted({*reliable} - {"rps"})]


def test_nics_may_be_an_axis_beside_schemes_whose_queue_has_priorities(tmp_path):
    """With their parameters, which such schemes and FIFO have not; what both NICs have in common runs once."""
    text = (
        'seeds = 1\n[axes]\nscheme = ["ecmp", "pfabric"]\n[axes.nic]\nfifo = { nic = "fifo" }\n'
        'bytes = { nic = "round_robin", "nic.quantum_bytes" = 3028 }\n[scenario]\nbase = "mine.toml"\nnic = "{nic}"\n'
    )
    (tmp_path / "mine.toml").write_text(SMALL.to_toml(), encoding="utf-8")
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    runs = load_study(tmp_path / "study.toml").run(tmp_path / "out").runs.set_index(["scheme", "nic"])
    changed = {"nic": "round_robin", "nic.quantum_bytes": 3028}
    for name, settings in (("ecmp", {}), ("ecmp", changed), ("pfabric", {}), ("pfabric", {"nic": "round_robin"})):
        found = runs.loc[name, "bytes" if settings else "fifo"]
        assert found["id"] == simulate(with_settings(SMALL, settings), scheme=name).manifest["id"]
    assert len(set(runs["mean_fct_short_s"])) == 3


def test_the_kept_rows_of_the_steady_state_are_those_of_their_study():
    study = load_study(data_path("studies/steady_websearch.toml"))
    kept = pd.read_csv(data_path("results/steady_websearch.csv"))
    points = {tuple(value for _, value in point) for point in study.design.points()}
    assert set(kept[["case", "scheme"]].itertuples(index=False, name=None)) == points
    assert {tuple(sorted(seeds)) for _, seeds in kept.groupby(["case", "scheme"])["seed"]} == {(1, 2, 3)}


def test_the_study_of_all_schemes_has_the_points_of_its_kept_rows():
    """Its rows are older than its file; each is of a point and a seed of it."""
    asked = load_study(data_path("studies/all_schemes.toml"))
    kept = pd.read_csv(data_path("results/all_schemes.csv"))[["scenario", "traffic.load", "scheme", "seed"]]
    points = {tuple(value for _, value in point) for point in asked.design.points()}
    assert set(kept.drop(columns="seed").itertuples(index=False, name=None)) <= points
    assert set(kept["seed"]) <= set(range(1, asked.most_seeds + 1))


def test_rows_of_a_study_are_those_of_its_runs_and_pairs_go_by_all_other_axes(tmp_path):
    asked = study({"scheme": ["ecmp", "rps"], "traffic.load": [0.2, 0.6]})
    found = asked.run(tmp_path, keep_results=True)
    assert (found.ran, found.found) == (8, 0)
    for row in found.runs.to_dict("records"):
        scenario = with_settings(SMALL, {"traffic.load": row["traffic.load"], "seed": row["seed"]})
        expected = row_of(simulate(scenario, scheme=row["scheme"]))
        for name in (*SHOWN_METRICS, "id"):
            assert row[name] == expected[name] or (row[name] != row[name] and expected[name] != expected[name])
        name = result_name({"scheme": row["scheme"], "traffic.load": row["traffic.load"]}, row["seed"])
        assert (tmp_path / "results" / name / "flows.parquet").is_file()
    table = found.table(["mean_fct_long_s"]).set_index(["scheme", "traffic.load"])
    runs = found.runs.set_index(["scheme", "traffic.load", "seed"])["mean_fct_long_s"]
    for load in (0.2, 0.6):
        assert table.loc[("ecmp", load), "ratio"] == 1
        ratio = np.sqrt(np.prod([runs["rps", load, seed] / runs["ecmp", load, seed] for seed in (1, 2)]))
        assert table.loc[("rps", load), "ratio"] == pytest.approx(ratio)


def test_without_schemes_on_an_axis_there_is_no_ratio():
    runs = pd.DataFrame({"traffic.load": [0.2, 0.4], "seed": 1, "scheme": "ecmp", "timeouts": [1, 2]})
    table = Studied(study({"traffic.load": [0.2, 0.4]}), runs, ()).table(["timeouts"])
    assert table["mean"].tolist() == [1, 2]
    assert table["ratio"].isna().all()


def test_pairs_are_made_by_seed_and_not_by_place():
    runs = pd.DataFrame({"scheme": ["a", "a", "b", "b"], "seed": [1, 2, 2, 1], "x": [1.0, 2.0, 8.0, 2.0]})
    table = metric_table(runs, [{"scheme": "a"}, {"scheme": "b"}], ["x"], first_scheme="a")
    assert table["ratio"].tolist() == pytest.approx([1, (2 * 4) ** 0.5], rel=1e-14)


def test_a_share_has_every_nth_run_and_all_shares_have_all(tmp_path):
    asked = study({"scheme": ["ecmp", "rps"], "traffic.load": [0.2, 0.4, 0.6]})
    made = [asked.run(tmp_path, shard=(part, 5)).ran for part in range(1, 6)]
    assert made == [3, 3, 2, 2, 2]
    assert asked.run(tmp_path).found == 12


def test_equal_runs_of_two_points_are_made_once(tmp_path):
    """The first scheme has no gap, so that its runs are equal at both."""
    found = study({"scheme": ["ecmp", "letflow"], "balancer.gap_s": ["1ms", "2ms"]}).run(tmp_path)
    assert found.ran == 6
    assert found.runs["balancer.gap_s"].tolist() == ["1ms", "2ms"] * 4


def test_ids_do_not_depend_on_which_objects_hold_equal_values():
    """A scheme that has been in another process has a name that equals the default and is another object."""
    here, there = scheme("ecmp"), pickle.loads(pickle.dumps(scheme("ecmp")))
    assert there.name is not here.name
    written = json.loads(json.dumps(SMALL.to_dict() | {"scheme": "ecmp", "short_bytes": 100_000, "trace": "off"}))
    ids = {
        run_id(run_parameters(scenario.replace(scheme=chosen.name), chosen))
        for scenario in (SMALL, from_dict(written))
        for chosen in (here, there)
    }
    assert len(ids) == 1
    assert from_dict(written).to_dict() == SMALL.to_dict()


def test_equal_scenarios_have_equal_tables_and_unequal_ones_have_not():
    default = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2)
    for fabric in (default, LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, rate_bps=float("1e9"))):
        assert SMALL.replace(fabric=fabric).to_dict()["fabric"] == {
            "kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2,
        }  # fmt: skip
    assert load_scenario("p64").replace(count_in_service=True).to_dict()["count_in_service"] is True


def test_every_component_and_parameter_of_a_scheme_is_in_the_catalogue(subtests):
    for name in sorted(schemes()):
        with subtests.test(name=name):
            scheme = schemes()[name]
            listed = parameters(scheme)
            found = components(scheme)
            assert {(flows, part.role) for flows, part in found} >= {("", "balancer"), ("", "queue")}
            parts = [part for _, part in found]
            assert all(getattr(stack, role) in parts for stack in scheme.stacks for role in HOST_ROLES)
            for flows, part in found:
                own = {item.name: item for item in listed if (item.role, item.flows) == (part.role, flows)}
                assert own.keys() == {*part.settable}
                for item in own.values():
                    assert item.component == part.name
                    assert item.meaning[-1] in '."'
                    if item.choices:
                        assert item.default in item.choices
                    if item.bound is not None:
                        assert item.bound.holds(item.default)


def test_a_bad_setting_of_a_study_is_told_before_any_run(tmp_path):
    with pytest.raises(ParameterError, match="no scheme of the study has this parameter"):
        study({"transport.nosuch": [1]})
    with pytest.raises(ParameterError, match="shard 3/2"):
        study({"scheme": ["ecmp"]}).run(tmp_path, shard=(3, 2))
    assert list(Path(tmp_path).iterdir()) == []


def test_a_parameter_of_the_base_is_for_schemes_that_have_it(tmp_path):
    """The preset asks for a handshake, which NDP has none of: its runs are those without, the other's with."""
    file = tmp_path / "study.toml"
    file.write_text('seeds = 1\n[axes]\nscheme = ["ecmp", "ndp"]\n[scenario]\nbase = "all-leaf-spine-websearch"\n')
    design = load_study(file).design
    params = {dict(point)["scheme"]: design.described(point).scenario.params for point in design.points()}
    assert params == {"ecmp": {"transport": {"handshake": True}}, "ndp": {}}
