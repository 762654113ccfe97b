"""Contract: each study of the papers is found by its names, decides its own claims, and its settings change runs."""

import csv
from dataclasses import replace

import pandas as pd
import pytest

from capsim import Study, load_study, scheme
from capsim.scenario.scenario import from_dict
from capsim.study.campaign import Campaign
from capsmodel.checks import ParameterError
from capsmodel.datafiles import data_path
from capsmodel.experiments.results import part_files, tasks_of
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.claim_list import FORMULAS, PublishedClaim, read_claims, title_and_notes
from capsmodel.papers.studies import experiment_name, published_studies, simulated_studies, study_named

STUDIES = published_studies()
NAMES = list(STUDIES)
WITH_SCENARIO = [name for name in NAMES if STUDIES[name].source.file.scenario]
REPFLOW_WINDOW_BYTES = 12_000


def first_points(name, *, per="scheme"):
    """Return the first point of each scheme that a study runs."""
    found = {}
    for point in STUDIES[name].points():
        found.setdefault(dict(point).get(per), point)
    return list(found.values())


def test_a_study_is_found_by_the_names_that_a_paper_gives_it():
    with data_path("papers/experiments.csv").open(encoding="utf-8", newline="") as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    of_studies = [one for one in ids if experiment_name(one) in STUDIES]
    assert [study_named(one) for one in of_studies] == NAMES == list(simulated_studies())
    by_place = {"caps-fig17": "caps-leafspine", "mmptcp-table3": "mmptcp-t3", "caps-fig20": "caps-dynamic"}
    assert {name: study_named(name) for name in by_place} == by_place
    for one in set(ids) - set(of_studies):
        with pytest.raises(ParameterError, match=f"{one} is not simulated: capsmodel claims --paper"):
            study_named(one)


def test_every_claim_leads_to_what_decides_it():
    """A study, or the command that says what does."""
    for name, claim in read_claims().items():
        if not claim.study.endswith(FORMULAS):
            assert study_named(name) == claim.study
            assert name in STUDIES[claim.study].claims
        else:
            with pytest.raises(ParameterError, match=f"no run decides {name}: capsmodel claims {name} says"):
                study_named(name)


def test_no_claim_is_decided_by_two_studies():
    listed = [claim for study in STUDIES.values() for claim in study.claims]
    assert len(listed) == len(set(listed))
    assert set(listed) == {claim.id for claim in read_claims().values() if claim.study in STUDIES}


def test_a_claim_is_published_as_its_study_decides_it(subtests):
    """Read alone, for the list of claims, and with what it inherits, for its runs, a file says the same."""
    for name in NAMES:
        with subtests.test(name=name):
            published = {claim.id: claim for claim in read_claims().values() if claim.study == name}
            for claim_id, claim in STUDIES[name].claims.items():
                assert PublishedClaim.of(name, claim) == published.pop(claim_id)
            assert not published


def test_it_decides_claims_of_its_own_at_its_own_points(subtests):
    for name in NAMES:
        with subtests.test(name=name):
            study, (title, notes) = STUDIES[name], title_and_notes(name)
            assert title
            assert "Chosen:" in notes
            known = {point for point in study.selected({})}
            for claim in study.claims:
                assert claim.startswith(f"{study.source.file.paper}-")
                compared = study.comparisons(claim)
                assert compared
                points = {
                    tuple(pair for pair in point if pair[0] != "study") for one in compared for point in one.points
                }
                assert points <= known


@pytest.mark.parametrize("name", NAMES)
def test_a_study_and_a_claim_alone_can_be_run(name):
    """What the command refuses, such as a parameter that no scheme has, is not there."""
    study = STUDIES[name]
    assert Study.of(study).design.points() == study.points()
    claim = min(study.claims, key=lambda one: len(study.points(claims=[one])))
    alone = Study.of(study.about(claim))
    assert list(alone.claims) == [claim]
    assert alone.design.points() == study.points(claims=[claim])


@pytest.mark.parametrize("name", NAMES)
def test_each_setting_changes_a_run_or_what_is_measured(name):
    """A setting that nothing reads would make every claim robust."""
    study = STUDIES[name]
    alone = {setting: one for setting, one in study.settings.items() if len(one) == 1}
    for setting in alone:
        changed = any(study.arguments(point) != study.arguments(point, setting) for point in study.points())
        adapted = any(study.metric(claim) != study.metric(claim, setting) for claim in study.claims)
        assert changed or adapted, setting


def test_the_run_of_the_text_has_the_values_that_are_declared_first(subtests):
    for name in WITH_SCENARIO:
        with subtests.test(name=name):
            study = STUDIES[name]
            point = study.points()[0]
            scenario = from_dict(study.arguments(point)["scenario"])
            assert scenario.scheme == study.scheme(point)
            for setting, axis in study.unstated.items():
                role, _, key = setting.partition(".")
                if role == "transport" and key in scenario.params.get("transport", {}):
                    assert scenario.params["transport"][key] == axis.first
                elif role == "fabric":
                    assert getattr(scenario.fabric, key) == axis.first


