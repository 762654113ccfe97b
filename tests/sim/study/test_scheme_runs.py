"""Rows and results of a folder are of the same runs, whatever was run there before, each of the scheme asked for."""

import pytest

from capsim import LeafSpine, Poisson, Result, Scenario, Study, compare, simulate
from capsim.study.scheme_runs import check_names
from capsmodel.checks import ParameterError
from capsmodel.experiments.results import finished_tasks, part_files
from capsmodel.experiments.sweep import gather, one_by_one

FABRIC = LeafSpine(leaves=2, hosts_per_leaf=2, spines=3, rate_bps=1e9, delay_s=1e-5, buffer_packets=40)


def loaded(load):
    traffic = Poisson(load=load, flow_bytes=30_000, flows=12, pairs="other-leaf")
    return Scenario(fabric=FABRIC, traffic=(traffic,), end_s=20.0)


SMALL = loaded(0.8)
FIRST_PORT = """
from dataclasses import replace
from capsim import Balancer, scheme
def first(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return 0
SCHEME = replace(scheme("rps"), NAME balancer=Balancer(name="first", choose=first))
"""
SPRAY = FIRST_PORT.replace('balancer=Balancer(name="first", choose=first)', 'cite="mine"')


def grid(scenario=SMALL, **axes):
    return Study(scenario=scenario, seeds=1, axes=axes)


def fct_s(runs):
    return dict(zip(runs["scheme"].astype(str), runs["mean_fct_short_s"], strict=True))


@pytest.mark.parametrize("name", ['name="mine",', ""])
def test_schemes_of_one_name_are_run_each_and_kept_each(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SPRAY.replace("NAME", name))
    (tmp_path / "b.py").write_text(FIRST_PORT.replace("NAME", name))
    asked = ("rps", "a.py:SCHEME", "b.py:SCHEME")
    alone = {name: simulate(SMALL, scheme=name).summary.mean_fct_short_s for name in asked}
    assert alone["rps"] == alone["a.py:SCHEME"] != alone["b.py:SCHEME"]
    for schemes in (asked, asked[1:2], asked[::-1]):
        study = grid(scheme=list(schemes))
        assert fct_s(study.run("rows").runs) == {name: alone[name] for name in schemes}


def test_a_scheme_edited_while_its_runs_are_made_is_refused_and_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own.py"
    file.write_text(FIRST_PORT.replace("NAME", 'name="own",'))
    tasks = grid(scheme=["own.py:SCHEME"]).tasks()
    file.write_text(file.read_text().replace("return 0", "return 1"))
    with pytest.raises(ParameterError, match="scheme own was edited while"):
        gather(tasks, "rows", executor=one_by_one)
    assert not part_files(tmp_path / "rows")


@pytest.mark.parametrize("earlier", ["other load", "without results", "deleted", "damaged"])
def test_results_of_a_study_are_those_of_its_rows(earlier, tmp_path):
    asked, other = grid(scheme=["ecmp"]), grid(loaded(0.3), scheme=["ecmp"])
    flows = tmp_path / "results" / "ecmp-seed1" / "flows.parquet"
    asked.run(tmp_path, keep_results=earlier != "without results")
    if earlier == "other load":
        other.run(tmp_path, keep_results=True)
    if earlier == "deleted":
        flows.unlink()
    if earlier == "damaged":
        flows.write_bytes(b"PAR1 cut off")
    found = asked.run(tmp_path, keep_results=True)
    assert (found.ran, found.found) == (1, 0)
    row, saved = found.runs.iloc[0], Result.load(flows.parent)
    assert saved.manifest["id"] == row["id"]
    assert saved.summary.mean_fct_short_s == row["mean_fct_short_s"]
    assert asked.run(tmp_path, keep_results=True).ran == 0


def test_results_of_a_comparison_are_those_of_its_rows(tmp_path):
    places = {"folder": tmp_path / "rows", "results": tmp_path / "results", "engine": "reference", "seeds": 1}
    runs = [compare(scenario, schemes=["ecmp", "rps"], **places).runs for scenario in (SMALL, loaded(0.3), SMALL)]
    assert runs[0]["id"].tolist() == runs[2]["id"].tolist() != runs[1]["id"].tolist()
    kept = [Result.load(tmp_path / "results" / f"{name}-seed1").manifest["id"] for name in ("ecmp", "rps")]
    assert kept == runs[2]["id"].tolist()


def test_the_same_run_under_two_names_is_saved_under_both(tmp_path):
    """ECMP has no gap, so that its runs are equal at both."""
    asked = grid(scheme=["ecmp", "letflow"], **{"balancer.gap_s": ["1ms", "2ms"]})
    assert asked.run(tmp_path, keep_results=True).ran == 4
    names = [f"{scheme}-{gap}-seed1" for scheme in ("ecmp", "letflow") for gap in ("1ms", "2ms")]
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == names


def test_keeping_results_changes_no_id(tmp_path):
    asked = grid(scheme=["ecmp", "rps"])
    ids = [task.id for task in asked.tasks()]
    assert [task.id for task in asked.tasks(results=tmp_path)] == ids
    asked.run(tmp_path / "with", keep_results=True, shard=(1, 2))
    asked.run(tmp_path / "without", shard=(2, 2))
    assert len(asked.results([tmp_path / "with", tmp_path / "without"]).runs) == 2
    assert set(finished_tasks(tmp_path / "with" / "runs")) == {ids[0]}


def test_results_that_would_be_saved_under_one_name_are_refused(tmp_path):
    points = [{"scheme": name} for name in ("a/b", "a_b")]
    with pytest.raises(ParameterError, match="2 results would be saved as a_b"):
        check_names(points, tmp_path)
    check_names(points, None)
