"""Output of every command: one table, as text, JSON or CSV."""

import csv
import io
import json
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclopts import Group, Parameter
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from capsmodel._files import atomic_writer
from capsmodel.checks import require
from capsmodel.cli.shared.options import Flag
from capsmodel.cli.shared.table import Column, Row, columns_of, laid_out

# Of a file or a pipe, which have no width: as wide as a terminal is when it opens. COLUMNS in the environment wins.
_PIPE_COLUMNS = 80

OUTPUT = Group("Output", sort_key=90)


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, kw_only=True)
class Output:
    """The form of a table.

    Parameters
    ----------
    json
        Print JSON: all columns in SI units, each with its unit in its name.
    csv
        Print the same as comma-separated values.
    """

    json: Flag = False
    csv: Flag = False

    def __post_init__(self) -> None:
        require(not (self.json and self.csv), "--json and --csv exclude each other: give one")

    @property
    def is_text(self) -> bool:
        """Return whether people read it."""
        return not (self.json or self.csv)


AS_TEXT = Output()


class _LiteralConsole(Console):
    """Prints text as it is: names are no markup, and what would steer the terminal is shown as an escape."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return `text` with line ends as they are and other control characters as in a Python string."""
        if not text.isprintable():
            text = "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text)
        return super().render_str(text, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the command line to end quietly."""
        raise BrokenPipeError


def console() -> Console:
    """Return a console as wide as the terminal; where standard output is none, lines of text are not wrapped."""
    piped = not sys.stdout.isatty()
    columns = os.environ.get("COLUMNS", "")
    width = (int(columns) if columns.isdigit() and int(columns) else _PIPE_COLUMNS) if piped else None
    return _LiteralConsole(width=width, highlight=False, markup=False, emoji=False, soft_wrap=piped)


def say(*lines: str) -> None:
    """Print lines of text."""
    for line in lines:
        console().print(line)


def explain(*paragraphs: str, indent: int = 0) -> None:
    """Print prose, wrapped between words."""
    for paragraph in paragraphs:
        _show(Padding(console().render_str(paragraph), (0, 0, 0, indent), expand=False))


def caution(*lines: str) -> None:
    """Print lines to standard error, as warnings are printed: they stay out of tables that are read by programs."""
    for line in lines:
        print(f"capsmodel: {line}", file=sys.stderr)


def _show(shape: RenderableType) -> None:
    """Print what has a width, without the blanks that fill its lines."""
    target = console()
    with target.capture() as captured:
        target.print(shape, soft_wrap=False)
    for line in captured.get().splitlines() or [""]:
        sys.stdout.write(f"{line.rstrip()}\n")


def print_table(
    rows: Sequence[Row], *, columns: Sequence[Column] | None = None, title: str = "", output: Output = AS_TEXT
) -> None:
    """Print `rows` as a table, JSON or CSV.

    Parameters
    ----------
    rows : sequence of mapping
        All with the same keys, each naming its unit. JSON and CSV hold them all, a table its columns.
    columns : sequence of Column, optional
        What people see; each key in words when left out.
    title : str
        Above the table.
    output : Output
        The form.

    Notes
    -----
    What does not apply (NaN) is null in JSON and an empty cell in CSV. What is infinite is null in JSON too, which has
    no word for it, and inf in CSV.
    """
    if output.json:
        print(json.dumps([_finite(row) for row in rows], indent=2, allow_nan=False))
    elif output.csv:
        sys.stdout.write(csv_text(rows))
    else:
        shown = columns_of(rows) if columns is None else columns
        if title:
            console().print(title, style="bold", soft_wrap=False)
        _show(laid_out(rows, shown, width=console().width))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csv_text(rows: Sequence[Row]) -> str:
    """Return rows as comma-separated values, an empty cell for what does not apply."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if _is_nan(value) else value for name, value in row.items()} for row in rows)
    return text.getvalue()


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


_MARKUP = re.compile(r"(?::\w+:)?`+~?([^`]*)`+")


def without_markup(text: str) -> str:
    """Return a docstring's text without the marks of roles and code.

    Examples
    --------
    >>> without_markup("as :func:`~capsmodel.cite` says, ``caps``")
    'as capsmodel.cite says, caps'
    """
    return _MARKUP.sub(r"\1", text)


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
