"""The data that each part of the tour gives to the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from capsmodel.cli.shared.output import csv_text
from capsmodel.cli.shared.table import Column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Advance = Callable[[float], None]
"""Called with the share of the work that has just been done."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    title, reading, finding
        Heading; how to read the figure; what the numbers show.
    commands
        Lines that a reader types to get the same numbers.
    columns, rows
        The table on the page; the rows also go whole into a CSV file.
    figures
        File name without suffix, and figure.
    """

    title: str
    reading: str
    finding: str
    commands: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]
    figures: Mapping[str, "Figure"] = field(default_factory=dict)

    def csv(self) -> str:
        """Return the rows as comma-separated values."""
        return csv_text(self.rows)


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
    beside
        Whether the section is computed while others wait for simulations in other processes: for one that compiles.
    """

    name: str
    doing: str
    visit: Callable[[bool, Advance], Section]
    beside: bool = False
