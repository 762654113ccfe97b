"""The gallery: figures and studies of the papers, drawn when the site is built, as ``capsmodel gallery`` does.

``{drawn} module`` shows what `draw` of a module of the tests draws from kept rows; its content is the text for those
who do not see it.
"""

from collections.abc import Iterable, Iterator
from html import escape
from importlib import import_module
from typing import Any

from docutils import nodes
from generated import Cell, Generated, code, command, link, section, stacked, table
from sphinx.application import Sphinx

from capsmodel import papers
from capsmodel.cli.shared.claim_texts import claim_text
from capsmodel.papers import ClaimRow, gallery
from capsmodel.papers.claim_list import PAPER_KEYS
from capsmodel.papers.gallery import Picture


class Gallery(Generated):
    """``.. gallery:: caps``: pictures of a paper, with choices and verdicts; without a paper, all pictures, small."""

    def content_nodes(self, paper: str = "") -> Iterable[nodes.Node]:
        """Yield how to read the pictures with small ones of all, or those of a paper."""
        if paper:
            yield from self.of_paper(paper)
        else:
            yield nodes.paragraph("", gallery.HOW_IT_IS_MADE)
            yield nodes.paragraph("", gallery.HOW_TO_READ)
            for key in PAPER_KEYS:
                yield self.thumbnails(key)

    def thumbnails(self, paper: str) -> nodes.raw:
        """Return the pictures of a paper, small, each a link to its place; its own page writes the files."""
        up = "../" * self.env.docname.count("/")
        links = [
            f'<a href="gallery_{paper}.html#{nodes.make_id(self.name_of(one))}" title="{escape(one.title)}">'
            f'<img src="{up}_images/{one.name}.svg" alt="{escape(one.title)}" loading="lazy">{one.name}</a>'
            for one in gallery.pictures(paper)
        ]
        return nodes.raw("", f'<div class="thumbnails">{"".join(links)}</div>', format="html")

    def of_paper(self, paper: str) -> Iterator[nodes.Node]:
        """Yield an overview and a section for each picture."""
        yield nodes.paragraph("", papers.cite(paper, style="text"))
        found = gallery.pictures(paper)
        rows = [[link(one.name, self.name_of(one)), one.title, str(len(one.claims))] for one in found]
        yield table(("picture", "what it shows", "claims"), rows)
        yield from (section(one.name, self.name_of(one), self.one(one)) for one in found)

    def name_of(self, picture: Picture) -> str:
        """Return what links to a picture end with."""
        return f"picture {picture.name}"

    def one(self, picture: Picture) -> Iterator[nodes.Node]:
        """Yield a drawing, its command, its choices and its claims."""
        name = self.name_of(picture)
        domain = self.env.domains.standard_domain
        domain.note_hyperlink_target(name, self.env.docname, nodes.make_id(name), picture.name)
        yield nodes.paragraph("", picture.title)
        yield self.picture(picture.name, picture.title, picture.draw)
        yield command(picture.command)
        yield from self.rst(picture.choices)
        yield table(("claim and verdict", "what the paper says, and what we have"), map(self.cells, picture.claims))

    def cells(self, row: ClaimRow) -> list[Cell]:
        """Return the row of a claim."""
        settings = row.entry.in_other_settings
        said = claim_text(row.claim, row.entry) + ([f"In other settings: {settings}."] if settings else [])
        return [stacked(code(row.claim.id), row.entry.verdict), stacked(*said)]


class Drawn(Generated):
    """``.. drawn:: agreement.measured.prediction_map``: the figure that a module of the tests draws."""

    has_content = True

    def content_nodes(self, name: str) -> Iterable[nodes.Node]:
        """Yield the picture."""
        yield self.picture(name.rpartition(".")[2], " ".join(self.content), import_module(name).draw)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("gallery", Gallery)
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
