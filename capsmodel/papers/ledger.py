"""The ledger: every published claim, the figure or test that decides it, our value, its interval, verdict and result.

The claims themselves are in ``data/papers/claims.csv``, written by hand. ``make ledger`` computes all figures in full
and all closed-form claims, judges every claim that one of them decides, and writes ``data/papers/verdicts.csv``, a row
for each. The rows of all simulations of a figure are kept in ``data/results/<figure>.parquet``, with the manifest from
which each can be run again.

An experiment (:mod:`capsmodel.papers.experiments`) is run by ``capsmodel reproduce``, not here: what of its runs is in
the folder of the simulations is kept too, and judged. Its verdict takes the place of that of a figure about the same
claim. ``data/papers/by_setting.csv`` has its verdicts in all settings that change what it compares,
``data/papers/skewness.csv`` how skewed the samples are that it rests on, and ``data/papers/costs.csv`` the processor
time of each experiment.

The result id of a claim is the SHA-256 of what ``capsmodel reproduce`` writes as CSV. The count of verdicts in the
README beside the folder ``data`` is replaced by what ``capsmodel claims --totals`` then prints.
"""

import csv
import io
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from math import isfinite
from pathlib import Path

from capsmodel._files import atomic_writer
from capsmodel.experiments.manifest import table_id
from capsmodel.experiments.sweep import Progress, merge, run_sweep
from capsmodel.papers.campaign import Campaign
from capsmodel.papers.closed_forms import closed_form_verdicts
from capsmodel.papers.costs import costs
from capsmodel.papers.experiments import published_experiments
from capsmodel.papers.figures import published_figures
from capsmodel.papers.index import LEDGER_COLUMNS, Cost, LedgerEntry, read_claims
from capsmodel.papers.settings import TEXT
from capsmodel.papers.verdicts import Verdict

README_COLUMNS = 80
CLOSED_FORM_TEST = "tests/published/test_closed_form_claims.py"


def run_figures(results: Path, kept: Path) -> None:
    """Run the simulations of all figures, in full, in the folder `results`; merge those of each figure into `kept`."""
    figures = [figure for figure in published_figures().values() if figure.tasks()]
    tasks = {task.id: task for figure in figures for task in figure.tasks()}
    run_sweep(tasks.values(), results, progress=Progress(label="simulations"))
    for figure in figures:
        merge([results], task_ids=[task.id for task in figure.tasks()], out=kept / f"{figure.name}.parquet")


def decided(results: Path) -> dict[str, LedgerEntry]:
    """Return an entry for each claim that a closed form or a figure decides.

    Parameters
    ----------
    results : pathlib.Path
        Folder with the simulations of all figures.

    Raises
    ------
    ValueError
        If two figures decide one claim: which of them the ledger names would hang on their order.
    """
    figures = published_figures()
    by_figure = Counter(claim for figure in figures.values() for claim in figure.claims)
    if twice := [claim for claim, count in by_figure.items() if count > 1]:
        raise ValueError(f"claims of two figures: {', '.join(twice)}")
    entries = {claim.id: _entry(verdict, CLOSED_FORM_TEST, "") for claim, verdict in closed_form_verdicts()}
    for figure in figures.values():
        frame = figure.data(results=results)
        entries |= {verdict.id: _entry(verdict, figure.name, table_id(frame)) for verdict in figure.verdicts(frame)}
    return entries


def _entry(found: Verdict, decided_by: str, result_id: str) -> LedgerEntry:
    return LedgerEntry(decided_by, found.quantity, found.value, found.interval, found.verdict, found.reason, result_id)


def _cell(value: str | tuple[float, ...]) -> str:
    return value if isinstance(value, str) else " ".join(f"{number:.10g}" for number in value)


def keep_experiments(results: Path, kept: Path) -> list[Campaign]:
    """Add the runs in `results` of each experiment that `kept` has not to it; return the campaigns of all experiments.

    A run that several experiments have is kept once, with what the claims about any of them compare.
    """
    campaigns = [Campaign(experiment, results) for experiment in published_experiments().values()]
    for campaign in campaigns:
        if not campaign.frame.empty:
            sharing = [one.experiment for one in campaigns if one is not campaign and one.ids & campaign.ids]
            campaign.keep(kept, sharing)
    return campaigns


