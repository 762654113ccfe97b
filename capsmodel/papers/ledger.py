"""The cost of an experiment: processor time of the runs that are there, and about that of its first looks.

A claim that its first look decides needs no more; those that it leaves open double their seeds at each further one.
"""

import csv
import io
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from math import isfinite
from pathlib import Path
from types import MappingProxyType

import numpy as np

from capsmodel._files import atomic_writer
from capsmodel.experiments.manifest import table_id
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.statistics.sequential import FIRST_LOOK_SEEDS
from capsmodel.experiments.sweep import Progress, Task, merge, run_sweep
from capsmodel.papers.campaign import Campaign
from capsmodel.papers.closed_forms import closed_form_verdict, closed_form_verdicts
from capsmodel.papers.experiments import published_experiments
from capsmodel.papers.figures import PublishedFigure, published_figures
from capsmodel.papers.index import (
    LEDGER_COLUMNS,
    Claim,
    Cost,
    LedgerEntry,
    experiment_name,
    experiment_sections,
    read_claims,
    read_ledger,
)
from capsmodel.papers.runs import Group
from capsmodel.papers.statements import Term
from capsmodel.papers.verdicts import Verdict, registered_claims

__all__ = ["ComputedExperiment", "computed_experiments", "cost", "costs"]


def costs(campaigns: Sequence[Campaign]) -> list[Cost]:
    """Return the cost of each campaign; runs that several share are those of the first."""
    counted: set[str] = set()
    found = []
    for campaign in campaigns:
        found.append(cost(campaign, counted))
        counted |= campaign.ids | {task.id for *_, task in _first_looks(campaign)}
    return found


def cost(campaign: Campaign, counted: Container[str] = ()) -> Cost:
    """Return what a campaign costs, but for runs whose ids are counted already.

    A missing run is taken to cost what those of its scheme and place did at the same scale, in other settings and with
    other seeds; where there is none, what those of its place did, or all of its scale.
    """
    there = {task.id: campaign.cpu_s[task.id] for *_, task in campaign.there}
    known = _mean_costs_s(campaign)
    missing = {
        task.id: next((known[kind] for kind in _kinds(group, term) if kind in known), np.nan)
        for group, term, task in _first_looks(campaign)
        if task.id not in campaign.cpu_s
    }
    shared = {one for one in there | missing if one in counted}
    made_s, missing_s = ([cpu_s for one, cpu_s in some.items() if one not in shared] for some in (there, missing))
    counts = len(made_s), float(sum(made_s)), len(missing_s), float(sum(missing_s))
    return Cost(campaign.experiment.name, *counts, len(shared))


def _first_looks(campaign: Campaign) -> Iterator[tuple[Group, Term, Task]]:
    """Yield the runs of the first look at each claim: in the setting of the text, and at the sampled places in all."""
    experiment = campaign.experiment
    for claim in experiment.statements:
        looks = [(TEXT, False), *((setting, True) for setting in campaign.settings_of[claim])]
        for setting, sampled in looks:
            group = Group(setting, experiment.scale(sampled=sampled))
            for term in experiment.statement(claim, setting, sampled=sampled).simulated.terms:
                for seed in range(1, FIRST_LOOK_SEEDS + 1):
                    yield group, term, campaign.tasks[group][term, seed]


def _mean_costs_s(campaign: Campaign) -> Mapping[tuple[str, ...], float]:
    found: dict[tuple[str, ...], list[float]] = {}
    for group, term, task in campaign.there:
        for kind in _kinds(group, term):
            found.setdefault(kind, []).append(campaign.cpu_s[task.id])
    return {kind: float(np.mean(times_s)) for kind, times_s in found.items()}


def _kinds(group: Group, term: Term) -> list[tuple[str, ...]]:
    """Return the kinds of runs that one belongs to, the narrowest first."""
    scheme, place = term
    return [(group.scale, place, scheme), (group.scale, place), (group.scale,)]


@dataclass(frozen=True)
class ComputedExperiment:
    """An experiment without runs of its own.

    Attributes
    ----------
    id : str
        Its row in ``experiments.csv``.
    where : str
        Figures and sections of the paper.
    figures : tuple of PublishedFigure
        Those that decide one of its claims or more.
    claims_without_figure : tuple of Claim
        Its claims that no figure decides.
    """

    id: str
    where: str
    figures: tuple[PublishedFigure, ...]
    claims_without_figure: tuple[Claim, ...]

    @property
    def name(self) -> str:
        """Return its name in the command: the id without the number, ``"caps-overhead"``."""
        return experiment_name(self.id)

    @property
    def title(self) -> str:
        """Return where it stands in the paper and what decides its claims, one line."""
        by = [figure.name for figure in self.figures] + ["closed forms and data"] * bool(self.claims_without_figure)
        return f"{self.where}: by {', '.join(by)}" if by else f"{self.where}: the paper claims nothing about it"

    def verdicts(self) -> tuple[tuple[Claim, Verdict | LedgerEntry], ...]:
        """Return what is known of the claims that no figure decides, computed if anything here computes it."""
        computed, recorded = registered_claims(), read_ledger()
        return tuple(
            (claim, closed_form_verdict(claim) if claim.id in computed else recorded[claim.id])
            for claim in self.claims_without_figure
        )


@cache
def computed_experiments() -> Mapping[str, ComputedExperiment]:
    """Return every experiment that is not simulated, by its name.

    Examples
    --------
    >>> [figure.name for figure in computed_experiments()["caps-overhead"].figures]
    ['caps-fig10a', 'caps-fig10b']
    """
    simulated = {one.id for one in published_experiments().values()}
    found = [_computed(name, where) for name, where in experiment_sections().items() if name not in simulated]
    return MappingProxyType({one.name: one for one in found})


def _computed(name: str, where: str) -> ComputedExperiment:
    claims = {claim.id: claim for claim in read_claims().values() if claim.experiment_id == name}
    figures = tuple(figure for figure in published_figures().values() if not claims.keys().isdisjoint(figure.claims))
    drawn = {claim for figure in figures for claim in figure.claims}
    return ComputedExperiment(name, where, figures, tuple(claim for claim in claims.values() if claim.id not in drawn))


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
