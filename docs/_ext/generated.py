"""What all generated pages use: tables and sections made from the registries when the site is built."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from kept import kept, key_of
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from capsmodel.plotting import svg_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

logger = logging.getLogger(__name__)

Cell = str | nodes.Node | Sequence[nodes.Node]


def paragraph(cell: Cell) -> nodes.Node:
    """Return what stands in a cell as a paragraph; a string is written as it is, whatever characters it holds."""
    if isinstance(cell, nodes.Body) and not isinstance(cell, nodes.Inline):
        return cell
    return nodes.paragraph("", cell) if isinstance(cell, str) else nodes.paragraph("", "", *_inline(cell))


def _inline(cell: nodes.Node | Sequence[nodes.Node]) -> Sequence[nodes.Node]:
    return [cell] if isinstance(cell, nodes.Node) else cell


def stacked(*cells: Cell) -> nodes.container:
    """Return a cell of several paragraphs, without the empty ones."""
    return nodes.container("", *(paragraph(cell) for cell in cells if cell))


def row(cells: Iterable[Cell]) -> nodes.row:
    """Return a row of a table."""
    return nodes.row("", *(nodes.entry("", *([paragraph(cell)] if cell else [])) for cell in cells))


def number(value: float) -> str:
    """Return a number of a range, whole ones in full.

    Examples
    --------
    >>> number(2**30), number(1e-6), number(4500.0)
    ('1,073,741,824', '1e-06', '4500')
    """
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else f"{value:g}"


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]], *, kind: str = "") -> nodes.table:
    """Return a table with a row of heads; `kind` names its style (`docs/_static/site.css`).

    On a small screen the cells of a wide one stand below each other, each below its head.
    """
    if kind == "wide":
        rows = [
            [
                cell and stacked(nodes.inline("", head, classes=["head"]), cell)
                for head, cell in zip(heads, cells, strict=True)
            ]
            for cells in rows
        ]
    group = nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=1) for _ in heads]
    group += nodes.thead("", row(heads))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group, classes=["generated", *([kind] if kind else [])])


def section(title: str, name: str, content: Iterable[nodes.Node]) -> nodes.section:
    """Return a section; `name` is what links to it end with."""
    return nodes.section("", nodes.title("", title), *content, ids=[nodes.make_id(name)])


def link(text: str, name: str) -> nodes.reference:
    """Return a link to a section of the same page."""
    return nodes.reference("", "", nodes.literal("", text), internal=True, refid=nodes.make_id(name))


def code(text: str) -> nodes.literal:
    """Return text as code."""
    return nodes.literal("", text)


def command(line: str) -> nodes.literal_block:
    """Return a command as one types it."""
    return nodes.literal_block("", f"$ {line}", language="console")


class Generated(SphinxDirective):
    """A directive that writes its content from what the packages hold."""

    optional_arguments = 1

    def rst(self, text: str) -> list[nodes.Node]:
        """Return the paragraphs of a docstring."""
        return self.parse_text_to_nodes(inspect.cleandoc(text))

    def inline(self, text: str) -> list[nodes.Node]:
        """Return one paragraph of a docstring, without the paragraph around it."""
        return self.parse_inline(" ".join(text.split()))[0]

    def meaning(self, texts: Mapping[str, str], name: str, owner: type) -> list[nodes.Node]:
        """Return what a docstring says about a parameter; that it says nothing is a warning, which ends the build."""
        if not texts.get(name):
            logger.warning("%s: its docstring does not explain %s", owner.__name__, name)
        return self.inline(texts.get(name, ""))

    def run(self) -> list[nodes.Node]:
        """Return the content, and read the page anew in each build: no file of the source tells when it changes."""
        self.env.note_reread()
        return list(self.content_nodes(*self.arguments))

    def picture(self, name: str, title: str, draw: "Callable[[], Figure]") -> nodes.raw:
        """Write a figure into the pages and show it; on a small screen one opens it. It is drawn if none is kept."""
        target = Path(self.env.app.outdir) / "_images" / f"{name}.svg"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(kept(self.env.app, f"{key_of(name)}.svg", lambda: svg_bytes(draw())))
        source = "../" * self.env.docname.count("/") + f"_images/{target.name}"
        image = f'<img class="figure" src="{source}" alt="{escape(title)}" loading="lazy">'
        return nodes.raw("", f'<a href="{source}">{image}</a>', format="html")

    def content_nodes(self, *arguments: Any) -> Iterable[nodes.Node]:
        """Yield what stands in the place of the directive."""
        raise NotImplementedError
