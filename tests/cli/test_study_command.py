"""Contract: a study is run over its grid, goes on where it was, in shards and on a cluster, with the same rows."""

import csv
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from cli.commands import printed, refused, succeed, succeeded
from distributed import LocalCluster
from study.made_up import MadeUp, halved

from capsim import Result, load_study
from capsim.study.campaign import Campaign
from capsim.study.claims.samples import compared_columns
from capsim.study.plot import PLOTTED
from capsmodel.cli.shared.machines import Machines
from capsmodel.datafiles import data_path
from capsmodel.experiments.results import finished_tasks, merge, part_files
from capsmodel.papers.index import read_ledger
from capsmodel.papers.studies import published_studies

STUDY = """
title = "A small study"
seeds = 2
[axes]
scheme = ["ecmp", "rps"]
"traffic.load" = [0.3, 0.6]
"transport.min_rto_s" = ["10ms"]
[scenario]
base = "small.toml"
"""
CLAIM = """
[[claim]]
id = "lower"
metric = "mean_fct_short_s"
subject = "rps"
baseline = "ecmp"
is = "lower"
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
    write(STUDY)


def write(text):
    Path("small.toml").write_text(SCENARIO)
    Path("study.toml").write_text(text)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a folder with the study and its 8 runs in DIR, for :func:`copied`, which every test may change."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write(STUDY)
        succeed("study", "study.toml", "--jobs", "1", "--keep-results", "--out", "DIR")
    return folder


@pytest.fixture
def copied(finished, tmp_path):
    shutil.copytree(finished / "DIR", tmp_path / "DIR")


def rows(folder):
    with (Path(folder) / "runs.csv").open(encoding="utf-8") as file:
        return [{name: value for name, value in row.items() if name not in MEASURED} for row in csv.DictReader(file)]


def test_every_point_of_the_grid_is_run_with_every_seed(copied, blank, capsys):
    assert Path("DIR/study.png").read_bytes()[:4] == b"\x89PNG"
    names = {"runs", "results", "runs.csv", "table.csv", "study.toml", "study.png"}
    assert {entry.name for entry in Path("DIR").iterdir()} == names
    found = rows("DIR")
    assert [(row["scheme"], row["traffic.load"], row["seed"]) for row in found] == [
        (scheme, load, seed) for seed in "12" for scheme in ("ecmp", "rps") for load in ("0.3", "0.6")
    ]
    out = printed("study study.toml --jobs 1 --keep-results --out DIR", capsys)
    assert "ratio to" in out
    assert "transport.min_rto_s = 10ms" in " ".join(out.split())
    assert "profile:" not in out
    assert "study: 4 points, 8 runs" in printed("study DIR/study.toml --out again --expand", capsys)


def test_a_run_of_a_study_is_that_of_simulate_with_the_same_settings(copied, capsys):
    flags = "--scheme rps --load 0.6 --set transport.min_rto_s=10ms --seed 2"
    succeeded(f"simulate small.toml {flags} --out alone", capsys)
    kept = Result.load("DIR/results/rps-0.6-10ms-seed2")
    assert kept.flows.equals(Result.load("alone").flows)
    assert "identical" in succeeded("rerun DIR/results/rps-0.6-10ms-seed2/flows.parquet", capsys).out


def test_it_goes_on_where_it_was_and_only_new_points_are_run(blank, copied, capsys):
    before = {path: path.stat().st_mtime_ns for path in part_files(Path("DIR/runs"))}
    (line,) = succeeded("study study.toml --jobs 1 --out DIR", capsys).err.splitlines()
    assert line.startswith("capsmodel: not at its load: ")  # 20 flows into an empty fabric
    Path("study.toml").write_text(STUDY.replace("[0.3, 0.6]", "[0.3, 0.6, 0.8]"))
    succeeded("study study.toml --jobs 1 --out DIR", capsys)
    assert len(set(part_files(Path("DIR/runs"))) - before.keys()) == 4
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(rows("DIR")) == 12


def test_a_study_and_a_comparison_go_on_with_the_runs_of_each_other(blank, capsys):
    """Catches folders that differ, and runs of one that the other makes again."""
    line = "compare small.toml --schemes ecmp,rps --seeds 2"
    succeeded(f"{line} --write written.toml", capsys)
    succeeded(f"{line} --jobs 1 --out DIR", capsys)
    before = {path: path.stat().st_mtime_ns for path in part_files(Path("DIR/runs"))}
    assert len(before) == 4
    succeeded("study written.toml --jobs 1 --keep-results --out DIR", capsys)
    assert "4 rows in DIR/runs, all of written" in succeeded("study written.toml --check --out DIR", capsys).out
    succeeded(f"{line} --jobs 1 --out DIR", capsys)
    assert {path: path.stat().st_mtime_ns for path in part_files(Path("DIR/runs"))} == before
    assert {"study.toml", "scenario.toml"} <= {entry.name for entry in Path("DIR").iterdir()}


def test_a_profile_is_printed_and_fits_each_scheme(blank, capsys):
    """Catches a study whose runs have other settings than a comparison, and values that nobody sees."""
    Path("study.toml").write_text(STUDY.replace("[0.3, 0.6]", "[0.3]"))
    line = "study study.toml --jobs 1 --seeds 1 --set profile=100g --out DIR"
    shown = " ".join(printed(line, capsys).split())
    assert "profile: packets of 4150 bytes, base RTT" in shown
    assert "transport.mss_bytes = 4110B" in shown


def test_shards_together_are_the_study(blank, copied, capsys):
    for part in (1, 2, 3):
        told = succeeded(f"study study.toml --jobs 1 --shard {part}/3 --out shard{part}", capsys)
        assert f"Shard {part} of 3: {(3, 3, 2)[part - 1]} runs made" in told.out
    assert "2 of 8 tasks have no result: run" in refused("merge study.toml shard1 shard2 --out merged", capsys)
    Path("study.toml").rename("before.toml")
    Path("edited.toml").write_text(Path("before.toml").read_text().replace("[0.3, 0.6]", "[0.2, 0.7]"))
    edited = refused("merge edited.toml shard1 shard2 --out merged", capsys)
    assert "8 of 8 tasks have no result, but the folders have rows of 6 other runs: they are of another" in edited
    Path("before.toml").rename("study.toml")
    merged = succeeded("merge study.toml shard1 shard2 shard3/runs --out merged --json", capsys)
    assert rows("merged") == rows("DIR")
    table = json.loads(merged.out)
    assert [row["metric"] for row in table].count("p99_fct_short_s") == 4
    assert {row["seeds"] for row in table} == {2}


def test_a_cluster_gives_the_rows_of_one_process(blank, copied, capsys):
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        succeeded(f"study study.toml --cluster {cluster.scheduler_address} --out there", capsys)
    assert rows("there") == rows("DIR")


def test_tables_are_written_where_nothing_can_draw(copied, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    Path("new").mkdir()
    shutil.move("DIR/runs", "new")
    assert "pip install" in succeeded("study study.toml --jobs 1 --out new", capsys).err
    assert {entry.name for entry in Path("new").iterdir()} == {"runs", "runs.csv", "table.csv", "study.toml"}


def test_bad_input_is_one_line_and_status_2(subtests, capsys):
    cases = [
        ("study nosuch.toml", "nosuch.toml"),
        ("study study.toml --shard 0/2", "shard 0/2, but it must be 1/2 to 2/2"),
        ("study study.toml --shard half", "write I/N"),
        ("study study.toml --jobs 0", "jobs = 0"),
        ("study study.toml --cluster nowhere", "no Dask scheduler at nowhere"),
        ("study study.toml --metrics nosuch --jobs 1", "--metrics = 'nosuch': there are flows"),
        ("study study.toml --metrics p99.99_fct_s --jobs 1", "p99.99_fct_s is no percentile that is recorded: there"),
        ("study study.toml --metrics , --jobs 1", "--metrics is empty"),
        ("study study.toml --out small.toml", "small.toml is a file"),
        ("study study.toml --out .", "which is no result"),
        ("merge study.toml", "name the folders"),
        ("merge study.toml nosuch", "nosuch does not exist"),
    ]
    for line, told in cases:
        with subtests.test(line=line, told=told):
            assert told in refused(line, capsys)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('base = "small.toml"', "", "fabric"),
        ('base = "small.toml"', 'base = "nosuch"', "no file 'nosuch' and no preset of that name"),
        ("seeds = 2", "seeds = 0", "study.toml: seeds = 0, but it must be"),
        ("seeds = 2", "nosuch = 2", "unknown key nosuch"),
        ("seeds = 2", "seeds = [8, 64]", "there is no claim: give one number"),
        ("seeds = 2", "seeds = 3" + CLAIM, "claims are analysed with 8, 16, 32, ... seeds"),
        ("[0.3, 0.6]", "[]", "axes.traffic.load: give a list"),
        ("[0.3, 0.6]", "[0.3, 0.3]", "holds a value twice"),
        ("[0.3, 0.6]", "[0.3, -1]", "load: Expected `float` >= 1e-09, but it is -1"),
        ("[0.3, 0.6]", "[[0.3], 0.6]", "axes.traffic.load: give a list"),
        ('"traffic.load"', '"traffic.nosuch"', "has no nosuch"),
        ('"traffic.load"', "seed", "axes.seed: say how many seeds"),
        ('"transport.min_rto_s" = ["10ms"]', '"transport.min_rt_s" = [1]', "did you mean transport.min_rto_s"),
        ('["ecmp", "rps"]', '["ecmp", "nosuch"]', "scheme = 'nosuch'"),
        ("[axes]", "[noaxes]", "unknown key noaxes: did you mean axes"),
        ("[axes]", "[axes", "study.toml is not TOML"),
        (
            '["10ms"]',
            "[1, 2, 3]\n'fabric.spines' = [1, 2, 3, 4, 5, 6, 7, 8, 9]",
            "216 runs, but a study has at most 200",
        ),
    ],
)
def test_a_bad_study_is_one_line_and_leaves_nothing(old, new, told, capsys, monkeypatch):
    monkeypatch.setattr("capsim.study.study.MOST_RUNS", 200)
    Path("study.toml").write_text(STUDY.replace(old, new, 1))
    assert told in refused("study study.toml --jobs 1", capsys)
    assert not Path("study/runs.csv").exists()


def test_rows_of_a_changed_study_are_told(copied, capsys):
    Path("study.toml").write_text(STUDY.replace('"10ms"', '"20ms"'))
    assert "8 rows in DIR/runs are of no run of study" in refused("study study.toml --out DIR --check", capsys)


def test_a_setting_may_be_changed_and_a_picture_written_where_it_is_asked(capsys):
    Path("study.toml").write_text(STUDY + "[let]\nunused = 1\n")
    line = "study study.toml --jobs 1 --seeds 1 --set fabric.spines=1 --plot fig.svg --out DIR"
    succeeded(line, capsys)
    assert len(rows("DIR")) == 4
    assert b"<svg" in Path("fig.svg").read_bytes()
    assert "it is an axis of study" in refused("study study.toml --set traffic.load=0.5", capsys)
    assert "nosuch is neither a name of study nor a setting" in refused("study study.toml --set nosuch=0.5", capsys)
    assert "use .png, .pdf or .svg" in refused("study study.toml --plot fig.txt", capsys)


def test_a_new_study_is_whole_and_lists_what_keys_may_be(capsys, blank):
    succeeded("study mine.toml --new", capsys)
    text = Path("mine.toml").read_text(encoding="utf-8")
    assert {"leaf-spine", "incast", "not higher", "mean_fct_short_s"} <= set(re.findall(r"[\w-]+(?: higher)?", text))
    design = load_study("mine.toml").design
    assert {claim.is_ for claim in design.claims.values()} == {"lower", "rising"}
    assert [design.metric(claim) for claim in design.claims] == ["mean_fct_short_s"] * 3
    assert len(design.points()) == 4
    assert "mine.toml is there already" in refused("study mine.toml --new", capsys)
    assert Path("mine.toml").read_text(encoding="utf-8") == text
    assert "does not end in .toml" in refused("study mine --new", capsys)
    assert "--new runs nothing" in refused("study other.toml --new --quick", capsys)


@pytest.mark.agreement
def test_a_new_study_decides_all_that_it_claims_and_is_at_its_load(capsys, blank):
    """Catches a template whose first run ends open, or with flows too few or too many for its load."""
    succeeded("study mine.toml --new", capsys)
    assert "capsmodel:" not in succeeded("study mine.toml", capsys).err
    words = {row["id"]: row["word"] for row in verdicts("mine")}
    assert {"faster": words["faster"], "grows": words["grows"]} == {"faster": "holds", "grows": "holds"}
    assert words["third"] in {"absent", "differs"}


def verdicts(folder):
    with (Path(folder) / "verdicts.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def columns():
    studies = published_studies()
    return {*PLOTTED, *compared_columns(studies["repflow-ns3-ws"]), *compared_columns(studies["repflow-overhead"])}


@pytest.fixture
def made_up(blank, columns, monkeypatch):
    """Runs of the commands are made up, and what they would take: RepFlow's flows take 0.57 times as long as TCP's."""
    executor = MadeUp(halved, columns=columns)
    monkeypatch.setattr(Machines, "executor", lambda self: executor)
    monkeypatch.setattr("capsim.study.claims.design.expected_cpu_s", lambda scenario: 1.0)
    return executor


def test_a_claim_is_decided_by_looks_and_goes_on_where_it_was(made_up, capsys):
    """Both schemes are alike, and eight seeds that scatter by a third decide nothing."""
    made_up.ratio, made_up.spread = (lambda *_: 1.0), 0.3
    Path("study.toml").write_text(STUDY.replace("seeds = 2", "seeds = [8, 16]") + CLAIM)
    line = "study study.toml --jobs 1 --out DIR"
    out = " ".join(printed(line, capsys).split())
    assert "1 claims: 1 open" in out
    assert re.search(r"lower: about (\d+) seeds \([\d.]+ CPU s\) may decide it, .*: give --seeds \1 ", out)
    assert {row["id"] for row in verdicts("DIR")} == {"lower"}
    assert {row["seeds"] for row in verdicts("DIR")} == {"16"}
    assert {row["bound"] for row in verdicts("DIR")} == {"1"}
    assert re.search(r"at +ours +bound\n", printed(line, capsys))
    assert [row["point"] for row in verdicts("DIR")] == [
        "rps against ecmp, traffic.load 0.3",
        "rps against ecmp, traffic.load 0.6",
    ]
    assert len(made_up.ran) == len(finished_tasks(Path("DIR/runs"))) == 64
    latex = printed(f"{line} --latex", capsys)
    assert latex.startswith("\\begin{tabular}")
    assert latex.count("lower & ") == 2
    assert "leave out --latex" in refused("study study.toml --latex --costs", capsys)
    metrics = json.loads(printed(f"{line} --metrics mean_fct_short_s --json", capsys))
    assert {row["metric"] for row in metrics} == {"mean_fct_short_s"}  # in place of verdicts
    assert len(made_up.ran) == 64
    assert "64 rows in DIR/runs, all of study" in printed("study study.toml --out DIR --check", capsys)
    (costs,) = json.loads(printed("study study.toml --out DIR --costs --json", capsys))
    assert (costs["runs"], costs["missing_runs"]) == (64, 0)


def test_a_changed_setting_shows_the_word_as_filed_beside(made_up, capsys):
    """The word of the file as it is follows from the rows in the folder; a change makes other runs."""

    def ratio(scheme, scenario, seed):
        return 1.0 if scheme == "ecmp" else 0.8 if scenario["fabric"]["spines"] == 1 else 1.2

    made_up.ratio = ratio
    Path("study.toml").write_text(STUDY.replace("seeds = 2", "seeds = [8, 8]") + CLAIM)
    filed = json.loads(printed("study study.toml --jobs 1 --out DIR --json", capsys))
    assert {row["word"] for row in filed} == {"fails"}
    assert "before" not in filed[0]
    line = "study study.toml --jobs 1 --out DIR --set fabric.spines=1"
    changed = json.loads(printed(f"{line} --json", capsys))
    seeds = [task["payload"]["seed"] for task in finished_tasks(Path("DIR/runs")).values()]
    assert sum(seed <= 8 for seed in seeds) == 64
    assert sum(seed > 8 for seed in seeds) == 32  # of what fails a second family is run too
    assert [row["before"] for row in changed] == [row["word"] for row in filed]
    assert {row["word"] for row in changed} == {"holds"}
    assert " filed " in printed(line, capsys)


def test_a_word_as_filed_is_shown_only_where_the_file_was_run_as_it_is(made_up, capsys):
    """A setting that one scheme reads leaves the runs of the other as they are: these alone say no word."""
    claims = STUDY.replace("seeds = 2", "seeds = [8, 8]").replace('"rps"', '"letflow"').replace("[0.3, 0.6]", "[0.3]")
    Path("study.toml").write_text(claims + CLAIM.replace('"rps"', '"letflow"'))
    line = "study study.toml --jobs 1 --set balancer.gap_s=1ms --out new"
    assert " filed " not in printed(line, capsys)
    filed = json.loads(printed("study study.toml --jobs 1 --json", capsys))
    assert len(finished_tasks(Path("new/runs"))) == len(finished_tasks(Path("study/runs"))) == 16
    changed = json.loads(printed(f"{line} --json", capsys))
    assert [row["before"] for row in changed] == [row["word"] for row in filed]


def test_a_claim_of_the_papers_is_decided_alone_in_another_setting(made_up, capsys):
    """RepFlow's mean is 40 to 45% below TCP's at five loads: ten points, eight seeds, and no other claim."""
    line = "study repflow-f8a --seeds 8 --set transport.min_rto_s=123ms --json --out DIR"
    found = json.loads(succeeded(line, capsys).out)
    assert {row["id"] for row in found} == {"repflow-f8a"}
    assert {row["word"] for row in found} == {"agrees"}
    assert {row["before"] for row in found} == {read_ledger()["repflow-f8a"].verdict}
    tasks = finished_tasks(Path("DIR/runs")).values()
    assert len(tasks) == len(made_up.ran) == 10 * 8
    transports = [task["payload"]["scenario"]["params"]["transport"] for task in tasks]
    assert {one["min_rto_s"] for one in transports} == {0.123}
    assert [row["id"] for row in verdicts("DIR")] == ["repflow-f8a"] * 5
    assert succeeded(line, capsys).err == ""
    assert len(made_up.ran) == 80


def test_settings_have_a_table_with_the_value_of_each_point(made_up, capsys):
    """Catches a table of words alone, values of another setting, and one that is only a picture."""

    def ratio(scheme, scenario, seed):
        return 1.0 if scheme == "ecmp" else 0.8 if scenario["fabric"]["spines"] == 2 else 0.5

    made_up.ratio = ratio
    claims = STUDY.replace("seeds = 2", 'seeds = [8, 8]\nunstated = { "fabric.spines" = [2, 1] }') + CLAIM
    Path("study.toml").write_text(claims)
    out = " ".join(printed("study study.toml --jobs 1 --settings --out DIR", capsys).split())
    with Path("DIR/settings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ours = {(row["setting"], row["point"]): float(row["ours"]) for row in rows}
    at = [f"rps against ecmp, traffic.load {load}" for load in (0.3, 0.6)]
    assert [*ours] == [(setting, point) for setting in ("as the text", "fabric.spines = 1") for point in at]
    assert [*ours.values()] == pytest.approx([0.8, 0.8, 0.5, 0.5], rel=0.01)
    assert all(float(row["low"]) < float(row["ours"]) < float(row["high"]) for row in rows)
    assert {(row["id"], row["metric"], row["word"]) for row in rows} == {("lower", "mean FCT, short", "holds")}
    assert "setting verdict seeds at ours" in out
    assert out.count("fabric.spines = 1 holds 8 rps against ecmp, ") == 2


@pytest.mark.parametrize("name", ["repflow-ns3-ws", "repflow-e07-ns3-ws", "repflow-fig8", "repflow-f8a"])
def test_runs_of_a_study_are_the_same_by_each_of_its_names(name, made_up, capsys):
    (made,) = json.loads(succeeded(f"study {name} --costs --json --out DIR", capsys).out)
    first = 80 if name == "repflow-f8a" else len(first_look("repflow-ns3-ws"))
    assert (made["study"], made["runs"], made["missing_runs"]) == ("repflow-ns3-ws", 0, first)


def first_look(name):
    design = published_studies()[name]
    return [(point, seed) for point in design.points() for seed in range(1, 9)]


def test_a_budget_of_nothing_decides_nothing_and_is_told(made_up, capsys):
    told = " ".join(succeeded("study repflow-overhead --budget 0s --out DIR", capsys).out.split())
    assert "17 claims: 17 open. No run." in told
    assert not part_files(Path("DIR/runs"))
    (costs,) = json.loads(succeeded("study repflow-overhead --costs --json --out DIR", capsys).out)
    assert (costs["runs"], costs["missing_runs"]) == (0, 256)


def test_a_claim_of_the_papers_goes_on_where_a_share_of_it_ended(made_up, capsys):
    """Half of the first look, then all that is missing: no run is made twice."""
    assert "Shard 1 of 2: 40 runs made" in printed("study repflow-f8a --shard 1/2 --out DIR", capsys)
    (costs,) = json.loads(printed("study repflow-f8a --costs --json --out DIR", capsys))
    assert (costs["runs"], costs["cpu_s"], costs["missing_runs"]) == (40, 40, 40)
    succeeded("study repflow-f8a --out DIR", capsys)
    assert len(made_up.ran) >= 80
    assert sorted(made_up.ran) == sorted(finished_tasks(Path("DIR/runs")))


def test_costs_are_those_of_the_rows_that_are_there(capsys):
    """Of kept rows, whoever has them in DIR/runs; nothing is run."""
    Path("DIR").mkdir()
    (Path("DIR") / "runs").symlink_to(data_path("results/runs"), target_is_directory=True)
    kept = finished_tasks(data_path("results/runs"))
    (costs,) = json.loads(succeeded("study mmptcp-lt --costs --settings --json --out DIR", capsys).out)
    ids = Campaign(published_studies()["mmptcp-lt"], data_path("results/runs")).ids
    assert costs["runs"] == len(ids) > 100
    assert costs["cpu_s"] == pytest.approx(sum(kept[one]["cpu_s"] for one in ids))


@pytest.mark.parametrize("name", ["caps-incast1", pytest.param("mmptcp-thr-benson", marks=pytest.mark.agreement)])
def test_the_small_version_of_a_study_of_the_papers_runs_and_decides_nothing(name, capsys):
    """Two seeds of its first point."""
    out = " ".join(printed(f"study {name} --quick --jobs 1 --out DIR", capsys).split())
    assert "works: 2 runs, two seeds of 1 of" in out
    assert "as there is no [quick]. Left out: all other points and seeds, the claims, tables and picture" in out
    assert "Nothing is decided" in out
    assert [path.name for path in Path("DIR").iterdir()] == ["runs"]
    rows = merge([Path("DIR/runs")])
    assert len(rows) == 2
    assert (rows["mean_fct_short_s"] > 0).all()


def test_a_small_version_of_its_own_has_every_point(capsys):
    write(STUDY.replace("seeds = 2", 'seeds = 2\nquick = { "traffic.flows" = 5 }'))
    out = " ".join(printed("study study.toml --quick --jobs 1", capsys).split())
    assert "works: 8 runs, two seeds of 4 of 4 points, at the size of [quick]." in out
    assert set(merge([Path("study/runs")])["flows"]) == {5}
