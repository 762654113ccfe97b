"""Table 4 of MMPTCP with an oversubscription of 4:1 and the sockets of the authors' ns-3, at the size of the paper.

In the campaign of its study settings are tried on an eighth of the hosts for a quarter of the time, which is too small
for flows that wait for timers: means of a few hundred flows scatter by half. ``PYTHONPATH=tests python -m
golden.mmptcp_table4 FOLDER...`` makes what these folders lack in the first of them (42 CPU s a run) and keeps the runs
in ``data/results/mmptcp_table4.csv``; `findings_tables` writes the table that the page of findings shows.
"""

import sys
from pathlib import Path

import pandas as pd
from page_tables import Table

from capsmodel.experiments.results import finished_tasks, merge
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.experiments.sweep import Task, run_sweep
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.index import read_verdicts
from capsmodel.papers.studies import published_studies

STUDY, SETTING = "mmptcp-dupthresh", "sockets_as_in_ns3 = yes, at 4:1"
THRESHOLDS, SEEDS = range(3, 24), range(1, 5)
METRICS = {"fct": "mean_fct_short_s", "sd": "fct_short_std_s"}
COLUMNS = ("threshold", "seed", "id", "cpu_s", *METRICS.values())
KEPT = Path(__file__).parents[2] / "data" / "results" / "mmptcp_table4.csv"


def tasks() -> dict[tuple[int, int], Task]:
    """Return the runs by seed and threshold, a seed after the other."""
    points = [(("scheme", "MMPTCP"), ("threshold", threshold)) for threshold in THRESHOLDS]
    listed = published_studies()[STUDY].tasks(points, SEEDS, setting=SETTING, scale="paper")
    of_point = {
        (task.payload["seed"], dict(point)["threshold"]): task for (point, _), task in listed.of_seeds({*SEEDS})
    }
    return dict(sorted(of_point.items()))


def update(folders: list[Path]) -> None:
    """Run what neither the kept file nor a folder has, and keep all."""
    kept = pd.read_csv(KEPT) if KEPT.is_file() else pd.DataFrame(columns=COLUMNS)
    wanted = {place: task for place, task in tasks().items() if task.id not in {*kept["id"]}}
    if not wanted:
        return
    there = {name for folder in folders if folder.is_dir() for name in finished_tasks(folder)}
    run_sweep([task for task in wanted.values() if task.id not in there], folders[0])
    cpu_s = {name: one["cpu_s"] for folder in folders for name, one in finished_tasks(folder).items()}
    ids = [task.id for task in wanted.values()]
    seeds, thresholds = zip(*wanted, strict=True)
    of_run = {"threshold": thresholds, "seed": seeds, "id": ids, "cpu_s": [cpu_s[name] for name in ids]}
    new = merge(folders, task_ids=ids).assign(**of_run)[[*COLUMNS]]
    (pd.concat([kept, new]) if len(kept) else new).to_csv(KEPT, index=False)


def table() -> Table:
    """Return what is printed at each threshold, by the text, and with both settings, in ms."""
    rows = pd.read_csv(KEPT)
    heads = [f"{name}, {of}" for name in ("mean", "deviation") for of in ("printed", "by the text", "4:1 and sockets")]
    return [["threshold", *heads], *([str(number), *_cells(rows, number)] for number in THRESHOLDS)]


def _cells(rows: pd.DataFrame, threshold: int) -> list[str]:
    cells: list[str] = []
    for name, metric in METRICS.items():
        claim = f"mmptcp-t4-d{threshold}-{name}"
        ours = mean_interval(1e3 * rows.loc[rows["threshold"] == threshold, metric])
        cells += [read_claims()[claim].low, f"{read_verdicts()[claim].value[0]:.0f}"]
        cells += [f"{ours.value:.0f} [{ours.low:.0f}, {ours.high:.0f}]"]
    return cells


if __name__ == "__main__":
    update([Path(folder) for folder in sys.argv[1:]])
