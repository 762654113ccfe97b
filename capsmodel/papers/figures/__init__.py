"""The papers' figures of formulas, one file each: the data as a table, the drawing, and the claims about it.

A module of this folder whose name has no leading underscore is a figure, ``caps_fig9a.py`` is ``caps-fig9a``. Its
docstring is the figure in one line, then what the paper leaves out (*Not stated*) and what was chosen instead
(*Chosen*); its ``FIGURE`` is the :class:`PublishedFigure`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING

from capsmodel.checks import ParameterError
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.closed_forms import closed_form_verdict
from capsmodel.papers.index import LedgerEntry

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["PublishedFigure", "figure_names", "published_figure", "published_figures"]


@dataclass(frozen=True)
class PublishedFigure:
    """A figure of a paper that formulas give, ready to be computed and drawn.

    Attributes
    ----------
    module, about : str
        Name and docstring of the figure's module.
    compute : callable
        ``compute()`` returns the table in long form, its columns named with their units.
    draw : callable
        ``draw(frame)`` returns the matplotlib figure, with the paper's printed points and bounds in black.
    claims : tuple of str
        Ids of the claims that the figure shows; their formulas decide them.
    """

    module: str
    about: str | None
    compute: Callable[..., "DataFrame"]
    draw: Callable[["DataFrame"], "Figure"]
    claims: tuple[str, ...]

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

    def verdicts(self) -> Mapping[str, LedgerEntry]:
        """Return the verdict on each claim by its id; formulas are what they are, whatever is drawn."""
        return {name: closed_form_verdict(read_claims()[name]) for name in self.claims}


def _in_order(name: str) -> list[str | int]:
    """Return the sort key: numbers by value, so that Fig. 10 follows Fig. 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def figure_names() -> list[str]:
    """Return the names of all figures, found by walking this folder; none is imported.

    Examples
    --------
    >>> figure_names()[:2]
    ['caps-fig6a', 'caps-fig6b']
    """
    names = (module.name for module in iter_modules(__path__) if not module.name.startswith("_"))
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
    figure: PublishedFigure = import_module(f"{__name__}.{name.replace('-', '_')}").FIGURE
    return figure
