"""The data that each part of the tour gives to the page."""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Advance = Callable[[float], None]
"""Called with the share of the work that has just been done."""


def _short(value: float) -> str:
    """Return three digits, without an exponent from 1000 on."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Column:
    """A column of the page's table.

    Attributes
    ----------
    key
        Name in the rows; the unit is its last part.
    label
        Heading on the page.
    half_width
        Name in the rows of the 95% half-width, printed behind the value.
    """

    key: str
    label: str
    half_width: str | None = None

    def text(self, row: Mapping[str, Any]) -> str:
        """Return the cell of a row as the page prints it."""
        value = row[self.key]
        if not isinstance(value, float):
            return str(value)
        if not math.isfinite(value):
            return "–"
        error = row[self.half_width] if self.half_width else math.nan
        return _short(value) if not math.isfinite(error) else f"{_short(value)} ± {_short(error)}"


@dataclass(frozen=True, kw_only=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    title, reading, finding
        Heading; how to read the figure; what the numbers show.
    command
        What a reader types to get the same numbers.
    columns, rows
        The table on the page; the rows also go whole into a CSV file.
    figures
        File name without suffix, and figure.
    """

    title: str
    reading: str
    finding: str
    command: str
    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]
    figures: Mapping[str, "Figure"] = field(default_factory=dict)

    def csv(self) -> str:
        """Return the rows as comma-separated values."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class Station:
    """A part of the tour.

    Attributes
    ----------
    name
        Stem of its CSV file and anchor on the page.
    doing
        Text of the progress bar.
    visit
        Computes the section; ``quick`` reduces the work from a minute to seconds.
    """

    name: str
    doing: str
    visit: Callable[[bool, Advance], Section]
