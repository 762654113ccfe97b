"""The ledger: every published claim with what decides it, our value, its interval, the verdict and the result.

``make ledger`` computes all figures in full and all closed-form claims, judges every claim that one of them decides,
and writes the last columns of ``data/papers/claims.csv``. What it judged by is kept in ``data/results``:

========================== ============================================================================================
File                       Holds
========================== ============================================================================================
``<figure>.parquet``       the rows of all simulations of a figure, with the manifest from which each can be run again
``closed_form_claims.csv`` our value and verdict for each closed-form claim
========================== ============================================================================================

The result id of a claim is the SHA-256 of what ``capsmodel reproduce FIGURE`` writes as CSV, or of the second file.
"""

import csv
import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields
from pathlib import Path

import pandas as pd

from capsmodel._files import atomic_writer
from capsmodel.experiments.manifest import table_csv, table_id
from capsmodel.experiments.sweep import merge, run_sweep
from capsmodel.papers.closed_forms import closed_form_verdicts
from capsmodel.papers.figures import PublishedFigure, published_figures
from capsmodel.papers.index import LEDGER_COLUMNS, Claim, LedgerEntry, experiment_kinds, read_claims
from capsmodel.papers.verdicts import Verdict

CLOSED_FORM_FILE = "closed_form_claims.csv"
CLOSED_FORM_TEST = "tests/published/test_closed_form_claims.py"
_WAITS_FOR = {
    "packet_sim": "not simulated yet",
    "testbed": "measured on a testbed; not simulated yet",
    "codec": "not measured on the codec yet",
}


def closed_form_table() -> pd.DataFrame:
    """Return claim, verdict and our value (both ends of a range, equal for one value) of each closed-form claim."""
    rows = [
        {"claim": claim.id, "verdict": found.verdict, "value_low": min(found.value, default=None),
         "value_high": max(found.value, default=None)}
        for claim, found in closed_form_verdicts()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def run_figures(results: Path, kept: Path) -> None:
    """Run the simulations of all figures, in full, in the folder `results`; merge those of each figure into `kept`."""
    figures = [figure for figure in published_figures().values() if figure.tasks()]
    tasks = {task.id: task for figure in figures for task in figure.tasks()}
    run_sweep(tasks.values(), results, label="simulations")
    for figure in figures:
        merge([results], task_ids=[task.id for task in figure.tasks()], out=kept / f"{figure.name}.parquet")


def decided(results: Path) -> dict[str, LedgerEntry]:
    """Return an entry for each claim that a closed form or a figure from packets decides.

    Parameters
    ----------
    results : pathlib.Path
        Folder with the simulations of all figures.
    """
    formulas = {claim.id: verdict for claim, verdict in closed_form_verdicts()}
    table = table_id(closed_form_table())
    entries = {name: _entry(verdict, CLOSED_FORM_TEST, table) for name, verdict in formulas.items()}
    for figure in published_figures().values():
        frame = figure.data(results=results)
        for claim, verdict in _verdicts(figure, frame, formulas):
            entries[claim.id] = _entry(verdict, figure.name, table_id(frame))
    return entries


def _verdicts(
    figure: PublishedFigure, frame: pd.DataFrame, formulas: Mapping[str, Verdict]
) -> Iterator[tuple[Claim, Verdict]]:
    for name in figure.claims:
        claim = read_claims()[name]
        yield claim, figure.judges[name](claim, frame) if name in figure.judges else formulas[name]


def _entry(verdict: Verdict, decided_by: str, result_id: str) -> LedgerEntry:
    value, interval = verdict.value, verdict.interval
    return LedgerEntry(decided_by, value, interval, verdict.verdict, verdict.reason, result_id)


def _open(claim: Claim) -> LedgerEntry:
    waits_for = _WAITS_FOR[experiment_kinds()[claim.experiment_id]]
    return LedgerEntry("", (), (), "open", f"{claim.experiment_id}: {waits_for}", "")


def _cell(value: str | tuple[float, ...]) -> str:
    return value if isinstance(value, str) else " ".join(f"{number:.10g}" for number in value)


def ledger_csv(entries: Mapping[str, LedgerEntry]) -> str:
    """Return ``claims.csv`` with these entries; all other claims are open."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(field.name for field in fields(Claim)), *LEDGER_COLUMNS])
    for claim in read_claims().values():
        entry = entries.get(claim.id) or _open(claim)
        writer.writerow([*astuple(claim), *map(_cell, astuple(entry))])
    return text.getvalue()


def update(data: Path, results: Path) -> None:
    """Compute everything that decides a claim, and write the results and the ledger.

    Parameters
    ----------
    data : pathlib.Path
        The folder ``data`` of a checkout.
    results : pathlib.Path
        Where simulations are kept; those that are there are not run again.
    """
    kept = data / "results"
    kept.mkdir(exist_ok=True)
    run_figures(results, kept)
    files = {kept / CLOSED_FORM_FILE: table_csv(closed_form_table())}
    files[data / "papers" / "claims.csv"] = ledger_csv(decided(results))
    for path, text in files.items():
        with atomic_writer(path) as file:
            file.write(text.encode())


if __name__ == "__main__":
    update(Path(sys.argv[1]), Path(sys.argv[2]))
