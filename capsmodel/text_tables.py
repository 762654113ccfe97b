"""Reads tables of text: a row on each line, its cells separated by commas, semicolons, tabs or blanks; and TOML.

The separator is that of the first row, for the whole file. Lines that begin with # are comments; rows without any text
are left out. A file is UTF-8, with or without a byte-order mark; its lines may end as on Windows. A cell in double
quotes may hold the separator, and ends on its line.

Heads name quantities and units. The end of a head is the unit of the bare numbers below it: ``delay_us``,
``start_ms``, ``rate_gbps``, ``flow_kb``. A number may also carry a unit of its own, which then counts: ``10us``,
``40Gbps``. Case does not matter in either. Each error names the file, the line, the column, and the cell as it stands
in the file.
"""

import csv
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Protocol

from capsmodel._files import named, read_text, refuse_device
from capsmodel.checks import ParameterError, require
from capsmodel.units import RATE_UNITS, SIZE_UNITS, TIME_UNITS, parse_rate_bps, parse_size_bytes, parse_time_s

# `int` would also take 1_000 and the digits of other scripts; 20 digits hold 2**63.
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_QUOTED = re.compile(r'"[^"]*"')
# Of two that cut a row as often the first counts: where semicolons separate, a comma is a spreadsheet's decimal point.
_SEPARATORS = {";": "semicolons", ",": "commas", "\t": "tabs"}
_BLANK = " "
MOST_NESTED = 64
"""Tables and lists of TOML within each other; a key of thousands of parts would take gigabytes to read."""
_PART_OF_KEY = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*"
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART_OF_KEY}){{{MOST_NESTED}}}")


Check = Callable[[str, float], object]
"""Raises :class:`~capsmodel.checks.ParameterError` unless a value of the quantity of that name is allowed."""


@dataclass(frozen=True)
class FileColumn:
    """A column that a file must or may have.

    Parameters
    ----------
    name : str
        What the package calls it, unit included.
    read : callable
        Takes a cell and the unit that its head names, and returns the value; equal cells are read once.
    heads : mapping
        The heads that stand for it, in lower case, each with the unit of bare numbers.
    needed : bool
        Whether it must be there, with a value in each cell; an empty cell of another column is None.
    """

    name: str
    read: Callable[[str, str], Any]
    heads: Mapping[str, str]
    needed: bool = True


def text(name: str, *, needed: bool = True) -> FileColumn:
    """Return a column of words."""
    return FileColumn(name, lambda cell, _: cell, {name: ""}, needed)


def whole(name: str, check: Check, *, needed: bool = True) -> FileColumn:
    """Return a column of whole numbers that pass `check`."""

    def read(cell: str, _: str) -> int:
        require(bool(_WHOLE.fullmatch(cell)), f"{shortened(cell)} is no whole number")
        check(name, int(cell))
        return int(cell)

    return FileColumn(name, read, {name: ""}, needed)


def number(name: str, check: Check, *, needed: bool = True) -> FileColumn:
    """Return a column of numbers without a unit that pass `check`."""

    def read(cell: str, _: str) -> float:
        try:
            value = float(cell)
        except ValueError:
            raise ParameterError(f"{shortened(cell)} is no number: write {name} as in 0.01") from None
        check(name, value)
        return value

    return FileColumn(name, read, {name: ""}, needed)


def quantity(name: str, check: Check, *, needed: bool = True, also: Mapping[str, str] | None = None) -> FileColumn:
    """Return a column of times, rates or sizes that pass `check`: what `name` ends in says which.

    Parameters
    ----------
    name : str
        Ends in ``_s``, ``_bps`` or ``_bytes``; with another unit of the quantity in this place it is a head too.
    check : function
        Of the value in the unit of `name`.
    needed : bool
        As of :class:`FileColumn`.
    also : mapping, optional
        Further heads with their units.
    """
    stem, _, unit = name.rpartition("_")
    parse, units = _QUANTITIES[unit]
    heads = {name: next(iter(units))} | {f"{stem}_{other}": other for other in units} | dict(also or {})

    def read(cell: str, unit: str) -> float:
        value = parse(cell, unit=unit)
        try:
            check(name, value)
        except ParameterError:
            check(f"{shortened(cell)}, that is {name}", value)
        return value

    return FileColumn(name, read, heads, needed)


class _Parse(Protocol):
    def __call__(self, text: str, *, unit: str) -> float: ...


