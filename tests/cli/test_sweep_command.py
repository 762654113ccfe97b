"""Contract: a study is run over its grid, goes on where it was, in shards and on a cluster, with the same rows."""

import csv
import json
import sys
from pathlib import Path

import pytest
from cli.commands import refused, succeeded
from distributed import LocalCluster

from capsim import Result
from capsmodel.cli.sweep import FILES
from capsmodel.experiments.results import part_files

STUDY = """
name = "small"
scenario = "small.toml"
seeds = 2
[grid]
scheme = ["ecmp", "rps"]
"traffic.load" = [0.3, 0.6]
"transport.min_rto_s" = ["10ms"]
"""
SCENARIO = """
[fabric]
kind = "leaf-spine"
leaves = 2
hosts_per_leaf = 2
spines = 2
[[traffic]]
kind = "poisson"
workload = "websearch"
load = 0.5
flows = 20
exact_load = true
"""
MEASURED = {"cpu_s"}  # another one each time


@pytest.fixture(autouse=True)
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SCENARIO)
    Path("study.toml").write_text(STUDY)


def rows(folder):
    with (Path(folder) / "runs.csv").open(encoding="utf-8") as file:
        return [{name: value for name, value in row.items() if name not in MEASURED} for row in csv.DictReader(file)]


def test_every_point_of_the_grid_is_run_with_every_seed(capsys):
    told = succeeded("sweep study.toml --jobs 1", capsys)
    assert {entry.name for entry in Path("study").iterdir()} == FILES - {"results"}
    found = rows("study")
    assert [(row["scheme"], row["traffic.load"], row["seed"]) for row in found] == [
        (scheme, load, seed) for seed in "12" for scheme in ("ecmp", "rps") for load in ("0.3", "0.6")
    ]
    assert "ratio to" in told.out
    assert "transport.min_rto_s = 10ms" in " ".join(told.out.split())
    lines = told.err.splitlines()
    assert len(lines) == 8
    assert lines[-1].startswith("small: 8 of 8 ended, the last one: ")
    assert Path("study/study.toml").read_text() == STUDY
    assert Path("study/sweep.png").read_bytes()[:4] == b"\x89PNG"


def test_a_run_of_a_study_is_that_of_simulate_with_the_same_settings(capsys):
    succeeded("sweep study.toml --jobs 1 --keep-results --out DIR", capsys)
    flags = "--scheme rps --load 0.6 --set transport.min_rto_s=10ms --seed 2"
    succeeded(f"simulate small.toml {flags} --out alone", capsys)
    kept = Result.load("DIR/results/rps-0.6-10ms-seed2")
    assert kept.flows.equals(Result.load("alone").flows)
    assert "identical" in succeeded("rerun DIR/results/rps-0.6-10ms-seed2/flows.parquet", capsys).out


def test_it_goes_on_where_it_was_and_only_new_points_are_run(capsys):
    succeeded("sweep study.toml --jobs 1 --out DIR", capsys)
    before = {path: path.stat().st_mtime_ns for path in part_files(Path("DIR/runs"))}
    assert succeeded("sweep study.toml --jobs 1 --out DIR", capsys).err == ""
    Path("study.toml").write_text(STUDY.replace("[0.3, 0.6]", "[0.3, 0.6, 0.8]"))
    assert len(succeeded("sweep study.toml --jobs 1 --out DIR", capsys).err.splitlines()) == 4
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(rows("DIR")) == 12


def test_shards_together_are_the_study(capsys):
    succeeded("sweep study.toml --jobs 1 --out whole", capsys)
    for part in (1, 2, 3):
        told = succeeded(f"sweep study.toml --jobs 1 --shard {part}/3 --out shard{part}", capsys)
        assert f"Shard {part} of 3: {(3, 3, 2)[part - 1]} runs made" in told.out
    assert "2 of 8 tasks have no result" in refused("merge study.toml shard1 shard2 --out DIR", capsys)
    merged = succeeded("merge study.toml shard1 shard2 shard3/runs --out merged --json", capsys)
    assert rows("merged") == rows("whole")
    table = json.loads(merged.out)
    assert [row["metric"] for row in table].count("p99_fct_short_s") == 4
    assert {row["seeds"] for row in table} == {2}


def test_a_cluster_gives_the_rows_of_one_process(capsys):
    succeeded("sweep study.toml --jobs 1 --out here", capsys)
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        succeeded(f"sweep study.toml --cluster {cluster.scheduler_address} --out there", capsys)
    assert rows("there") == rows("here")


def test_tables_are_written_where_nothing_can_draw(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    told = succeeded("sweep study.toml --jobs 1 --out DIR", capsys)
    assert "pip install" in told.err
    assert {"table.csv", "runs.csv"} <= {entry.name for entry in Path("DIR").iterdir()}
    assert not Path("DIR/sweep.png").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sweep nosuch.toml", "nosuch.toml"),
        ("sweep study.toml --shard 0/2", "shard 0/2, but it must be 1/2 to 2/2"),
        ("sweep study.toml --shard half", "write I/N"),
        ("sweep study.toml --jobs 0", "jobs = 0"),
        ("sweep study.toml --cluster nowhere", "no Dask scheduler at nowhere"),
        ("sweep study.toml --metrics nosuch --jobs 1", "--metrics = 'nosuch', but it must be one of flows"),
        ("sweep study.toml --metrics , --jobs 1", "--metrics is empty"),
        ("sweep study.toml --out small.toml", "small.toml is a file"),
        ("sweep study.toml --out .", "which is no result"),
        ("merge study.toml", "name the folders"),
        ("merge study.toml nosuch", "nosuch does not exist"),
    ],
)
def test_bad_input_is_one_line_and_status_2(line, told, capsys):
    assert told in refused(line, capsys)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('scenario = "small.toml"', "", "scenario is missing"),
        ('scenario = "small.toml"', 'scenario = "nosuch"', "no file 'nosuch' and no preset of that name"),
        ("seeds = 2", "seeds = 0", "seeds: Expected `int` >= 1, but it is 0"),
        ("seeds = 2", "nosuch = 2", "nosuch"),
        ("[0.3, 0.6]", "[]", "grid.traffic.load: give a list"),
        ("[0.3, 0.6]", "[0.3, 0.3]", "holds a value twice"),
        ("[0.3, 0.6]", "[0.3, -1]", "load: Expected `float` >= 1e-09, but it is -1"),
        ("[0.3, 0.6]", "[[0.3], 0.6]", "grid.traffic.load: give a list"),
        ('"traffic.load"', '"traffic.nosuch"', "has no nosuch"),
        ('"traffic.load"', "seed", "grid.seed: say how many seeds"),
        ('"transport.min_rto_s" = ["10ms"]', '"transport.nosuch" = [1]', "transport.nosuch is not a parameter"),
        ('["ecmp", "rps"]', '["ecmp", "nosuch"]', "scheme = 'nosuch'"),
        ("[grid]", "[nogrid]", "the table [grid] is missing"),
        ("[grid]", "[grid", "study.toml is not TOML"),
        ('["10ms"]', "[1, 2, 3]\nfabric.spines = [1, 2, 3, 4, 5, 6, 7, 8, 9]", "216 runs, but a study has at most 200"),
    ],
)
def test_a_bad_study_is_one_line_and_leaves_nothing(old, new, told, capsys, monkeypatch):
    monkeypatch.setattr("capsim.run.study.MOST_RUNS", 200)
    Path("study.toml").write_text(STUDY.replace(old, new))
    assert told in refused("sweep study.toml --jobs 1", capsys)
    assert not Path("study/runs.csv").exists()