def decided_by_experiments(campaigns: Sequence[Campaign]) -> dict[str, LedgerEntry]:
    """Return an entry for each claim of these campaigns that was looked at."""
    return {
        claim: _entry(campaign.verdict(claim), campaign.experiment.name, campaign.result_id)
        for campaign in campaigns
        for claim in campaign.experiment.statements
        if campaign.judged(claim, TEXT, sampled=False).seeds
    }


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def by_setting_csv(campaigns: Sequence[Campaign]) -> str:
    """Return ``by_setting.csv``: the verdict on each claim in each setting looked at, at the sampled places.

    Of settings in which a claim compares the same runs in the same way, the first has the row: those that change
    nothing for a claim have none.
    """
    rows = (
        (claim, setting, word, seeds)
        for campaign in campaigns
        for claim in campaign.experiment.statements
        for setting, word in campaign.words(claim).items()
        if (seeds := campaign.judged(claim, setting, sampled=True).seeds)
    )
    return _csv(("id", "setting", "verdict", "seeds"), rows)


def skewness_csv(campaigns: Sequence[Campaign]) -> str:
    """Return ``skewness.csv``: between which values the skewness of the samples lies that each claim is judged by."""
    found = (
        (claim, tuple(campaign.judged(claim, TEXT, sampled=False).decision.skewness.values()))
        for campaign in campaigns
        for claim in campaign.experiment.statements
    )
    return _csv(("id", "least", "most"), ((claim, f"{min(s):.3g}", f"{max(s):.3g}") for claim, s in found if s))


def costs_csv(campaigns: Sequence[Campaign]) -> str:
    """Return ``costs.csv`` by the runs of these campaigns, in whole seconds."""
    rows = (
        [round(cell) if isinstance(cell, float) and isfinite(cell) else cell for cell in astuple(one)]
        for one in costs(campaigns)
    )
    return _csv([field.name for field in fields(Cost)], rows)


def verdicts_csv(entries: Mapping[str, LedgerEntry]) -> str:
    """Return ``verdicts.csv`` with these entries, in the order of ``claims.csv``."""
    rows = ([name, *map(_cell, astuple(entries[name]))] for name in read_claims() if name in entries)
    return _csv(["id", *LEDGER_COLUMNS], rows)


def update(data: Path, results: Path) -> None:
    """Compute everything that decides a claim, and write the results and the verdicts.

    Parameters
    ----------
    data : pathlib.Path
        The folder ``data`` of a checkout.
    results : pathlib.Path
        Where simulations are kept; those already there are not run again.
    """
    kept = data / "results"
    kept.mkdir(exist_ok=True)
    run_figures(results, kept)
    campaigns = keep_experiments(results, kept)
    files = {
        "verdicts.csv": verdicts_csv(decided(results) | decided_by_experiments(campaigns)),
        "by_setting.csv": by_setting_csv(campaigns),
        "skewness.csv": skewness_csv(campaigns),
        "costs.csv": costs_csv(campaigns),
    }
    for name, text in files.items():
        with atomic_writer(data / "papers" / name) as file:
            file.write(text.encode())


def with_totals(readme: str, printed: str) -> str:
    r"""Return the text of a README whose block of ``capsmodel claims --totals`` shows what the command printed.

    Examples
    --------
    >>> print(with_totals("```\n$ capsmodel claims --totals\nold\n```", "Title\ncaps 3\n"))
    ```
    $ capsmodel claims --totals
    caps 3
    ```
    """
    table = printed.partition("\n")[2]  # without the title
    return re.sub(r"(?ms)(^\$ capsmodel claims --totals\n).*?(?=^```)", lambda found: found[1] + table, readme)


def update_readme(readme: Path) -> None:
    """Write the totals of the ledger into the README, as a new process prints them from the files just written."""
    command = [sys.executable, "-m", "capsmodel", "claims", "--totals"]
    environment = os.environ | {"COLUMNS": str(README_COLUMNS)}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    with atomic_writer(readme) as file:
        file.write(with_totals(readme.read_text(encoding="utf-8"), printed).encode())


if __name__ == "__main__":
    update(Path(sys.argv[1]), Path(sys.argv[2]))
    update_readme(Path(sys.argv[1]).parent / "README.md")
