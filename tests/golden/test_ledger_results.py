"""Golden: what the ledger was decided by, kept in ``data/results``, is what the code gives today.

One task of each figure from packets is run again and compared bit for bit; `make ledger` writes them all anew.
"""

import pandas as pd
import pytest

from capsmodel._paper_index import read_claims, read_ledger
from capsmodel.datafiles import data_path
from capsmodel.experiments.figures import published_figure, published_figures
from capsmodel.experiments.ledger import CLOSED_FORM_FILE, CLOSED_FORM_TEST, closed_form_table
from capsmodel.experiments.manifest import table_csv, table_id
from capsmodel.experiments.results import TASK_COLUMN, read_manifest
from capsmodel.experiments.sweep import gather, one_by_one

RESULTS = data_path("results")
LEDGER = read_ledger()
FROM_PACKETS = [name for name, figure in published_figures().items() if figure.tasks()]


@pytest.mark.parametrize("name", published_figures())
def test_figures_have_the_recorded_data(name):
    figure = published_figure(name)
    assert {task.id for task in figure.tasks()} == kept_tasks(name).keys()
    recorded = {LEDGER[claim].result_id for claim in figure.claims if LEDGER[claim].decided_by == name}
    assert recorded <= {table_id(figure.data(results=RESULTS))}


def kept_tasks(name):
    if name not in FROM_PACKETS:
        return {}
    return {task["id"]: task for task in read_manifest(RESULTS / f"{name}.parquet")["tasks"]}


@pytest.mark.parametrize("name", FROM_PACKETS)
def test_verdicts_are_those_of_the_recorded_data(name):
    figure = published_figure(name)
    frame = figure.data(results=RESULTS)
    for claim, judge in figure.judges.items():
        verdict, entry = judge(read_claims()[claim], frame), LEDGER[claim]
        assert (entry.verdict, entry.reason, entry.decided_by) == (verdict.verdict, verdict.reason, name)
        assert entry.value == pytest.approx(verdict.value, rel=1e-9)
        assert entry.interval == pytest.approx(verdict.interval, rel=1e-9)


@pytest.mark.parametrize("name", FROM_PACKETS)
def test_a_simulation_gives_the_recorded_rows_again(name):
    """The one that took least processor time. Whole numbers beside gaps of other tasks were kept as floats."""
    tasks = kept_tasks(name)
    least = min(tasks, key=lambda task: tasks[task]["cpu_s"])
    (task,) = (task for task in published_figure(name).tasks() if task.id == least)
    kept = pd.read_parquet(RESULTS / f"{name}.parquet").query(f"{TASK_COLUMN} == @least").reset_index(drop=True)
    again = gather([task], executor=one_by_one)
    pd.testing.assert_frame_equal(again, kept[list(again)], check_exact=True, check_dtype=False)


def test_closed_form_claims_have_the_recorded_values():
    assert (RESULTS / CLOSED_FORM_FILE).read_text() == table_csv(closed_form_table())
    found = table_id(closed_form_table())
    assert {entry.result_id for entry in LEDGER.values() if entry.decided_by == CLOSED_FORM_TEST} == {found}
