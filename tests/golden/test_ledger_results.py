"""Golden: the kept results in ``data/results/runs`` are what the code gives, presets and tables of sizes included.

One task of each study and one run of the comparison of all schemes is run again; `make ledger` adds those of studies.
"""

from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from capsim import load_study, simulate
from capsim.results.manifest import run_id, run_parameters
from capsim.run.simulation import prepare
from capsim.scenario.profile import sizes_of
from capsim.study.campaign import Campaign
from capsim.study.claims.samples import compared_columns
from capsim.study.kept_runs import Group
from capsim.study.scheme_runs import row_of
from capsmodel.datafiles import data_path
from capsmodel.experiments.kept import DIGEST, with_digests
from capsmodel.experiments.manifest import table_id
from capsmodel.experiments.results import merge, part_files, tasks_of
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.sweep import Task, gather, one_by_one
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.figures import published_figure, published_figures
from capsmodel.papers.index import read_ledger
from capsmodel.papers.ledger import decided_by_runs, in_regime
from capsmodel.papers.measurements.caps_comparison import beside_long_flows, incast
from capsmodel.papers.studies import published_studies

pytestmark = pytest.mark.agreement

RESULTS = data_path("results/runs")
LEDGER = read_ledger()
STUDIES = list(published_studies())
# Files of runs that a notebook reads, and of runs that studies use or whose measurements tests still make.
FILES_OF_NO_STUDY = {
    *(f"caps-fig{number}" for number in ("1", "2", "4", "6c", "8c", "8d", "19", "26", "28")),
    *("cdcps-fig6", "repflow-table1"),
}


@pytest.mark.parametrize("name", published_figures())
def test_figures_have_the_recorded_data(name):
    figure = published_figure(name)
    recorded = {LEDGER[claim].result_id for claim in figure.claims if LEDGER[claim].decided_by == name}
    assert recorded <= {table_id(figure.compute())}


@pytest.mark.parametrize(("name", "function"), [("caps-fig26", incast), ("caps-fig28", beside_long_flows)])
def test_a_run_that_a_notebook_reads_is_given_again(name, function):
    """The one of CAPS of least processor time.

    NumPy's sums, and so means, depend in their last bits on the vector unit of the processor.
    """
    (path,) = files_of(name)
    task = min((one for one in tasks_of(path) if one["payload"]["form"] == "caps"), key=lambda one: one["cpu_s"])
    kept, again = merge([path], task_ids=[task["id"]]), gather([Task(function, **task["payload"])], executor=one_by_one)
    pd.testing.assert_frame_equal(again, kept[list(again)], rtol=1e-12, atol=0, check_dtype=False)


@cache
def campaign(name):
    return Campaign(published_studies()[name], RESULTS)


@pytest.mark.parametrize("name", STUDIES)
def test_verdicts_of_a_study_are_those_of_its_kept_rows(name):
    """In the setting of the text and in the others, each claim and no other; each row kept for it is a run of it."""
    recorded = {claim: LEDGER[claim] for claim in published_studies()[name].claims}
    others = {read_claims()[claim].regime for claim in recorded} - {""}
    again = in_regime({claim: LEDGER[claim] for claim in others} | decided_by_runs([campaign(name)]))
    for claim, entry in ((claim, again[claim]) for claim in recorded):
        assert recorded[claim].value == pytest.approx(entry.value, rel=1e-9), claim
        assert recorded[claim].interval == pytest.approx(entry.interval, rel=1e-9), claim
        assert exact(recorded[claim]) == exact(entry)
    if name != "dc2mtcp-pda":  # the first of its files has runs of another measurement
        assert {task["id"] for path in files_of(name) for task in tasks_of(path)} <= campaign(name).ids


def exact(entry):
    """Return what is the same to the last letter; values and intervals are written with ten digits."""
    return {name: one for name, one in vars(entry).items() if name not in ("value", "interval")}


@pytest.mark.parametrize("name", [name for name in STUDIES if name in {one.decided_by for one in LEDGER.values()}])
def test_a_run_of_a_study_gives_the_kept_row_again(name):
    """Of all that were kept, the one of least processor time: all that it measured, by the digest and by columns.

    What a single mechanism shows has means by NumPy, whose last bits depend on the vector unit of the processor.
    """
    found = campaign(name)
    task = min((task for *_, task in found.there), key=lambda task: found.cpu_s[task.id])
    kept, again = merge([RESULTS], task_ids=[task.id]), with_digests(gather([task], executor=one_by_one))
    measured = [one for one in compared_columns(found.design) if one in again]
    if not found.design.source.file.scenario:
        pd.testing.assert_frame_equal(again[measured], kept[measured], rtol=1e-12, atol=0, check_dtype=False)
        return
    measured.append(DIGEST)
    assert DIGEST in kept
    kept = kept.reindex(columns=measured)  # a column without a value of this run may be in no file that has it
    pd.testing.assert_frame_equal(again[measured], kept, check_exact=True, check_dtype=False)


@pytest.mark.parametrize("name", ["caps-hybrid", "mmptcp-incast"])
def test_a_price_is_guessed_before_the_first_run(name, tmp_path):
    """Within a factor of four of what runs took, at cheap and at dear points, with none of them there."""
    there, group = campaign(name), Group(TEXT, "paper")
    taken_s = {point: there.cost_s(group, point) for point in there.design.points()}
    assert max(taken_s.values()) > 2 * min(taken_s.values())
    before = Campaign(there.design, tmp_path)
    for point, cost_s in taken_s.items():
        assert cost_s / 4 < before.cost_s(group, point) < 4 * cost_s, point