# By the unit in which the package has a quantity; of the units of each, that one comes first.
_QUANTITIES: dict[str, tuple[_Parse, Mapping[str, float]]] = {
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
class TextTable:
    """The rows of a file by column.

    Attributes
    ----------
    file : str
        Name of the file.
    lines : list of int
        Over rows: the line of the file, from 1.
    heads : dict
        The head in the file of each column that was asked for and is there, in lower case.
    columns : dict
        Values of the columns that were asked for, by their names; of those that the file lacks, None in each row.
    extra : dict
        Cells of the other columns, as they stand in the file, by their heads.
    """

    file: str
    lines: list[int]
    heads: dict[str, str]
    columns: dict[str, list[Any]]
    extra: dict[str, list[str]]

    def place(self, row: int) -> str:
        """Return the file and the line of a row, as an error begins."""
        return f"{self.file} line {self.lines[row]}"


def read_table(
    path: Path,
    columns: Sequence[FileColumn],
    *,
    most: int,
    heads: Sequence[str] | None = None,
    further_but: frozenset[str] | None = None,
    advice: str = "",
) -> TextTable:
    """Return the table in a file; its columns may stand in any order.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of FileColumn
        What it must or may have.
    most : int
        The most rows that are read, at least 1.
    heads : sequence of str, optional
        Heads of a file that has none, whose first row begins with no letter; when left out, a file must have heads.
    further_but : frozenset of str, optional
        Names that a further column may not have; when left out, there may be none.
    advice : str
        Ends the error about a file of other columns.

    Raises
    ------
    ParameterError
        If the file is no text, has no row or too many, or the head or a row cannot be read. Each note of the error is a
        further fault of the file (:pep:`678`).
    OSError
        If the file cannot be read.
    """
    rows = _read_rows(path, most)
    headless = heads is not None and not (rows.cells and _names_columns(rows.cells[0]))
    first = list(heads or ()) if headless else [cell.strip() for cell in rows.cells[0]] if rows.cells else []
    where = f"{rows.file} line {rows.lines[0] if rows.lines else 1}"
    if not headless:
        del rows.lines[:1], rows.cells[:1]
    places = _places(first, columns, where=where, further_but=further_but, cut=rows.cut, advice=advice)
    require(bool(rows.cells), f"{rows.file} holds no row of {','.join(first)}{advice}")
    require(len(rows.cells) <= most, f"{rows.file} has more than {most} rows, and no more are read")
    _check_lengths(rows, len(places), advice if headless else "")
    return _table(rows, places, columns)


@dataclass(frozen=True)
class _Rows:
    file: str
    separator: str
    lines: list[int]
    cells: list[list[str]]

    @property
    def cut(self) -> str:
        """What separates the cells, in words."""
        return f"separated by {_SEPARATORS.get(self.separator, 'blanks')}"


def _read_rows(path: Path, most: int) -> _Rows:
    """Return the rows of a file that hold any text, up to one more than a head and `most` others."""
    require("\0" not in str(path), f"{str(path)!r} names no file")
    refuse_device(path)
    with (
        named(path),
        path.open(newline="", encoding="utf-8-sig") as file,
    ):  # with or without the mark that spreadsheets put first
        try:
            return _rows_of(path.name, file, most)
        except UnicodeDecodeError:
            raise ParameterError(f"{path.name} is no UTF-8 text: save it as comma-separated values in UTF-8") from None


def _rows_of(name: str, file: Iterable[str], most: int) -> _Rows:
    lines = ("\n" if line.lstrip().startswith("#") else line for line in file)
    above, first = next(((number, line) for number, line in enumerate(lines) if line.strip()), (0, ""))
    rows = _Rows(name, _separator_of(first), [], [])
    texts: Iterable[str] = chain([first], lines)
    if rows.separator == _BLANK:
        texts = (_BLANK.join(line.split()) for line in texts)
    reader, line = csv.reader(texts, delimiter=rows.separator, strict=True), above
    try:
        for line, cells in enumerate(reader, above + 1):
            if reader.line_num != line - above:
                raise ParameterError(f"{name} line {line}: a cell begins with a quote and does not end on its line")
            if any(map(str.strip, cells)):
                rows.lines.append(line)
                rows.cells.append(cells)
            if len(rows.lines) > most + 1:
                break
    except csv.Error as error:
        raise ParameterError(f"{name} line {line + 1}: {error}; is it a table of text?") from None
    return rows


def _separator_of(line: str) -> str:
    """Return what stands between the cells of a row; blanks, if nothing else does."""
    unquoted = _QUOTED.sub("", line).strip()
    best = max(_SEPARATORS, key=unquoted.count)
    return best if best in unquoted else _BLANK


def _names_columns(cells: Sequence[str]) -> bool:
    """Return whether a row is one of heads: its first text begins with a letter."""
    return next(cell.strip() for cell in cells if cell.strip())[0].isalpha()


@dataclass(frozen=True)
class _Place:
    """What stands below one head: a column that was asked for and the unit of bare numbers, or another column."""

    head: str
    column: FileColumn | None
    unit: str = ""


def _places(
    heads: list[str],
    columns: Sequence[FileColumn],
    *,
    where: str,
    further_but: frozenset[str] | None,
    cut: str,
    advice: str,
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
            faults.add(f"{where}: unknown column {shortened(place.head)}: the columns are {_names_of(columns)}{advice}")
        seen.add(name)
    missing = [column.name for column in columns if column.needed and column.name not in seen]
    if missing:
        rule = f"the first line names the columns, {_names_of(columns)}"
        faults.add(f"{where}: no column {', '.join(missing)} in {shortened(heads)}, {cut}: {rule}{advice}")
    faults.check()
    return places


def _names_of(columns: Sequence[FileColumn]) -> str:
    needed, others = ([column.name for column in columns if column.needed is kind] for kind in (True, False))
    return ", ".join(needed) + (f" and perhaps {', '.join(others)}" if others else "")


def _check_lengths(rows: _Rows, count: int, advice: str) -> None:
    """Refuse rows of too many or too few cells before a number is read: a long file is refused at once."""
    faults = Faults()
    for line, cells in zip(rows.lines, rows.cells, strict=True):
        if len(cells) != count:
            cells_there = f"{len(cells)} cell{'s' * (len(cells) != 1)} for {count} columns"
            shown = shortened(rows.separator.join(cells))
            faults.add(f"{rows.file} line {line}: {shown} has {cells_there}, {rows.cut}{advice}")
    faults.check()


def _table(rows: _Rows, places: Sequence[_Place], columns: Sequence[FileColumn]) -> TextTable:
    """Return the values of all rows, or raise an error that names the first faults in the order of the file."""
    columns_of: dict[str, list[Any]] = {}
    extra: dict[str, list[str]] = {}
    faults: list[tuple[int, str]] = []
    by_place = [[row[position] for row in rows.cells] for position in range(len(places))]
    rows.cells.clear()  # before the values need memory: a list of flows has millions of rows
    for place in places:
        cells = by_place.pop(0)
        if place.column is None:
            extra[place.head] = cells
        else:
            columns_of[place.column.name], wrong = _values(cells, place.column, place.unit)
            faults += [(row, f"{place.head}: {fault}") for row, fault in wrong]
    listed = Faults()
    for row, fault in sorted(faults, key=lambda fault: fault[0]):
        listed.add(f"{rows.file} line {rows.lines[row]}: {fault}")
    listed.check()
    heads = {place.column.name: place.head.lower() for place in places if place.column is not None}
    return TextTable(
        file=rows.file,
        lines=rows.lines,
        heads=heads,
        columns={column.name: columns_of.get(column.name, [None] * len(rows.lines)) for column in columns},
        extra=extra,
    )


def _values(cells: list[str], column: FileColumn, unit: str) -> tuple[list[Any], list[tuple[int, str]]]:
    """Return the values of a column, and the first faults with their rows."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for cell in dict.fromkeys(cells):
        try:
            values[cell] = _value(cell.strip(), column, unit)
        except ParameterError as error:
            wrong[cell] = str(error)
            if len(wrong) == Faults.MOST:
                break
    if not wrong:
        return [values[cell] for cell in cells], []
    faults = ((row, wrong[cell]) for row, cell in enumerate(cells) if cell in wrong)
    return [], list(islice(faults, Faults.MOST))


def _value(cell: str, column: FileColumn, unit: str) -> Any:
    if cell:
        return column.read(cell, unit)
    require(not column.needed, "an empty cell")
    return None


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file, with or without a byte-order mark, and its tables.

    Raises
    ------
    ParameterError
        As :func:`toml_tables`, or if the file is no UTF-8 text or has no key.
    OSError
        If the file cannot be read.
    """
    try:
        text = read_text(path)
    except UnicodeDecodeError:
        raise ParameterError(f"{path.name} is not TOML: it is not UTF-8 text") from None
    tables = toml_tables(text, name=path.name)
    example = "write tables, as [fabric] and [[traffic]] of a scenario, or [scenario] of a study"
    require(bool(tables), f"{path.name} is empty: {example}")
    return text, tables


def toml_tables(text: str, *, name: str) -> dict[str, Any]:
    """Return the tables that a TOML text describes.

    Parameters
    ----------
    text : str
        TOML, its tables and lists at most `MOST_NESTED` deep.
    name : str
        Of the file: begins the text of an error.

    Raises
    ------
    ParameterError
        If the text is no TOML, or nested more deeply.

    Examples
    --------
    >>> toml_tables("fabric.rate_bps = '10Gbps'", name="own.toml")
    {'fabric': {'rate_bps': '10Gbps'}}
    """
    too_deep = f"{name}: its tables and lists are nested too deeply, more than {MOST_NESTED} within each other"
    require(not _LONG_KEY.search(text), too_deep)
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise ParameterError(too_deep) from None
    except ValueError as error:  # of TOML, or a whole number of thousands of digits
        raise ParameterError(f"{name} is not TOML: {error}") from None
    level: list[Any] = [tables]
    for _ in range(MOST_NESTED):
        inner = (one for outer in level for one in (outer.values() if isinstance(outer, dict) else outer))
        level = [one for one in inner if isinstance(one, dict | list)]
    require(not level, too_deep)
    return tables