def test_a_run_with_a_marking_queue_says_where_it_marks(subtests):
    """Runs that do not were made when NICs marked, and are kept: nothing may ask for them."""
    for name in WITH_SCENARIO:
        with subtests.test(name=name):
            study = STUDIES[name]
            for point in first_points(name):
                if not hasattr(scheme(study.scheme(point)).queue.params, "at_nics"):
                    continue
                for setting, values in study.settings.items():
                    at_nics = study.arguments(point, setting)["scenario"]["params"]["queue"]["at_nics"]
                    assert at_nics == ("queue.at_nics" in values)


@pytest.mark.parametrize("name", [name for name in NAMES if STUDIES[name].has_reduced])
def test_the_reduced_scale_has_fewer_hosts_and_the_same_settings(name):
    study = STUDIES[name]
    point = study.points(sampled=True)[0]
    for setting in study.settings:
        whole, small = (from_dict(study.arguments(point, setting, scale)["scenario"]) for scale in ("paper", "reduced"))
        assert small.fabric.node_counts()[0] <= whole.fabric.node_counts()[0] / 3
        assert small.params == whole.params
        assert small.fabric.rate_bps == whole.fabric.rate_bps
        assert [type(one) for one in small.traffic] == [type(one) for one in whole.traffic]


def test_the_initial_window_of_repflow_stays_12_kb_with_any_segment_size():
    study = STUDIES["repflow-ns3-ws"]
    for setting in (TEXT, "mss_bytes = 536"):
        transport = study.arguments(study.points()[0], setting)["scenario"]["params"]["transport"]
        window_bytes = transport["initial_window_packets"] * transport["mss_bytes"]
        assert REPFLOW_WINDOW_BYTES - transport["mss_bytes"] < window_bytes <= REPFLOW_WINDOW_BYTES


def test_schemes_and_settings_of_a_point_have_the_same_flows():
    """Common random numbers: the seed and the traffic are those of the other scheme."""
    study = STUDIES["caps-incast2"]
    points = first_points("caps-incast2")[:2]
    one, other = (study.arguments(point)["scenario"] for point in points)
    assert len({study.scheme(point) for point in points}) == 2
    assert one["traffic"] == other["traffic"]
    assert one["fabric"] == other["fabric"]


@pytest.mark.parametrize(
    ("name", "least_runs"),  # those of its first looks, in all settings
    [
        ("caps-overhead-sim", 224),
        ("mmptcp-lt", 149),
        ("repflow-mn-dm", 424),
        ("cdcps-asym", 264),
        ("dc2mtcp-tuning", 280),
    ],
)
def test_a_study_enumerates_the_runs_that_are_kept(name, least_runs):
    """Those of one of each paper whose rows are all in its own files; tests/golden has the others."""
    kept = {task["id"] for path in files_of(name) for task in tasks_of(path)}
    assert Campaign(STUDIES[name], data_path("results/runs")).ids == kept
    assert len(kept) >= least_runs


def files_of(name):
    return [path for path in part_files(data_path("results/runs")) if path.name.partition(".")[0] == name]


OF_UNITS = """
seeds = 8
axes.k = [2, 4]
[measure]
name = "unit-quantity"
k = "{k}"
quantity = "window_delay_s"
by = "formula"
objective = "eq4"
n_paths = 10
long_flows = 3
runs = 2
[[claim]]
id = "larger"
metric = "unit_value"
subject = { k = 4 }
baseline = { k = 2 }
is = "lower"
text = "a larger unit is faster"
"""


def test_a_study_without_completion_times_draws_what_it_claims(tmp_path):
    """Wrong line: a picture of completion times that the runs have not, and a traceback when all is run."""
    file = tmp_path / "units.toml"
    file.write_text(OF_UNITS)
    studied = load_study(file).run(tmp_path / "runs")
    assert studied.main_metrics == ("unit_value",)
    assert len(studied.plot().axes) == 1


def test_runs_of_another_study_are_no_runs_of_this_one(tmp_path):
    """Wrong line: what a claim compares with, which another study ran, is averaged into the points of this one."""
    file = tmp_path / "units.toml"
    file.write_text(OF_UNITS)
    studied = load_study(file).run(tmp_path / "runs")
    others = studied.runs.assign(study="another", unit_value=1e9)
    both = replace(studied, runs=pd.concat([studied.runs, others], ignore_index=True))
    assert both.table(["unit_value"]).equals(studied.table(["unit_value"]))
    assert (both.points, repr(both).split(":")[0]) == (studied.points, "Studied")
    drawn = [one.plot().axes[0].lines[0].get_ydata().tolist() for one in (both, studied)]
    assert drawn[0] == drawn[1]
