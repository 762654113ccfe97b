"""Flow-size distributions from files of one's own.

A line for each point: a size in bytes and the distribution function there, as a probability or in percent, separated by
a comma, a semicolon or blanks. Sizes rise, the last point has 1 or 100; between two points the mass is spread evenly
(:mod:`capsmodel.workloads.sizes`). Lines that begin with # are left out. Heads may stand above the points: size_bytes,
size_kb or size_mb, which is the unit of sizes without one, and cdf::

    size_bytes,cdf
    1000,0.1
    100KB,0.6
    10MB,1
"""

import re
from decimal import Decimal
from pathlib import Path

import numpy as np

from capsmodel.checks import ParameterError, require
from capsmodel.units import KB, MB, parse_size_bytes
from capsmodel.workloads.catalogue import FlowSizes

MOST_POINTS = 100_000
_CDF_HEAD = "cdf"
_SIZE_HEADS = {"size_bytes": 1, "size_kb": KB, "size_mb": MB}  # each with the bytes of its unit
_SPLIT = re.compile(r"\s*[,;]\s*|\s+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


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
        If a line is no point, or the points are no distribution function; the text names the line.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    require("\0" not in str(path), f"{str(path)!r} names no file")
    unit_bytes, rows = _without_heads(_rows(path), path.name)
    points = [_point(row, f"{path.name} line {line}", unit_bytes) for line, row in rows]
    require(bool(points), f"{path.name} holds no point: write lines as 100000,0.6 or 100KB,60")
    require(len(points) <= MOST_POINTS, f"{path.name} has {len(points)} points, but at most {MOST_POINTS} are read")
    sizes, values = np.array(points).T
    try:
        return FlowSizes(sizes, values / (100.0 if values[-1] > 1 else 1.0), name=path.name)
    except ParameterError as error:
        raise ParameterError(f"{path.name}: {error}") from None


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the cells of each line but comments, with its number."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ParameterError(f"{path.name} is no UTF-8 text: save it as comma-separated values in UTF-8") from None
    rows = [(number, _SPLIT.split(line.strip())) for number, line in enumerate(lines, 1)]
    return [(number, cells) for number, cells in rows if cells[0] and not cells[0].startswith("#")]


def _without_heads(rows: list[tuple[int, list[str]]], file: str) -> tuple[int, list[tuple[int, list[str]]]]:
    """Return the bytes of the unit that the heads, if any, name, and the rows below them."""
    if not rows or not rows[0][1][0][0].isalpha():
        return 1, rows
    line, cells = rows[0]
    heads = [cell.lower() for cell in cells]
    known = len(heads) == 2 and heads[0] in _SIZE_HEADS and heads[1] == _CDF_HEAD
    first, *others = _SIZE_HEADS
    rule = f"they must be {first},{_CDF_HEAD} (or {', '.join(others)})"
    told = f"{file} line {line}: heads {','.join(cells)[:60]}, but {rule}"
    require(known, f"{told}: rename, convert or swap the columns")
    return _SIZE_HEADS[heads[0]], rows[1:]


def _point(cells: list[str], where: str, unit_bytes: int) -> tuple[float, float]:
    told = f"{where}: {','.join(cells)[:60]!r} is no point: write a size in bytes and F, as in 100000,0.6 or 100KB,60"
    require(len(cells) == 2 and bool(_NUMBER.fullmatch(cells[1])), told)
    size, value = cells
    try:
        # In decimal, because 1.001 * 1000 is not 1001.
        in_bytes = Decimal(size) * unit_bytes if _NUMBER.fullmatch(size) else parse_size_bytes(size)
        return float(in_bytes), float(value)
    except (ParameterError, ArithmeticError):
        raise ParameterError(told) from None