def test_each_file_is_of_a_study_or_of_single_mechanisms():
    named = {path for name in (*STUDIES, *FILES_OF_NO_STUDY) for path in files_of(name)}
    assert named == set(part_files(RESULTS))


def files_of(name):
    """Return ``NAME.parquet``, ``NAME.2.parquet``, ..."""
    return [path for path in part_files(RESULTS) if path.name.partition(".")[0] == name]


@pytest.mark.parametrize("name", ["all_schemes", "steady_websearch"])
def test_a_run_of_a_comparison_gives_the_recorded_row_again(name):
    """The one of least processor time."""
    rows, design = pd.read_csv(data_path(f"results/{name}.csv")), load_study(data_path(f"studies/{name}.toml")).design
    least = rows.loc[rows["cpu_s"].idxmin()]
    kept = least.drop([*design.axes, "engine", "cpu_s", "id"])
    (point,) = [point for point in design.points() if all(least[axis] == value for axis, value in point)]
    again = row_of(simulate(design.described(point).scenario.replace(seed=int(least["seed"]))))
    assert {name: again[name] for name in kept.index} == pytest.approx(dict(kept), rel=1e-12, nan_ok=True)


@cache
def todays_study(name="beyond"):
    """Return the comparison of today's schemes, and its points by case and scheme."""
    design = load_study(data_path(f"studies/{name}.toml")).design
    return design, {tuple(dict(point).values()): point for point in design.points()}


TODAYS = ("beyond", "beyond_400g")


def rows_of_today(name):
    """Return the rows that the documentation shows; files with a lower number are of runs before a correction."""
    return pd.read_parquet(data_path(f"results/{name}.3.parquet"))


@pytest.mark.parametrize("name", TODAYS)
def test_the_kept_rows_of_todays_schemes_are_those_of_their_study(name):
    """All points, each with the seeds of its case; all flows end; all are at their load; one run again."""
    design, points = todays_study(name)
    rows = rows_of_today(name)
    seeds = rows.groupby(["case", "scheme"])["seed"].agg(sorted)
    assert set(seeds.index) == set(points)
    many = {"beyond": 4, "beyond_400g": 1}[name]
    fewer = {"web search, load 0.6": 3, "incasts beside web search": 3}
    assert all(one == list(range(1, min(many, fewer.get(case, 4)) + 1)) for (case, _), one in seeds.items())
    assert rows["unfinished_flows"].max() == 0
    assert rows["settled_before"].min() >= 0.9
    of_scheme = rows[rows["scheme"] == "trim, mark, learn paths"]
    least = of_scheme.loc[of_scheme["cpu_s"].idxmin()]
    again = row_of(simulate(scenario_of(least, design, points)))
    kept = least.drop(["case", "scheme", "engine", "cpu_s", "id"]).astype(float)
    assert {name: again[name] for name in kept.index} == pytest.approx(dict(kept), rel=1e-12, nan_ok=True)


def scenario_of(row, design, points):
    """Return the scenario of a kept row."""
    return design.described(points[row["case"], row["scheme"]]).scenario.replace(seed=int(row["seed"]))


@pytest.mark.parametrize("name", TODAYS)
def test_the_ids_of_the_kept_rows_follow_from_their_scenarios(name):
    """Of one run of each scheme in each third case: a parameter that a component gets later changes them."""
    design, points = todays_study(name)
    rows = rows_of_today(name).drop_duplicates(["case", "scheme"], keep="last")
    for _, row in rows[rows["case"].isin(rows["case"].unique()[::3])].iterrows():
        scenario = scenario_of(row, design, points)
        assert run_id(run_parameters(scenario, prepare(scenario).scheme)) == row["id"], (row["case"], row["scheme"])


@pytest.mark.parametrize("name", TODAYS)
def test_a_first_window_of_a_round_trip_is_one(name):
    """In packets: between two sites another one than in the data centre."""
    design, points = todays_study(name)
    for case in ("permutation, 2 MB", "two sites, loss 1e-3", "two sites 10 ms apart, loss 1e-3"):
        scenario = design.described(points[case, "mark: spray, first window of a round trip"]).scenario
        found = sizes_of(scenario.fabric.build(seed=1), 4150).bdp_packets
        assert scenario.params["transport"]["initial_window_packets"] == found


def test_the_kept_words_are_on_the_claims_about_published_outputs():
    """So are those that the page about htsim counts; and what the scheme `cubic` says of itself can be decided."""
    assert len(load_study(data_path("studies/cubic.toml")).design.claims) == 2
    found = pd.read_csv(data_path("results/published.csv"))
    studies = [load_study(data_path(f"studies/{name}.toml")) for name in ("published", "published_rates")]
    assert list(found["id"]) == [claim for study in studies for claim in study.design.claims]
    assert found["word"].value_counts().to_dict() == {"agrees": 26, "differs": 5, "open": 6}
    page = " ".join(Path(__file__).parents[2].joinpath("docs", "validation.md").read_text(encoding="utf-8").split())
    outputs, rates = (len(study.design.claims) for study in studies)
    assert f"are {outputs} claims of a study" in page
    kinds = found.head(outputs)["word"].value_counts()
    assert f"{kinds['agrees']} agree, {kinds['differs']} differ, {kinds['open']} are open" in page
    for row in found.tail(rates).itertuples():
        assert row.word == "agrees"
        assert f"{row.ours:.2f} [{row.low:.2f}, {row.high:.2f}]" in page
