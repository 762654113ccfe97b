"""The papers' figures, one file each: the data as a table, the drawing, and what the paper says about it beside.

A module of this folder whose name has no leading underscore is a figure, ``caps_fig9a.py`` is ``caps-fig9a``. It has

- a docstring: the figure in one line, then what the paper leaves out (*Not stated*) and what was taken (*Chosen*);
- ``CLAIMS``, the ids of the rows of ``claims.csv`` that the figure decides;
- ``data(*, quick)``, a DataFrame in long form whose columns name their units;
- ``draw(frame)``, the figure, with the paper's printed points and bounds in black.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING

from capsmodel._checks import ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["PublishedFigure", "published_figure", "published_figures"]


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """A figure of a paper, ready to be computed and drawn.

    Attributes
    ----------
    name : str
        Paper key and number, ``"caps-fig9a"``.
    title : str
        What it shows, one line.
    choices : str
        What the paper leaves out and what was taken instead.
    claims : tuple of str
        Rows of ``claims.csv`` that it decides.
    data : callable
        ``data(quick=False)`` returns the table; `quick` takes a coarser grid.
    draw : callable
        ``draw(frame)`` returns the matplotlib figure.
    """

    name: str
    title: str
    choices: str
    claims: tuple[str, ...]
    data: Callable[..., "DataFrame"]
    draw: Callable[["DataFrame"], "Figure"]


def _in_order(name: str) -> list[str | int]:
    """Sort key: numbers by value, so that Fig. 10 follows Fig. 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _load(module_name: str) -> PublishedFigure:
    module = import_module(f"{__name__}.{module_name}")
    title, _, choices = (module.__doc__ or "").strip().partition("\n")
    return PublishedFigure(
        name=module_name.replace("_", "-"), title=title, choices=choices.strip(),
        claims=module.CLAIMS, data=module.data, draw=module.draw,
    )  # fmt: skip


@cache
def published_figures() -> Mapping[str, PublishedFigure]:
    """Return every figure by its name, found by walking this folder.

    Examples
    --------
    >>> published_figures()["caps-fig9a"].claims
    ('caps-f9a-r',)
    """
    names = (found.name for found in iter_modules(__path__) if not found.name.startswith("_"))
    figures = (_load(name) for name in sorted(names, key=_in_order))
    return MappingProxyType({figure.name: figure for figure in figures})


def published_figure(name: str) -> PublishedFigure:
    """Return one figure by its name.

    Raises
    ------
    ParameterError
        If there is none of that name.
    """
    known = published_figures()
    if name not in known:
        raise ParameterError(f"no figure {name!r}: choose from {', '.join(known)}")
    return known[name]
