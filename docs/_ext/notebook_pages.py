"""Pages of notebooks open with their first picture: what one will understand at the end stands at the beginning."""

from docutils import nodes
from sphinx.application import Sphinx


def open_with_picture(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Put the first picture that a notebook draws below its title."""
    if not name.startswith("notebooks/"):
        return
    picture = next(doctree.findall(nodes.image), None)
    title = next(doctree.findall(nodes.title), None)
    if picture is not None and title is not None:
        opening = picture.deepcopy()
        opening["classes"] = ["opening"]
        title.parent.insert(title.parent.index(title) + 1, opening)


def setup(app: Sphinx) -> dict[str, object]:
    """Look at pages when their outputs have been chosen."""
    app.connect("doctree-resolved", open_with_picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
