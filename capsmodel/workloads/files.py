"""Flow-size distributions from files of one's own.

A line for each point: a size and the distribution function F there (:mod:`capsmodel.text_tables` says what may
separate them). Sizes rise; between two points the mass is spread evenly (:mod:`capsmodel.workloads.sizes`). Without
heads sizes are in bytes, or have units of their own::

    size_bytes,cdf
    1000,0.1
    100KB,0.6
    10MB,1

=============================================== ===============================================================
Head                                            Column below it
=============================================== ===============================================================
``size_bytes``, ``size_kb``, ``size_mb``        sizes, in this unit where they have none of their own
``size_packets``                                sizes in packets of 1460 bytes, the payload that the generators of
                                                YAPS, PIAS and pFabric take for a packet
``cdf``                                         F as probabilities that end at 1, or in percent that end at 100
``cdf_percent``                                 F in percent
``cdf_steps``                                   as ``cdf``, and F is a step function: each size has what F rises by
                                                there, sizes between have nothing
``ignored``                                     anything
=============================================== ===============================================================

The generators named publish tables of three columns, such as ``6 1 0.15``: the size in packets, a number that they do
not read, and F. Such a file is read when its first line is ``size_packets ignored cdf``. The tables of Homa's
simulations have the mean in their first line and steps below it: they are read with ``size_bytes cdf_steps`` in place
of that line.
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from reprlib import repr as shortened
from typing import NamedTuple

import numpy as np

from capsmodel.checks import SUM_TOLERANCE, ParameterError, require
from capsmodel.text_tables import FileColumn, TextTable, read_table, text
from capsmodel.units import KB, MB, parse_size_bytes
from capsmodel.workloads.catalogue import FlowSizes

MOST_POINTS = 100_000
PACKET_BYTES = 1460
"""Payload of a packet of 1500 bytes with headers of IP and TCP without options."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MOST_SHOWN = 40  # characters of a number
_UNITS = {"bytes": 1, "kb": KB, "mb": MB, "packets": PACKET_BYTES}
_POINT = "write a size in bytes and F, as in 100000,0.6 or 100KB,60"
_ADVICE = f": {_POINT}; above three columns in packets write the line: size_packets ignored cdf"


class _Cell(NamedTuple):
    """A number as it stands in the file, and its value."""

    text: str
    value: float


def _size(cell: str, unit: str) -> _Cell:
    if not _NUMBER.fullmatch(cell):
        return _Cell(cell, float(parse_size_bytes(cell)))
    try:
        value = float(Decimal(cell) * _UNITS[unit])  # in decimal, because 1.001 * 1000 is not 1001
    except ArithmeticError:  # an exponent beyond those of Decimal
        value = math.inf
    return _not_negative(cell, value)


def _probability(cell: str, _: str) -> _Cell:
    remedy = "write the decimal point as a dot" if "," in cell else _POINT
    require(bool(_NUMBER.fullmatch(cell)), f"{shortened(cell)} is no number: {remedy}")
    return _not_negative(cell, float(cell))


def _not_negative(cell: str, value: float) -> _Cell:
    require(0 <= value < math.inf, f"{shortened(cell)}, but it must be finite and not negative")
    return _Cell(cell if len(cell) <= _MOST_SHOWN else f"{cell[:_MOST_SHOWN]}...", value)


_COLUMNS = (
    FileColumn("size_bytes", _size, {f"size_{unit}": unit for unit in _UNITS}),
    FileColumn("cdf", _probability, {"cdf": "", "cdf_percent": "", "cdf_steps": ""}),
    text("ignored", needed=False),
)


def is_size_file(name: str) -> bool:
    """Return whether a workload is a file: its name has a dot or a folder, which no published distribution has.

    Examples
    --------
    >>> is_size_file("sizes.csv"), is_size_file("websearch")
    (True, False)
    """
    return "." in name or Path(name).name != name


def read_flow_sizes(path: str | Path) -> FlowSizes:
    """Return the distribution of flow sizes in a file, in bytes.

    Parameters
    ----------
    path : str or Path
        Text in the form above.

    Raises
    ------
    ParameterError
        If a line is no point, or the points are no distribution function; the text names the file, the line, and the
        number as it stands there. Notes name further faults (:pep:`678`).
    OSError
        If the file cannot be read.
    """
    table = read_table(Path(path), _COLUMNS, most=MOST_POINTS, heads=("size_bytes", "cdf"), advice=_ADVICE)
    sizes, values = table.columns["size_bytes"], table.columns["cdf"]
    _check_rising(table, sizes, "a size of", "points are listed by increasing size")
    _check_rising(table, values, "F =", "a distribution function never falls")
    end = _end(table, sizes, values)
    points = np.array([size for _, size in sizes]), np.array([value / end for _, value in values])
    try:
        made = FlowSizes.steps if table.heads.get("cdf") == "cdf_steps" else FlowSizes
        return made(*points, name=table.file)
    except ParameterError as error:
        raise ParameterError(f"{table.file}: {error}") from None


def _check_rising(table: TextTable, cells: Sequence[_Cell], what: str, rule: str) -> None:
    for row, (before, cell) in enumerate(pairwise(cells), 1):
        if cell.value < before.value:
            raise ParameterError(f"{table.place(row)}: {what} {cell.text} after {before.text}, but {rule}")


def _end(table: TextTable, sizes: Sequence[_Cell], values: Sequence[_Cell]) -> float:
    """Return what F ends at: 1, or 100 where it is in percent, up to the rounding of a sum."""
    last, ends = values[-1], [end for end in (1.0, 100.0) if _is_near(values[-1].value, end)]
    problem = f"{table.place(len(values) - 1)}: F ends at {last.text}"
    if table.heads.get("cdf") == "cdf_percent":
        require(ends == [100.0], f"{problem}, but percent end at 100")
        return 100.0
    swapped = "; are the columns swapped?" if any(_is_near(sizes[-1].value, end) for end in (1, 100)) else ""
    require(bool(ends), f"{problem}, but it must end at 1, or at 100 for percent{swapped}")
    if ends == [100.0] and not any(1 < value < 100 and not _is_near(value, 100) for _, value in values):
        for row, (cell, value) in enumerate(values):
            rule = "percent or probabilities? Call the column cdf_percent, or let it end at 1"
            require(not 0 < value <= 1, f"{table.place(row)}: F = {cell}, and F ends at {last.text}: {rule}")
    return ends[0]


def _is_near(value: float, end: float) -> bool:
    return abs(value - end) <= SUM_TOLERANCE * end
