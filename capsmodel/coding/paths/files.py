"""Losses of paths from a table of one's own: a row a path, or for several equal ones.

:mod:`capsmodel.text_tables` says what may separate the cells::

    loss,burst_packets,delay_us,jitter_us,count
    0.001,1.5,20,20,8
    0.02,3,40,60,3
    0.1,3,60,150,1

===================================  ============================================================================
Head                                 Column below it
===================================  ============================================================================
``loss``                             probability that a packet is lost, in [0, 1]
``count``                            so many paths are like this row; 1
``weight``                           how often the path is taken; 1
``burst_packets``                    mean loss burst, in packets of the path
``burst_us``, ``burst_ms``, ...      the same as a time; in place of it
``down``                             probability that the path loses all packets of a unit; 0
``delay_us``, ``delay_ms``, ...      least delay of the path; 0
``jitter_us``, ``jitter_ms``, ...    mean of an exponential delay that comes on top; 0
``path``                             a name, not read
===================================  ============================================================================
"""

from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from capsmodel.checks import non_negative, positive, probability, require
from capsmodel.checks import whole as whole_number
from capsmodel.coding.paths.delays import PathDelay
from capsmodel.coding.paths.losses import MOST_PATHS, PathLosses
from capsmodel.queueing.service import Exponential
from capsmodel.text_tables import TextTable, number, quantity, read_table, text, whole


def _run(name: str, value: float) -> None:
    require(1 <= value < inf, f"{name} = {value:g}, but no run is shorter than one packet, and none is endless")


_COLUMNS = (
    number("loss", partial(probability, one=True)),
    whole("count", partial(whole_number, minimum=1), needed=False),
    number("weight", positive, needed=False),
    number("burst_packets", _run, needed=False),
    quantity("burst_s", positive, needed=False),
    number("down", partial(probability, one=True), needed=False),
    quantity("delay_s", non_negative, needed=False),
    quantity("jitter_s", non_negative, needed=False),
    text("path", needed=False),
)


def read_paths(path: Path | str, **setting: Any) -> PathLosses:
    """Return the losses of the paths in a file.

    Parameters
    ----------
    path : Path or str
        The file; the heads are above.
    **setting
        What else :class:`capsmodel.PathLosses` takes, such as ``spread="in-turn"``; what a column holds may not be
        given.

    Returns
    -------
    PathLosses
        A path for each row, or as many as its ``count``.

    Raises
    ------
    ParameterError
        If the file cannot be read as such a table, or the paths do not go with the setting; the text names the file and
        the line, and each note of the error a further fault (:pep:`678`).
    OSError
        If the file cannot be read.
    """
    table = read_table(Path(path), _COLUMNS, most=MOST_PATHS)
    columns = _repeated(table)
    given = {
        "weight": _filled(columns["weight"], 1.0),
        "burst_packets": _runs(table, "burst_packets", columns),
        "burst_s": _runs(table, "burst_s", columns),
        "down_prob": _filled(columns["down"], 0.0),
        "delay": _delays(columns["delay_s"], columns["jitter_s"]),
    }
    return PathLosses(
        columns["loss"], **({name: value for name, value in given.items() if value is not None} | setting)
    )


def _repeated(table: TextTable) -> dict[str, list[Any]]:
    """Return the columns with each row as often as it counts."""
    counts = [count or 1 for count in table.columns["count"]]
    require(sum(counts) <= MOST_PATHS, f"{table.file} has {sum(counts)} paths, but at most {MOST_PATHS} are taken")
    return {
        name: [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]
        for name, cells in table.columns.items()
    }


def _filled(cells: list[Any], usual: float) -> list[float] | None:
    """Return the numbers of a column, `usual` in empty cells; None where it is not there."""
    return None if all(cell is None for cell in cells) else [usual if cell is None else cell for cell in cells]


def _runs(table: TextTable, name: str, columns: dict[str, list[Any]]) -> list[float] | None:
    """Return the loss bursts of all paths, of which none or all must be known."""
    if all(cell is None for cell in columns[name]):
        return None
    for row, cell in enumerate(table.columns[name]):
        require(
            cell is not None, f"{table.place(row)}: no {name}, but other rows have one: write 1/(1 - loss) for none"
        )
    return columns[name]


def _delays(least_s: list[Any], jitter_s: list[Any]) -> list[PathDelay] | None:
    if all(cell is None for cell in (*least_s, *jitter_s)):
        return None
    pairs = zip(least_s, jitter_s, strict=True)
    return [PathDelay(least or 0.0, Exponential(mean) if mean else None) for least, mean in pairs]
