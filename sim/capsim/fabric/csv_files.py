"""Reads CSV files whose heads name quantities and units; each error names the file, the line and the column.

The end of a head is the unit of the bare numbers below it: ``delay_us``, ``start_ms``, ``rate_gbps``, ``flow_kb``. A
number may also carry a unit of its own, which then counts: ``10us``, ``40Gbps``. Case does not matter in either.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsim.bounds import Bound, shortened
from capsmodel._files import refuse_device
from capsmodel.checks import ParameterError, require
from capsmodel.units import RATE_UNITS, SIZE_UNITS, TIME_UNITS, parse_rate_bps, parse_size_bytes, parse_time_s

# `int` and `float` would also take 1_000 and the digits of other scripts; 20 digits hold 2**63.
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Column:
    """A column that a file must or may have.

    Parameters
    ----------
    name : str
        What the package calls it, unit included.
    read : callable
        Takes a cell and the unit that its head names, and returns the value.
    heads : mapping
        The heads that stand for it, in lower case, each with the unit of bare numbers.
    needed : bool
        Whether it must be there, with a value in each cell; an empty cell of another column is None.
    """

    name: str
    read: Callable[[str, str], Any]
    heads: Mapping[str, str]
    needed: bool = True


def text(name: str) -> Column:
    """Return a column of words."""
    return Column(name, lambda cell, _: cell, {name: ""})


def whole(name: str, bound: Bound, *, needed: bool = True) -> Column:
    """Return a column of whole numbers within `bound`."""

    def read(cell: str, _: str) -> int:
        require(bool(_WHOLE.fullmatch(cell)), f"{shortened(cell)} is no whole number")
        bound.check(name, int(cell))
        return int(cell)

    return Column(name, read, {name: ""}, needed)


def quantity(name: str, bound: Bound, *, needed: bool = True, also: Mapping[str, str] | None = None) -> Column:
    """Return a column of times, rates or sizes within `bound`: what `name` ends in says which.

    Parameters
    ----------
    name : str
        Ends in ``_s``, ``_bps`` or ``_bytes``; with another unit of the quantity in this place it is a head too.
    bound : Bound
        In the unit of `name`.
    needed : bool
        As of :class:`Column`.
    also : mapping, optional
        Further heads with their units.
    """
    stem, _, unit = name.rpartition("_")
    parse, units = _QUANTITIES[unit]
    heads = {name: next(iter(units))} | {f"{stem}_{other}": other for other in units} | dict(also or {})

    def read(cell: str, unit: str) -> float:
        value = parse(f"{cell} {unit}" if _NUMBER.fullmatch(cell) else cell)
        bound.check(name, value)
        return value

    return Column(name, read, heads, needed)


# By the unit in which the package has a quantity; of the units of each, that one comes first.
_QUANTITIES: dict[str, tuple[Callable[[str], float], Mapping[str, float]]] = {
    "s": (parse_time_s, TIME_UNITS),
    "bps": (parse_rate_bps, RATE_UNITS),
    "bytes": (parse_size_bytes, SIZE_UNITS),
}


class Faults:
    """What is wrong with a file, collected so that one error names it all, one line each."""

    MOST = 20  # that an error lists

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, fault: str) -> None:
        """Note a fault; raise the error when it lists no more."""
        self.texts.append(fault)
        if len(self.texts) == self.MOST:
            self.texts.append("there may be more: nothing was read beyond this")
            self.check()

    def check(self) -> None:
        """Raise :class:`ParameterError` with the first fault as its text and the others as its notes, if any."""
        if self.texts:
            error = ParameterError(self.texts[0])
            for further in self.texts[1:]:
                error.add_note(further)
            raise error


@dataclass(frozen=True)
class CsvTable:
    """The rows of a CSV file by column, blank lines left out.

    Attributes
    ----------
    file : str
        Name of the file.
    lines : list of int
        Over rows: the line of the file where the row ends, from 1.
    columns : dict
        Values of the columns that were asked for, by their names; of those that the file lacks, None in each row.
    extra : dict
        Cells of the other columns, as they stand in the file, by their heads.
    """

    file: str
    lines: list[int]
    columns: dict[str, list[Any]]
    extra: dict[str, list[str]]

    def place(self, row: int) -> str:
        """Return the file and the line of a row, as an error begins."""
        return f"{self.file} line {self.lines[row]}"


def read_csv(
    path: Path, columns: Sequence[Column], *, most: Bound, further_but: frozenset[str] | None = None
) -> CsvTable:
    """Return the table in a file of comma-separated values in UTF-8; its columns may stand in any order.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of Column
        What it must or may have.
    most : Bound
        Of the number of rows.
    further_but : frozenset of str, optional
        Names that a further column may not have; when left out, there may be none.

    Raises
    ------
    ParameterError
        If the file is no text, has too few or too many rows, or the head or a row cannot be read. Each note of the
        error is a further fault of the file (:pep:`678`).
    OSError
        If the file cannot be read.
    """
    rows = _lines(path)
    line, head = next(rows, (1, []))
    heads, where = [cell.strip() for cell in head], f"{path.name} line {line}"
    places = _places(heads, columns, where=where, further_but=further_but)
    others = [place.head for place in places if place.column is None]
    table = CsvTable(path.name, [], {column.name: [] for column in columns}, {head: [] for head in others})
    faults = Faults()
    for line, cells in rows:
        table.lines.append(line)
        if len(table.lines) > most.largest:
            break
        if len(cells) != len(places):
            faults.add(f"{path.name} line {line}: {len(cells)} cells below {len(places)} heads")
        else:
            _add_row(table, places, cells, faults)
    faults.check()
    most.check(f"{path.name}: rows below the heads", len(table.lines))
    for values in table.columns.values():
        values += [None] * (len(table.lines) - len(values))  # of columns that the file lacks
    return table


@dataclass(frozen=True)
class _Place:
    """What stands below one head: a column that was asked for and the unit of bare numbers, or another column."""

    head: str
    column: Column | None
    unit: str = ""


def _places(
    heads: list[str], columns: Sequence[Column], *, where: str, further_but: frozenset[str] | None
) -> list[_Place]:
    known = {head: (column, unit) for column in columns for head, unit in column.heads.items()}
    places = [_Place(head, *known.get(head.lower(), (None, ""))) for head in heads]
    faults, seen = Faults(), set[str]()
    for number, place in enumerate(places):
        name = place.head if place.column is None else place.column.name
        if not place.head:
            faults.add(f"{where}: column {number + 1} has no name")
        elif name in seen:
            faults.add(f"{where}: {place.head!r} is the second column for {name!r}: leave one out")
        elif place.column is None and further_but is not None and place.head in further_but:
            faults.add(f"{where}: {place.head!r} is a column of the results: give this one another name")
        elif place.column is None and further_but is None:
            faults.add(f"{where}: unknown column {shortened(place.head)}: the columns are {_asked(columns)}")
        seen.add(name)
    for column in columns:
        if column.needed and column.name not in seen:
            faults.add(f"{where}: no column {column.name!r}: the first line names the columns, {_asked(columns)}")
    faults.check()
    return places


def _asked(columns: Sequence[Column]) -> str:
    needed, others = ([column.name for column in columns if column.needed is kind] for kind in (True, False))
    return ", ".join(needed) + (f" and perhaps {', '.join(others)}" if others else "")


def _add_row(table: CsvTable, places: list[_Place], cells: list[str], faults: Faults) -> None:
    """Add the values of a row to `table`, or what is wrong with them to `faults`."""
    for place, cell in zip(places, cells, strict=True):
        if place.column is None:
            table.extra[place.head].append(cell)
            continue
        try:
            value = _value(place.column, cell.strip(), place.unit)
        except ParameterError as error:
            faults.add(f"{table.file} line {table.lines[-1]}: {place.head}: {error}")
        else:
            table.columns[place.column.name].append(value)


def _value(column: Column, cell: str, unit: str) -> Any:
    if cell:
        return column.read(cell, unit)
    require(not column.needed, "an empty cell")
    return None


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file that are not blank, each with the number of its line."""
    require("\0" not in str(path), f"{str(path)!r} names no file")
    refuse_device(path)
    with path.open(newline="", encoding="utf-8-sig") as file:  # with or without the mark that spreadsheets put first
        reader = csv.reader(file)
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield reader.line_num, row
        except UnicodeDecodeError:
            raise ParameterError(f"{path.name} is no UTF-8 text: save it as comma-separated values in UTF-8") from None
        except csv.Error as error:
            raise ParameterError(f"{path.name} line {reader.line_num}: {error}; is it a CSV file?") from None
