"""The reference of commands: what ``--help`` prints for each of them."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

from cyclopts import App
from docutils import nodes
from generated import Generated, section
from rich.console import Console
from sphinx.application import Sphinx

from capsmodel.cli import app as capsmodel

COLUMNS = 88


def commands(app: App, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command, without flags such as ``--help``."""
    for name in app:
        if not name.startswith("-"):
            yield (*before, name)
            if inner := list(commands(app[name], (*before, name))):
                yield from inner


def help_of(words: tuple[str, ...]) -> str:
    """Return what a command prints for ``--help``."""
    printed = io.StringIO()
    capsmodel.help_print(list(words), console=Console(file=printed, width=COLUMNS, color_system=None))
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines()).strip()


class Commands(Generated):
    """``.. commands::``: a section for each command."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the sections."""
        for words in commands(capsmodel):
            name = " ".join(("capsmodel", *words))
            yield section(name, name, [nodes.literal_block("", help_of(words), language="text")])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
