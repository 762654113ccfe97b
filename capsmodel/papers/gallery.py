"""The gallery: what each paper shows and claims beside what we have, in the order in which it is read.

Nothing is simulated. Figures are drawn in full from closed forms; studies from the ledger, their claims beside the
printed values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from capsmodel.papers import ClaimRow, claims
from capsmodel.papers.beside_printed import beside_printed
from capsmodel.papers.claim_list import title_and_notes
from capsmodel.papers.figures import PublishedFigure, published_figures
from capsmodel.papers.figures._beside_printed import DrawnClaim, draw_beside_printed
from capsmodel.papers.studies import simulated_studies

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = [
    "HOW_IT_IS_MADE",
    "HOW_TO_READ",
    "Picture",
    "drawn_claim",
    "other_claims",
    "pictures",
]

HOW_IT_IS_MADE = (
    "The figures of the papers that the package computes, their studies, and the numbers that follow from their "
    "own formulas. Nothing is simulated for these drawings: figures are computed in full from closed forms, "
    "studies are drawn from the recorded verdicts. The command below each drawing computes it anew, but for claims "
    "that no run can decide: formulas take seconds, studies minutes to hours."
)
HOW_TO_READ = (
    "In a figure, black is what the paper prints. In the drawing of a study, a cross is a printed number and a "
    "grey bar a printed range, or the side on which the value must lie; a point with a thin line is our value with its "
    "interval, two points with a thick line are the ends of our range over its points. Colours are verdicts."
)


@dataclass(frozen=True)
class Picture:
    """A drawing of the gallery.

    Attributes
    ----------
    name, title : str
        Name of the figure or study, and what it shows, one line.
    choices : str
        What the paper leaves out and what was chosen instead, as its docstring says; empty where nothing was.
    command : str
        What computes it again.
    claims : tuple of ClaimRow
        The claims in it.
    draw : callable
        Returns the figure.
    numbers : callable, optional
        Returns the table that is drawn, of a figure of formulas.
    """

    name: str
    title: str
    choices: str
    command: str
    claims: tuple[ClaimRow, ...]
    draw: Callable[[], "Figure"]
    numbers: Callable[[], "DataFrame"] | None = None


def pictures(paper: str) -> list[Picture]:
    """Return the figures of a paper, its studies, and what closed forms or no run can decide.

    Examples
    --------
    >>> [one.name for one in pictures("dc2mtcp")][:2]
    ['dc2mtcp-tuning', 'dc2mtcp-random-fct']
    """
    rows = {row.claim.id: row for row in claims(paper)}
    figures = [_of_figure(one, rows) for one in published_figures().values() if one.name.startswith(f"{paper}-")]
    studies = [_of_study(name, rows) for name in simulated_studies() if name.startswith(f"{paper}-")]
    return [*figures, *studies, *_of_numbers(paper, [*figures, *studies])]


def other_claims(paper: str) -> list[ClaimRow]:
    """Return the claims of a paper that are in none of its pictures: those that nothing decides yet."""
    shown = {row.claim.id for one in pictures(paper) for row in one.claims}
    return [row for row in claims(paper) if row.claim.id not in shown]


def _of_figure(figure: PublishedFigure, rows: Mapping[str, ClaimRow]) -> Picture:
    def draw() -> "Figure":
        return figure.draw(figure.compute())

    shown, again = tuple(rows[name] for name in figure.claims), f"capsmodel gallery {figure.name}"
    return Picture(figure.name, figure.title, figure.choices, again, shown, draw, figure.compute)


def _of_study(study: str, rows: Mapping[str, ClaimRow]) -> Picture:
    shown = tuple(row for row in rows.values() if row.claim.study == study)
    return _of_ledger(study, *title_and_notes(study), f"capsmodel study {study}", shown)


def _of_numbers(paper: str, others: list[Picture]) -> list[Picture]:
    """Return the picture of the claims that no run decides and that are in no other picture, if there are any."""
    drawn = {row.claim.id for one in others for row in one.claims}
    shown = tuple(row for row in claims(paper) if row.entry.was_run and row.claim.id not in drawn)
    title = "What the paper's own formulas, settings and tables decide, and what no run can."
    command = f"capsmodel equations --numbers --paper {paper}"
    return [_of_ledger(f"{paper}-numbers", title, "", command, shown)] if shown else []


def _of_ledger(name: str, title: str, choices: str, command: str, shown: tuple[ClaimRow, ...]) -> Picture:
    """Return a picture of claims beside the printed values, drawn from the ledger alone."""

    def draw() -> "Figure":
        return draw_beside_printed(title.rstrip("."), [drawn_claim(row) for row in shown])

    return Picture(name, title, choices, command, shown, draw)


def drawn_claim(row: ClaimRow) -> DrawnClaim:
    """Return a claim as a row of a drawing."""
    return DrawnClaim(row.claim.id, beside_printed(row.claim, row.entry), row.entry.verdict)
