"""Flow-size distributions from files of one's own.

A line for each point: a size in bytes and the distribution function there, as a probability or in percent, separated by
a comma, a semicolon or blanks. Sizes rise, the last point has 1 or 100; between two points the mass is spread evenly
(:mod:`capsmodel.workloads.sizes`). A header and lines that begin with # are left out::

    size_bytes,cdf
    1000,0.1
    100KB,0.6
    10MB,1
"""

import re
from pathlib import Path

import numpy as np

from capsmodel.checks import ParameterError, require
from capsmodel.units import parse_size_bytes
from capsmodel.workloads.catalogue import FlowSizes

MOST_POINTS = 100_000
_HEADER = "size_bytes,cdf"
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
    points = [_point(row, f"{path.name} line {line}") for line, row in _rows(path)]
    require(bool(points), f"{path.name} holds no point: write lines as {_HEADER}")
    require(len(points) <= MOST_POINTS, f"{path.name} has {len(points)} points, but at most {MOST_POINTS} are read")
    sizes, values = np.array(points).T
    try:
        return FlowSizes(sizes, values / (100.0 if values[-1] > 1 else 1.0), name=path.name)
    except ParameterError as error:
        raise ParameterError(f"{path.name}: {error}") from None


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the cells of each line that holds a point, with its number."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ParameterError(f"{path.name} is no UTF-8 text: save it as comma-separated values in UTF-8") from None
    rows = [(number, _SPLIT.split(line.strip())) for number, line in enumerate(lines, 1)]
    rows = [(number, cells) for number, cells in rows if cells[0] and not cells[0].startswith("#")]
    return rows[1:] if rows and rows[0][1][0][:1].isalpha() else rows


def _point(cells: list[str], where: str) -> tuple[float, float]:
    told = f"{where}: {','.join(cells)[:60]!r} is no point: write a size in bytes and F, as in 100000,0.6 or 100KB,60"
    require(len(cells) == 2 and bool(_NUMBER.fullmatch(cells[1])), told)
    size, value = cells
    if _NUMBER.fullmatch(size):
        return float(size), float(value)
    try:
        return float(parse_size_bytes(size)), float(value)
    except ParameterError:
        raise ParameterError(told) from None
