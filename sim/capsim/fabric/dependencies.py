"""Flows that begin when others are complete: the cells of a list, checked and as pairs of rows.

A cell has the rows of the same list, counted from 0, for which the flow of its own row waits, separated by spaces; a
flow without any begins by itself. Rows may stand in any order, but no flow may wait for itself through others.
"""

from collections.abc import Callable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Literal

import numpy as np

from capsim.base.bounds import shortened
from capsim.fabric.flows import NO_PAIRS
from capsim.fabric.topology import Int64
from capsmodel.checks import ParameterError

AfterAt = Literal["receiver", "sender"]
"""Where flows that another one waits for are complete."""
AFTER = "after"
_DIGITS = 9  # of a row: no list has more flows
_SHOWN = 4  # rows of a cycle that its error names


def pairs_of(cells: Sequence[str], place: Callable[[int], str]) -> Int64:
    """Return pairs of a flow and one that it waits for, by rows; each pair once.

    Parameters
    ----------
    cells : sequence of str
        Over the rows of a list.
    place : callable
        Names a row, at the beginning of an error.

    Raises
    ------
    ParameterError
        If a row does not exist, or a flow waits for itself.

    Examples
    --------
    >>> pairs_of(["", "0", "0 1"], "row {}".format).tolist()
    [[1, 0], [2, 0], [2, 1]]
    """
    pairs = [(row, _row(word, len(cells), place(row))) for row, cell in enumerate(cells) for word in cell.split()]
    if not pairs:
        return NO_PAIRS
    unique = np.unique(np.array(pairs, np.int64), axis=0)
    _check_order(unique, place)
    return unique


def _row(word: str, n_rows: int, place: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= _DIGITS and int(word) < n_rows):
        rule = f"it must have rows of the list from 0 to {n_rows - 1}, separated by spaces"
        raise ParameterError(f"{place}: {AFTER} has {shortened(word)}, but {rule}")
    return int(word)


def _check_order(pairs: Int64, place: Callable[[int], str]) -> None:
    """Refuse flows that wait for each other."""
    order = TopologicalSorter[int]()
    for row, other in pairs.tolist():
        order.add(row, other)
    try:
        order.prepare()
    except CycleError as error:
        cycle = error.args[1][:0:-1]  # each waits for the next one, the last for the first
        start = cycle.index(min(cycle))
        raise ParameterError(_cycle_text(cycle[start:] + cycle[:start], place)) from None


def _cycle_text(cycle: Sequence[int], place: Callable[[int], str]) -> str:
    rows = ", ".join(map(str, cycle[:_SHOWN])) + (f", ... ({len(cycle)} rows)" if len(cycle) > _SHOWN else "")
    through = "itself" if len(cycle) == 1 else f"itself through rows {rows}"
    return f"{place(cycle[0])}: {AFTER} lets the flow wait for {through}: leave one of them out"
