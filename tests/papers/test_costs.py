"""What experiments cost: a run that is missing is taken to cost what the runs most like it did, and counts once."""

import csv
import math
from collections import defaultdict
from types import SimpleNamespace

import pytest

from capsmodel.datafiles import data_path
from capsmodel.experiments.results import read_manifest
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.campaign import Campaign
from capsmodel.papers.experiments import published_experiment, published_experiments
from capsmodel.papers.index import Cost, read_costs
from capsmodel.papers.ledger import cost, costs
from capsmodel.papers.runs import Group
from capsmodel.papers.statements import levels

RESULTS = data_path("results")
OTHER = "mss_bytes = 536"


class Named(dict):
    """Tasks whose ids say what is run."""

    def __init__(self, group):
        self.group = group

    def __missing__(self, key):
        term, seed = key
        return SimpleNamespace(id=f"{self.group} {term} {seed}")


def campaign(made, *, reduced=True):
    """Return a campaign about two schemes at two places, the second of them sampled, with the times of what was made.

    `made` has the processor time of (setting, scale, (scheme, place), seed).
    """
    statement = levels(["ecmp", "caps"], ["load 0.2", "load 0.8"])
    experiment = SimpleNamespace(
        name="an-experiment",
        statements={"a-claim": statement},
        scale=lambda *, sampled: "reduced" if sampled and reduced else "paper",
        statement=lambda claim, setting, *, sampled: statement.at(["load 0.8"]) if sampled else statement,
    )
    tasks = {
        Group(setting, scale): Named((setting, scale)) for setting in (TEXT, OTHER) for scale in ("paper", "reduced")
    }
    runs = {(Group(setting, scale), term, seed): cpu_s for (setting, scale, term, seed), cpu_s in made.items()}
    times_s = {tasks[group][term, seed].id: cpu_s for (group, term, seed), cpu_s in runs.items()}
    return SimpleNamespace(
        experiment=experiment,
        tasks=tasks,
        settings_of={"a-claim": (TEXT, OTHER)},
        there=[(group, term, tasks[group][term, seed]) for group, term, seed in runs],
        ids=times_s.keys(),
        cpu_s=times_s,
    )


def test_what_nobody_has_run_has_no_cost():
    """Four runs of the text at all places, and at the one that is sampled two settings at the reduced scale."""
    found = cost(campaign({}))
    assert (found.runs, found.runs_cpu_s, found.missing_runs) == (0, 0.0, 4 * (4 + 2 * 2))
    assert math.isnan(found.missing_cpu_s)


def test_a_missing_run_costs_what_those_most_like_it_did():
    ecmp, caps = ("ecmp", "load 0.8"), ("caps", "load 0.8")
    made = {
        (TEXT, "paper", ecmp, 1): 100.0,
        (TEXT, "paper", ecmp, 2): 300.0,  # the other seeds: 200 s
        (TEXT, "paper", caps, 1): 1000.0,
        (
            TEXT,
            "reduced",
            ecmp,
            1,
        ): 10.0,  # the scheme of its place in the other setting too; caps likewise, by its place
    }
    found = cost(campaign(made))
    of_the_place, of_the_scale = 2 * 200 + 3 * 1000, 8 * (100 + 300 + 1000) / 3
    assert (found.runs, found.runs_cpu_s) == (4, 1410.0)
    assert found.missing_runs == 32 - 4
    assert found.missing_cpu_s == pytest.approx(of_the_place + of_the_scale + (4 * 4 - 1) * 10.0)


def test_where_settings_are_compared_at_the_papers_scale_its_runs_are_not_missing_twice():
    found = cost(campaign({}, reduced=False))
    assert found.missing_runs == 4 * (4 + 2)


def test_runs_of_several_experiments_are_those_of_the_first():
    one = campaign({(TEXT, "paper", ("ecmp", "load 0.8"), 1): 100.0})
    first, second = costs([one, one])
    assert (first.runs, first.missing_runs) == (1, 31)
    assert second == Cost("an-experiment", 0, 0.0, 0, 0.0, shared_runs=32)


def test_the_recorded_costs_are_those_of_the_kept_runs():
    """Of RepFlow and MMPTCP the files also hold runs of schemes as they were before a correction."""
    times_s = defaultdict(dict)
    seen = defaultdict(set)
    for name in published_experiments():
        for path in sorted(RESULTS.glob(f"{name}.*parquet")):
            for task in read_manifest(path)["tasks"]:
                times_s[name][task["id"]] = task["cpu_s"]
                seen[name.partition("-")[0]].add(task["id"])
    recorded = {one.experiment: one for one in read_costs()}
    assert list(recorded) == list(published_experiments())
    runs = {paper: sum(one.runs for one in recorded.values() if one.experiment.startswith(paper)) for paper in seen}
    assert all(runs[paper] == len(seen[paper]) for paper in ("caps", "cdcps", "dc2mtcp"))
    assert all(runs[paper] < len(seen[paper]) for paper in ("repflow", "mmptcp"))
    assert recorded["caps-incast1"].runs_cpu_s == round(sum(times_s["caps-incast1"].values()))
    with data_path("papers/costs.csv").open(newline="", encoding="utf-8") as file:
        assert [row["experiment"] for row in csv.DictReader(file)] == list(recorded)


def test_the_recorded_cost_of_an_experiment_follows_from_its_runs(tmp_path):
    """One that shares no runs with those before it."""
    (tmp_path / "kept.parquet").symlink_to(RESULTS / "cdcps-asym.parquet")
    found = cost(Campaign(published_experiment("cdcps-asym"), tmp_path))
    (recorded,) = (one for one in read_costs() if one.experiment == found.experiment)
    assert (recorded.runs, recorded.missing_runs) == (found.runs, found.missing_runs)
    assert recorded.missing_cpu_s == round(found.missing_cpu_s)
