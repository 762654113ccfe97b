"""Tables that fit the terminal: heads with units on as many lines as they need, never cut.

Where the columns do not fit side by side, texts are wrapped; where that is not enough, each row is printed as a list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len, chop_cells

from capsmodel.experiments.number_texts import number, with_error, with_interval

_GAP = 2
_HEAD_COLUMNS = 11  # a head above numbers is wrapped from here on

Row = Mapping[str, Any]


def visible(text: str) -> str:
    """Return `text` with what would steer the terminal shown as an escape, but for line ends.

    Examples
    --------
    >>> visible("bold: " + chr(27) + "[1m") == "bold: " + repr(chr(27))[1:-1] + "[1m"
    True
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text)


@dataclass(frozen=True)
class Column:
    """A column as people see it.

    Attributes
    ----------
    key
        Name in the rows; the unit is its last part.
    head
        Words above the column, with the unit that is shown.
    factor
        From the unit of the rows to the one shown: 1e3 from seconds to milliseconds.
    error
        Name in the rows of the half-width of the 95% interval, printed behind the value.
    ends
        Names in the rows of the ends of the 95% interval, where it is not symmetric and above 0, printed behind it.
    right
        Whether texts stand at the right and are never wrapped, as numbers are.
    """

    key: str
    head: str
    factor: float = 1.0
    error: str | None = None
    ends: tuple[str, str] | None = None
    right: bool = False

    def text(self, row: Row) -> str:
        """Return the cell of a row."""
        value = row[self.key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return visible(number(value))
        if self.error is not None:
            return with_error(value * self.factor, row[self.error] * self.factor)
        if self.ends is not None:
            return with_interval(*(row[key] * self.factor for key in (self.key, *self.ends)))
        return number(value if self.factor == 1 else value * self.factor)

    def is_numeric(self, rows: Sequence[Row]) -> bool:
        """Return whether the column holds numbers, which stand at the right and are never wrapped."""
        return self.right or any(
            isinstance(row[self.key], int | float) and not isinstance(row[self.key], bool) for row in rows
        )


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """Return a column for each key of the rows, its name in words as its head.

    Examples
    --------
    >>> columns_of([{"window_packets": 64}])
    [Column(key='window_packets', head='window packets', factor=1.0, error=None, ends=None, right=False)]
    """
    return [Column(key, key.replace("_", " ")) for key in (rows[0] if rows else ())]


@dataclass
class _Laid:
    """A column with its texts, and how wide it is; a number is never cut, a text may be wrapped between words."""

    head: str
    cells: list[str]
    numeric: bool
    width: int
    least: int

    @classmethod
    def of(cls, column: Column, rows: Sequence[Row]) -> "_Laid":
        numeric, cells = column.is_numeric(rows), [column.text(row) for row in rows]
        whole = max(map(cell_len, cells), default=0)
        word = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
        head = max(map(cell_len, column.head.split()), default=0)
        width = max(whole, head, min(_HEAD_COLUMNS, cell_len(column.head)))
        return cls(column.head, cells, numeric, width, max(head, whole if numeric else word))

    def wrapped(self, text: str) -> list[str]:
        """Return the lines of a text, broken within a word only where that is wider than the column."""
        if cell_len(text) <= self.width and "\n" not in text:
            return [text]
        lines = []
        for paragraph in text.split("\n"):
            line = ""
            for word in paragraph.split():
                if line and cell_len(line) + 1 + cell_len(word) > self.width:
                    lines.append(line)
                    line = ""
                *full, rest = chop_cells(word, self.width)
                lines += full
                line = f"{line} {rest}" if line else rest
            lines.append(line)
        return lines

    def padded(self, line: str) -> str:
        """Return a line with the blanks that fill the column."""
        blanks = " " * (self.width - cell_len(line))
        return blanks + line if self.numeric else line + blanks


def _fitted(columns: Sequence[_Laid], width: int) -> bool:
    """Make the widest columns narrower until all fit into `width`; return whether they do."""
    room = width - _GAP * (len(columns) - 1)
    while sum(column.width for column in columns) > room:
        widest = max(columns, key=lambda column: (column.width > column.least, column.width))
        if widest.width <= widest.least:
            return False
        widest.width -= 1
    return True


def laid_out(rows: Sequence[Row], columns: Sequence[Column], *, width: int) -> tuple[list[str], list[str]]:
    """Return the lines of the heads and those of the rows, all of at most `width` columns.

    Where that is too narrow for the columns, the rows are lists, which have no heads above them.
    """
    laid = [_Laid.of(column, rows) for column in columns]
    if not _fitted(laid, width):
        return [], _listed(rows, columns, width)
    heads = [column.wrapped(column.head)[::-1] for column in laid]  # all end in the same line
    cells = zip(*(column.cells for column in laid), strict=True)
    return _lines(heads, laid)[::-1], [line for row in cells for line in _row(row, laid)]


def _row(cells: Sequence[str], columns: Sequence[_Laid]) -> list[str]:
    """Return the lines of a row."""
    return _lines([column.wrapped(cell) for column, cell in zip(columns, cells, strict=True)], columns)


def _lines(cells: Sequence[Sequence[str]], columns: Sequence[_Laid]) -> list[str]:
    """Return the lines of cells side by side, each of which has lines itself."""
    gap, lines = " " * _GAP, zip_longest(*cells, fillvalue="")
    return [gap.join(map(_Laid.padded, columns, parts)).rstrip() for parts in lines]


def _listed(rows: Sequence[Row], columns: Sequence[Column], width: int) -> list[str]:
    """Return a line for each cell, its head before it, and an empty line between rows."""
    lists = [[(column.head, column.text(row)) for column in columns] for row in rows]
    head, text = (max((cell_len(cells[side]) for each in lists for cells in each), default=0) for side in (0, 1))
    left = max(1, min(head, max(width // 2, width - text) - _GAP))  # half of the width, or what the texts leave
    both = [_Laid("", [], False, side, 1) for side in (left, max(1, width - _GAP - left))]
    lines = [[line for cells in each for line in _row(cells, both)] for each in lists]
    return [line for position, each in enumerate(lines) for line in ([""] if position else []) + each]
