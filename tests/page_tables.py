"""Tables of results that pages show: a file of ``docs/tables`` for each, written by the command that its page names.

The site shows the file itself (``csv-table``), so that no number is typed; tests compare it with what is computed.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "tables"

Table = list[list[str]]


def read_table(name: str) -> Table:
    """Return the rows of a table, the row of heads first."""
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write_table(name: str, rows: Iterable[Sequence[str]]) -> None:
    """Write a table, the row of heads first, and print where."""
    path = FOLDER / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


def by_first_cell(name: str) -> dict[str, list[str]]:
    """Return the other cells of each row of a table, without the heads, by its first cell."""
    return {first: cells for first, *cells in read_table(name)[1:]}
