"""The gallery: what each paper shows and claims beside what we have, in the order in which it is read.

Nothing is simulated. Figures are drawn in full, from closed forms and from the runs that are kept in ``data/results``;
experiments from the ledger, their claims beside the printed values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from capsmodel.checks import require
from capsmodel.datafiles import data_path
from capsmodel.experiments.results import finished_tasks
from capsmodel.papers import ClaimRow, claims
from capsmodel.papers._docstrings import title_and_choices
from capsmodel.papers.beside_printed import beside_printed
from capsmodel.papers.experiments import PublishedExperiment, published_experiments
from capsmodel.papers.figures import PublishedFigure, published_figures
from capsmodel.papers.figures._beside_printed import DrawnClaim, draw_beside_printed
from capsmodel.papers.figures._by_setting import draw_by_setting
from capsmodel.papers.index import read_by_setting
from capsmodel.papers.statements import Statement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "HOW_IT_IS_MADE",
    "HOW_TO_READ",
    "Picture",
    "by_setting",
    "drawn_claim",
    "other_claims",
    "pictures",
]

HOW_IT_IS_MADE = (
    "The figures of the papers that the package computes, their experiments, and the numbers that follow from their "
    "own formulas. Nothing is simulated for these drawings: figures are computed in full from closed forms and from "
    "the kept runs, experiments are drawn from the recorded verdicts. The command below each drawing computes it anew, "
    "but for claims that no run can decide: formulas take seconds, simulated figures minutes, experiments minutes to "
    "hours."
)
HOW_TO_READ = (
    "In a figure, black is what the paper prints. In the drawing of an experiment, a cross is a printed number and a "
    "grey bar a printed range, or the side on which the value must lie; a point with a thin line is our value with its "
    "interval, two points with a thick line are the ends of our range over the points of the sweep. Colours are "
    "verdicts. In claims by settings, a row is a claim and a column a setting of what the paper leaves out: the dots "
    "above the columns say in what it differs from the text, and the colours are verdicts at the sampled places of the "
    "sweep."
)


@dataclass(frozen=True)
class Picture:
    """A drawing of the gallery.

    Attributes
    ----------
    name, title : str
        Name of the figure or experiment, and what it shows, one line.
    choices : str
        What the paper leaves out and what was chosen instead, as its docstring says; empty where nothing was.
    command : str
        What computes it again.
    claims : tuple of ClaimRow
        The claims in it.
    draw : callable
        Returns the figure.
    """

    name: str
    title: str
    choices: str
    command: str
    claims: tuple[ClaimRow, ...]
    draw: Callable[[], "Figure"]


def pictures(paper: str) -> list[Picture]:
    """Return the figures of a paper, its experiments, and what closed forms or no run can decide.

    Examples
    --------
    >>> [one.name for one in pictures("dc2mtcp")][:2]
    ['dc2mtcp-pda', 'dc2mtcp-tuning']
    """
    rows = {row.claim.id: row for row in claims(paper)}
    figures = [_of_figure(one, rows) for one in published_figures().values() if one.name.startswith(f"{paper}-")]
    experiments = [
        _of_experiment(one, rows) for one in published_experiments().values() if one.statements.keys() <= rows.keys()
    ]
    return [*figures, *experiments, *_of_numbers(paper, [*figures, *experiments])]


def other_claims(paper: str) -> list[ClaimRow]:
    """Return the claims of a paper that are in none of its pictures: those of experiments that are not simulated."""
    shown = {row.claim.id for one in pictures(paper) for row in one.claims}
    return [row for row in claims(paper) if row.claim.id not in shown]


def by_setting(paper: str) -> Picture | None:
    """Return the claims of a paper by settings, drawn; None where no claim was run in several settings."""
    known = read_by_setting()
    rows = tuple(row for row in claims(paper) if row.claim.id in known)
    words = {row.claim.id: known[row.claim.id] for row in rows}
    command = f"capsmodel claims --hangs-on --paper {paper} --plot settings.png"
    title = "Claims by settings that the paper leaves out."
    picture = Picture(f"{paper}-settings", title, "", command, rows, lambda: draw_by_setting(paper, words))
    return picture if rows else None


def _of_figure(figure: PublishedFigure, rows: Mapping[str, ClaimRow]) -> Picture:
    def draw() -> "Figure":
        kept = data_path("results")
        missing = {task.id for task in figure.tasks()} - finished_tasks(kept).keys()
        require(
            not missing, f"{figure.name}: {len(missing)} runs are not kept, and the gallery simulates none: {again}"
        )
        return figure.draw(figure.data(results=kept))

    shown, again = tuple(rows[name] for name in figure.claims), f"capsmodel reproduce {figure.name}"
    return Picture(figure.name, figure.title, figure.choices, again, shown, draw)


def _of_experiment(experiment: PublishedExperiment, rows: Mapping[str, ClaimRow]) -> Picture:
    shown = tuple(rows[name] for name in experiment.statements)
    _, choices = title_and_choices(experiment.about)
    command = f"capsmodel reproduce {experiment.name}"
    return _of_ledger(experiment.name, experiment.title, choices, command, shown, experiment.statements)


def _of_numbers(paper: str, others: list[Picture]) -> list[Picture]:
    """Return the picture of the claims that no run decides and that are in no other picture, if there are any."""
    drawn = {row.claim.id for one in others for row in one.claims}
    shown = tuple(row for row in claims(paper) if row.entry.was_run and row.claim.id not in drawn)
    title = "What the paper's own formulas, settings and tables decide, and what no run can."
    command = f"capsmodel equations --numbers --paper {paper}"
    return [_of_ledger(f"{paper}-numbers", title, "", command, shown, {})] if shown else []


def _of_ledger(
    name: str,
    title: str,
    choices: str,
    command: str,
    shown: tuple[ClaimRow, ...],
    statements: Mapping[str, Statement],
) -> Picture:
    """Return a picture of claims beside the printed values, drawn from the ledger alone."""

    def draw() -> "Figure":
        return draw_beside_printed(title.rstrip("."), [drawn_claim(row, statements.get(row.claim.id)) for row in shown])

    return Picture(name, title, choices, command, shown, draw)


def drawn_claim(row: ClaimRow, statement: Statement | None = None) -> DrawnClaim:
    """Return a claim as a row of a drawing; `statement` is what an experiment compares for it."""
    return DrawnClaim(row.claim.id, beside_printed(row.claim, row.entry, statement), row.entry.verdict)
