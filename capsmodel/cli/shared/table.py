"""Tables that fit the terminal: heads with units on as many lines as they need, never cut.

Where the columns do not fit side by side, texts are wrapped; where that is not enough, each row is printed as a list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table

from capsmodel.experiments.number_texts import number, positive_with_error, with_interval

_GAP = 2
_HEAD_COLUMNS = 11  # a head above numbers is wrapped from here on

Row = Mapping[str, Any]


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
        Name in the rows of the half-width of the 95% interval, printed behind the value, which is never below 0.
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
            return number(value)
        if self.error is not None:
            return positive_with_error(value * self.factor, row[self.error] * self.factor)
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


def _fitted(columns: Sequence[_Laid], width: int) -> bool:
    """Make the widest columns narrower until all fit into `width`; return whether they do."""
    room = width - _GAP * (len(columns) - 1)
    while sum(column.width for column in columns) > room:
        widest = max(columns, key=lambda column: (column.width > column.least, column.width))
        if widest.width <= widest.least:
            return False
        widest.width -= 1
    return True


def laid_out(rows: Sequence[Row], columns: Sequence[Column], *, width: int) -> Table:
    """Return rows as a table of at most `width` columns, or as a list for each row where that is too narrow."""
    laid = [_Laid.of(column, rows) for column in columns]
    if not _fitted(laid, width):
        return _listed(rows, columns, width)
    # The box has one of the columns between two cells.
    heads = any(column.head for column in columns)
    table = Table(box=SIMPLE_HEAD, show_header=heads, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0))
    for column in laid:
        justify: Any = "right" if column.numeric else "left"
        table.add_column(column.head, justify=justify, width=column.width, overflow="fold")
    for cells in zip(*(column.cells for column in laid), strict=True):
        table.add_row(*cells)
    return table


def _listed(rows: Sequence[Row], columns: Sequence[Column], width: int) -> Table:
    """Return a line for each cell, its head before it, and an empty line between rows."""
    # With its widths given Rich does not measure every cell first, which takes as long as the rest.
    head_width = min(max(cell_len(column.head) for column in columns), width // 2 - _GAP)
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(width=head_width, overflow="fold")
    table.add_column(width=width - head_width - _GAP, overflow="fold")
    for position, row in enumerate(rows):
        if position:
            table.add_row()
        for column in columns:
            table.add_row(column.head, column.text(row))
    return table
