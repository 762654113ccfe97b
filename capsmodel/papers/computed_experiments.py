"""Experiments of the papers that no campaign runs: figures, closed forms and data decide their claims.

Data are measured times of the codec, and what the papers print in several places. All other experiments are simulated
(:mod:`capsmodel.papers.experiments`). Which figures belong to one follows from its claims.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from capsmodel.papers.closed_forms import closed_form_verdict
from capsmodel.papers.experiments import published_experiments
from capsmodel.papers.figures import PublishedFigure, published_figures
from capsmodel.papers.index import Claim, LedgerEntry, experiment_name, experiment_sections, read_claims, read_ledger
from capsmodel.papers.verdicts import Verdict, registered_claims

__all__ = ["ComputedExperiment", "computed_experiments"]


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
