"""The page of the tour: one HTML file without scripts, its figures inside."""

from collections.abc import Mapping, Sequence

from capsmodel.cli._pages import template
from capsmodel.cli.tour.section import Section


def page(sections: Mapping[str, Section], *, pngs: Mapping[str, bytes], note: str, files: Sequence[str]) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    sections : mapping of str to Section
        By name of the part, in the order of the page.
    pngs : mapping of str to bytes
        Images by the figure's name.
    note : str
        Sentence at the top, such as how long the computation took.
    files : sequence of str
        Other files in the page's folder, named at the bottom.
    """
    return template("tour.html")(title="the tour", sections=sections, pngs=pngs, note=note, files=files)
