"""The papers' figures, one file each: the data as a table, the drawing, and the paper's claims about it.

A module of this folder whose name has no leading underscore is a figure, ``caps_fig9a.py`` is ``caps-fig9a``. Its
docstring is the figure in one line, then what the paper leaves out (*Not stated*) and what was chosen instead
(*Chosen*); its ``FIGURE`` is the :class:`PublishedFigure`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING

from capsmodel.checks import ParameterError, require
from capsmodel.experiments.sweep import Progress, Task, gather
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.closed_forms import closed_form_verdict, formula_of
from capsmodel.papers.verdicts import Verdict, checked

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from capsmodel.papers.claim_list import PublishedClaim

__all__ = ["PublishedFigure", "figure_names", "published_figure", "published_figures"]


def _no_tasks(*, quick: bool = False) -> Sequence[Task]:
    return []


@dataclass(frozen=True)
class PublishedFigure:
    """A figure of a paper, ready to be computed and drawn.

    If it is computed from a formula, it is ``PublishedFigure(__name__, __doc__, compute=compute, draw=draw,
    claims=CLAIMS)``, if it is simulated, ``PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)``.

    Attributes
    ----------
    module, about : str
        Name and docstring of the figure's module.
    draw : callable
        ``draw(frame)`` returns the matplotlib figure, with the paper's printed points and bounds in black.
    compute : callable, optional
        ``compute(quick=False)`` returns the table of a formula in long form, its columns named with their units;
        `quick` takes a coarser grid.
    claims : tuple of str
        Ids of the claims that the figure decides; of a simulated one those whose formula is a function of its module.
    tasks : callable
        ``tasks(quick=False)`` returns the simulations, tasks of a sweep; `quick` takes fewer.
    table : callable, optional
        ``table(rows)`` returns the table from the rows of all tasks.
    """

    module: str
    about: str | None
    draw: Callable[["DataFrame"], "Figure"]
    compute: Callable[..., "DataFrame"] | None = None
    claims: tuple[str, ...] = ()
    tasks: Callable[..., Sequence[Task]] = _no_tasks
    table: Callable[["DataFrame"], "DataFrame"] | None = None

    def __post_init__(self) -> None:
        rule = f"{self.module}: give compute and claims, or tasks and table"
        require((self.compute is None) != (self.table is None), rule)
        object.__setattr__(self, "claims", self.claims or tuple(self.judges))

    @cached_property
    def judges(self) -> Mapping[str, Callable[["PublishedClaim", "DataFrame"], Verdict]]:
        """Return for each claim that the tasks decide what gives the verdict: ``judge(claim, frame)``."""
        own = (claim for claim in read_claims().values() if claim.formula.partition(":")[0] == self.module)
        return MappingProxyType({claim.id: formula_of(claim) for claim in own})

    @property
    def name(self) -> str:
        """Return paper key and number, such as ``"caps-fig9a"``."""
        return self.module.rpartition(".")[2].replace("_", "-")

    @property
    def title(self) -> str:
        """Return what it shows, one line."""
        return (self.about or "").strip().partition("\n")[0]

    @property
    def choices(self) -> str:
        """Return what the paper leaves out and what was chosen instead."""
        return (self.about or "").strip().partition("\n")[2].strip()

    def data(self, *, quick: bool = False, results: Path | None = None) -> "DataFrame":
        """Return the table that is drawn and judged.

        Parameters
        ----------
        quick : bool
            Take a coarser grid, or fewer simulations.
        results : path, optional
            Folder where simulations are kept; those already there are not run again.
        """
        if self.table is None:
            assert self.compute is not None
            return self.compute(quick=quick)
        return self.table(gather(self.tasks(quick=quick), results, progress=Progress(label=self.name)))

    def verdicts(self, frame: "DataFrame", *, quick: bool = False) -> list[Verdict]:
        """Return the verdict on each claim that `frame`, or a formula, decides.

        Parameters
        ----------
        frame : DataFrame
            What :meth:`data` returned.
        quick : bool
            Whether it was asked for `quick`: simulations as few as these judge no claim, formulas are what they are.

        Notes
        -----
        A claim that fails by the simulations is open unless it fails by what ``checks.toml`` names too.
        """
        if quick and self.judges:
            return []
        known = read_claims()
        return [
            checked(self.judges[name](known[name], frame)) if name in self.judges else closed_form_verdict(known[name])
            for name in self.claims
        ]

    def drawn(self, frame: "DataFrame", *, quick: bool = False) -> "Figure":
        """Return the drawing with the verdicts on its claims, all of this very table; arguments as :meth:`verdicts`."""
        from capsmodel.papers.figures import _drawing as drawing

        figure = self.draw(frame)
        words = dict.fromkeys(self.claims, "not judged, for this is a quick run")
        words |= {verdict.id: verdict.verdict for verdict in self.verdicts(frame, quick=quick)}
        drawing.note_claims(figure, words)
        return figure


def _in_order(name: str) -> list[str | int]:
    """Return the sort key: numbers by value, so that Fig. 10 follows Fig. 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def figure_names() -> list[str]:
    """Return the names of all figures, found by walking this folder; none is imported.

    Examples
    --------
    >>> figure_names()[:2]
    ['caps-fig1', 'caps-fig2']
    """
    names = (found.name for found in iter_modules(__path__) if not found.name.startswith("_"))
    return [name.replace("_", "-") for name in sorted(names, key=_in_order)]


@cache
def published_figures() -> Mapping[str, PublishedFigure]:
    """Return every figure by its name.

    Examples
    --------
    >>> published_figures()["caps-fig9a"].claims
    ('caps-f9a-r',)
    """
    return MappingProxyType({name: published_figure(name) for name in figure_names()})


def published_figure(name: str) -> PublishedFigure:
    """Return one figure by its name.

    Raises
    ------
    ParameterError
        If there is none of that name.
    """
    known = figure_names()
    if name not in known:
        raise ParameterError(f"no figure {name!r}: choose from {', '.join(known)}")
    found: PublishedFigure = import_module(f"{__name__}.{name.replace('-', '_')}").FIGURE
    return found
