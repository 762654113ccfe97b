"""What every command prints: one table, as text, JSON or CSV."""

import csv
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from capsmodel._files import atomic_writer

# Wide enough that no cell is cut when the reader is a file or a pipe.
_PIPE_COLUMNS = 400


class _LiteralConsole(Console):
    """Prints text as it is: names are no markup, and what would steer the terminal is shown as an escape."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return `text` with line ends as they are and other control characters as in a Python string."""
        seen = "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text)
        return super().render_str(seen, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the command line to end quietly."""
        raise BrokenPipeError


def console() -> Console:
    """Return a console as wide as the terminal, or very wide when standard output is not one."""
    piped = not sys.stdout.isatty()
    width = _PIPE_COLUMNS if piped else None
    return _LiteralConsole(width=width, highlight=False, markup=False, emoji=False, soft_wrap=piped)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _has_json(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if _is_nan(value) else f"{value:.4g}"
    return str(value)


def print_table(
    rows: Sequence[dict[str, Any]], *, title: str = "", as_json: bool = False, as_csv: bool = False
) -> None:
    """Print `rows` (dictionaries with the same keys, each naming its unit) as a table, JSON or CSV.

    What does not apply (NaN) is null in JSON and an empty cell in CSV. What is infinite is null in JSON too, which has
    no word for it, and inf in CSV.
    """
    if as_json:
        finite = [{name: value if _has_json(value) else None for name, value in row.items()} for row in rows]
        print(json.dumps(finite, indent=2, allow_nan=False))
        return
    columns = list(rows[0]) if rows else []
    if as_csv:
        writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: "" if _is_nan(value) else value for name, value in row.items()} for row in rows)
        return
    table = Table(title=title or None, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        numeric = isinstance(rows[0][name], int | float)
        table.add_column(name, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in columns))
    console().print(table)


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path` in one step: the file is either whole or as it was."""
    with atomic_writer(path) as file:
        file.write(text.encode())


_EIGHTHS = " ▁▂▃▄▅▆▇█"
_ASCII_EIGHTHS = " ...:::##"


def _eighths() -> str:
    """Return the signs of a bar's last cell from empty to full that standard output can show."""
    try:
        _EIGHTHS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return _ASCII_EIGHTHS
    return _EIGHTHS


def text_curve(values: Sequence[float], *, width: int = 64, height: int = 8) -> list[str]:
    """Return the lines of a bar chart of `values`, at most `width` columns, scaled from their minimum to maximum."""
    step = max(1, -(-len(values) // width))
    columns = [min(values[i : i + step]) for i in range(0, len(values), step)]
    low, high = min(columns), max(columns)
    scale = (height * 8 - 1) / (high - low) if high > low else 0.0
    filled = [1 + round((value - low) * scale) for value in columns]
    signs = _eighths()
    return ["".join(signs[min(8, max(0, level - 8 * row))] for level in filled) for row in reversed(range(height))]
