"""Golden: the kept results in ``data/results/runs`` are what the code gives today, presets and tables of sizes included.

One task of each measurement of a simulated figure, one on which a claim depends, one of each experiment that was run,
and one run of the comparison of all schemes is run again; `make ledger` writes those of figures and experiments anew.
"""

from functools import cache

import pandas as pd
import pytest
from capsmodel.papers.campaign import Campaign
from capsmodel.papers.experiments import published_experiment, published_experiments
from capsmodel.papers.runs import compared_columns, kept_rows

from capsim import load_scenario, simulate, with_settings
from capsim.study.scheme_runs import row_of
from capsmodel.datafiles import data_path
from capsmodel.experiments.manifest import table_id
from capsmodel.experiments.results import TASK_COLUMN, merge, read_manifest
from capsmodel.experiments.sweep import gather, one_by_one
from capsmodel.papers.figures import published_figure, published_figures
from capsmodel.papers.index import read_ledger
from capsmodel.papers.ledger import by_setting_csv, decided_by_experiments, skewness_csv

RESULTS = data_path("results/runs")
LEDGER = read_ledger()
EXPERIMENTS = [name for name in published_experiments() if (RESULTS / f"{name}.parquet").is_file()]
FROM_PACKETS = [name for name, figure in published_figures().items() if figure.tasks()]
# Arguments of the tasks on which the claims of a figure depend: with long flows, with losses, with the sizes claimed.
DECIDING = {
    "caps-fig1": {"long_flows": 4, "spread_s": 1e-4},
    "caps-fig2": {"long_flows": 4, "spread_s": 1e-4},
    "caps-fig4": {"long_flows": 4},
    "caps-fig6c": {"long_flows": 2, "r": 2},
    "caps-fig8c": {"k": 8},
    "caps-fig8d": {"k": 64, "windows": 1000},
    "caps-fig17": {"form": "caps", "workload": "websearch", "load": 0.8},
    "caps-fig19": {"bursts_per_s": 40},
    "caps-fig26": {"form": "caps", "senders": 100, "buffer_packets": 256},
    "caps-fig28": {"form": "caps", "short_flows": 180},
    "cdcps-fig6": {"received_packets": 4},
    "dc2mtcp-pda": {"originals": 100, "coded": 1},
    "repflow-table1": {"long_flow": True, "copies": 2, "buffer_packets": 50},
}


@pytest.mark.parametrize("name", published_figures())
def test_figures_have_the_recorded_data(name):
    figure = published_figure(name)
    assert {task.id for task in figure.tasks()} == kept_tasks(name).keys()
    recorded = {LEDGER[claim].result_id for claim in figure.claims if LEDGER[claim].decided_by == name}
    assert recorded <= {table_id(figure.data(results=RESULTS))}


@cache
def kept_tasks(name):
    if name not in FROM_PACKETS:
        return {}
    return {task["id"]: task for task in read_manifest(RESULTS / f"{name}.parquet")["tasks"]}


def deciding_tasks(name, measurement):
    tasks = kept_tasks(name).values()
    asked = DECIDING[name].items()
    return [task for task in tasks if task["measurement"] == measurement and asked <= task["payload"].items()]


def measurements_of(name):
    return sorted({task["measurement"] for task in kept_tasks(name).values()})


SAMPLED = [(name, each) for name in FROM_PACKETS for each in measurements_of(name) if deciding_tasks(name, each)]


def test_each_measurement_of_a_figure_is_run_again():
    assert {each for _, each in SAMPLED} == {each for name in FROM_PACKETS for each in measurements_of(name)}


@pytest.mark.parametrize("name", FROM_PACKETS)
def test_verdicts_are_those_of_the_recorded_data(name):
    figure = published_figure(name)
    frame = figure.data(results=RESULTS)
    for verdict in figure.verdicts(frame):
        entry = LEDGER[verdict.id]
        assert (entry.verdict, entry.reason, entry.decided_by) == (verdict.verdict, verdict.reason, name)
        assert entry.value == pytest.approx(verdict.value, rel=1e-9)
        assert entry.interval == pytest.approx(verdict.interval, rel=1e-9)


@pytest.mark.parametrize(("name", "measured"), SAMPLED)
def test_a_simulation_gives_the_recorded_rows_again(name, measured):
    """Of the deciding tasks, the one of least processor time; integers in columns with gaps were kept as floats.

    NumPy's sums, and so means, depend in their last bits on the vector unit of the processor.
    """
    least = min(deciding_tasks(name, measured), key=lambda task: task["cpu_s"])["id"]
    (task,) = (task for task in published_figure(name).tasks() if task.id == least)
    kept = pd.read_parquet(RESULTS / f"{name}.parquet").query(f"{TASK_COLUMN} == @least").reset_index(drop=True)
    again = gather([task], executor=one_by_one)
    pd.testing.assert_frame_equal(again, kept[list(again)], rtol=1e-12, atol=0, check_dtype=False)
    if name == "repflow-table1":
        assert again["timed_out_ratio"].item() > 0


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_verdicts_of_an_experiment_are_those_of_its_recorded_runs(name):
    """In the setting of the text; and in all settings at the sampled places: each row, with its seeds, and no other."""
    campaign = Campaign(published_experiment(name), RESULTS)
    recorded = {claim: entry for claim, entry in LEDGER.items() if entry.decided_by == name}
    again = decided_by_experiments([campaign])
    assert again.keys() == recorded.keys()
    for claim, entry in again.items():
        assert (entry.verdict, entry.reason, entry.result_id) == (
            recorded[claim].verdict,
            recorded[claim].reason,
            recorded[claim].result_id,
        )
        assert recorded[claim].value == pytest.approx(entry.value, rel=1e-9)
        assert recorded[claim].interval == pytest.approx(entry.interval, rel=1e-9)
    rows = data_path("papers/by_setting.csv").read_text().splitlines()[1:]
    ours = [row for row in rows if row.partition(",")[0] in campaign.experiment.statements]
    assert ours == by_setting_csv([campaign]).splitlines()[1:]
    skewed = data_path("papers/skewness.csv").read_text().splitlines()[1:]
    ours = [row for row in skewed if row.partition(",")[0] in campaign.experiment.statements]
    assert ours == skewness_csv([campaign]).splitlines()[1:]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_run_of_an_experiment_gives_the_recorded_row_again(name):
    """Of all that were kept, the one of least processor time."""
    campaign = Campaign(published_experiment(name), RESULTS)
    task = min((task for *_, task in campaign.there), key=lambda task: campaign.cpu_s[task.id])
    kept = merge([RESULTS], task_ids=[task.id])
    again = gather([task], executor=one_by_one)
    kept, again = (kept_rows(rows, compared_columns(campaign.experiment)) for rows in (kept, again))
    pd.testing.assert_frame_equal(again, kept, check_exact=True, check_dtype=False)


def test_a_run_of_the_comparison_of_all_schemes_gives_the_recorded_row_again():
    """The one of least processor time."""
    rows = pd.read_csv(RESULTS / "all_schemes.csv")
    least = rows.loc[rows["cpu_s"].idxmin()]
    kept = least.drop(["scenario", "traffic.load", "scheme", "engine", "cpu_s", "id"])
    scenario = with_settings(load_scenario(least["scenario"]), {"traffic.load": float(least["traffic.load"])})
    again = row_of(simulate(scenario.replace(scheme=least["scheme"], seed=int(least["seed"]))))
    assert {name: again[name] for name in kept.index} == pytest.approx(dict(kept), rel=1e-12, nan_ok=True)
