"""Flows that begin when others are complete: the cells of a list, checked and as pairs of rows.

A cell has the rows of the same list, counted from 0, for which the flow of its own row waits, separated by spaces; a
flow without any begins by itself. Rows may stand in any order, but no flow may wait for itself through others.
"""

from collections.abc import Callable, Sequence
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
    found = np.unique(np.array(pairs, np.int64), axis=0)
    _check_order(found, len(cells), place)
    return found


def _row(word: str, n_rows: int, place: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= _DIGITS and int(word) < n_rows):
        rule = f"it must have rows of the list from 0 to {n_rows - 1}, separated by spaces"
        raise ParameterError(f"{place}: {AFTER} has {shortened(word)}, but {rule}")
    return int(word)


def _check_order(pairs: Int64, n_rows: int, place: Callable[[int], str]) -> None:
    """Refuse flows that wait for each other: take away those that wait for none, until none is left."""
    waits = np.bincount(pairs[:, 0], minlength=n_rows)
    by_other = pairs[np.argsort(pairs[:, 1], kind="stable")]
    first = np.searchsorted(by_other[:, 1], np.arange(n_rows + 1))
    free = np.flatnonzero(waits == 0).tolist()
    while free:
        row = free.pop()
        for other in by_other[first[row] : first[row + 1], 0].tolist():
            waits[other] -= 1
            if waits[other] == 0:
                free.append(other)
    if waits.any():
        cycle = _cycle(pairs[(waits[pairs] > 0).all(axis=1)])
        rows = ", ".join(map(str, cycle[:_SHOWN])) + (f", ... ({len(cycle)} rows)" if len(cycle) > _SHOWN else "")
        through = "itself" if len(cycle) == 1 else f"itself through rows {rows}"
        raise ParameterError(f"{place(cycle[0])}: {AFTER} lets the flow wait for {through}: leave one of them out")


def _cycle(pairs: Int64) -> list[int]:
    """Return the rows of one cycle among `pairs`, the least first; each flow of them waits for another one."""
    waits_for = dict(pairs.tolist())
    row, seen = min(waits_for), dict[int, None]()
    while row not in seen:
        seen[row] = None
        row = waits_for[row]
    rows = list(seen)[list(seen).index(row) :]
    start = rows.index(min(rows))
    return rows[start:] + rows[:start]
