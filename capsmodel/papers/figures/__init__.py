"""The papers' figures, one file each: the data as a table, the drawing, and what the paper says about it beside.

A module of this folder whose name has no leading underscore is a figure, ``caps_fig9a.py`` is ``caps-fig9a``. It has

- a docstring: the figure in one line, then what the paper leaves out (*Not stated*) and what was taken (*Chosen*);
- ``CLAIMS``, the ids of the rows of ``claims.csv`` that the figure decides;
- ``data(*, quick)``, a DataFrame in long form whose columns name their units;
- ``draw(frame)``, the figure, with the paper's printed points and bounds in black.

A figure from packets has, instead of ``CLAIMS`` and ``data(*, quick)``,

- ``tasks(*, quick)``, the list of simulations, tasks of a sweep (:mod:`capsmodel.experiments.sweep`);
- ``data(rows)``, the DataFrame made of all rows of these tasks;
- ``JUDGES``, for each claim that it decides a function ``(claim, frame) -> Verdict`` of the full frame.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from capsmodel.checks import ParameterError
from capsmodel.experiments.sweep import Task, gather
from capsmodel.papers.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from capsmodel.papers.index import Claim

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
    tasks : callable
        ``tasks(quick=False)`` returns its simulations; none for a closed form. `quick` takes fewer.
    data : callable
        ``data(quick=False, results=None)`` returns the table, from simulations kept in the folder `results`; `quick`
        takes a coarser grid.
    draw : callable
        ``draw(frame)`` returns the matplotlib figure.
    judges : mapping
        For each claim that packets decide, ``judges[claim.id](claim, frame)`` returns the verdict.
    """

    name: str
    title: str
    choices: str
    claims: tuple[str, ...]
    tasks: Callable[..., Sequence[Task]]
    data: Callable[..., "DataFrame"]
    draw: Callable[["DataFrame"], "Figure"]
    judges: Mapping[str, Callable[["Claim", "DataFrame"], Verdict]]


def _in_order(name: str) -> list[str | int]:
    """Sort key: numbers by value, so that Fig. 10 follows Fig. 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _load(module_name: str) -> PublishedFigure:
    module: Any = import_module(f"{__name__}.{module_name}")
    title, _, choices = (module.__doc__ or "").strip().partition("\n")
    packets = hasattr(module, "tasks")
    judges = module.JUDGES if packets else {}

    def tasks(*, quick: bool = False) -> Sequence[Task]:
        return module.tasks(quick=quick) if packets else []

    def data(*, quick: bool = False, results: Path | None = None) -> "DataFrame":
        rows = {"rows": gather(tasks(quick=quick), results, label=module_name)} if packets else {"quick": quick}
        frame: DataFrame = module.data(**rows)
        return frame

    return PublishedFigure(
        name=module_name.replace("_", "-"), title=title, choices=choices.strip(),
        claims=tuple(judges) if packets else module.CLAIMS, tasks=tasks, data=data, draw=module.draw, judges=judges,
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
