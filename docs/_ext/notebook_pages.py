"""Pictures of notebooks: each page of one opens with its first picture, and other pages show them by their number."""

import base64
import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

OUT = Path("out", "pictures")  # within the source folder, where Sphinx looks for images


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


class PictureOf(SphinxDirective):
    """A picture of a notebook by its number, from 1: ``picture-of`` NOTEBOOK NUMBER, and its caption below."""

    required_arguments = 2
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write the picture where Sphinx finds it, and show it."""
        name, number = self.arguments
        source = Path(self.env.srcdir, "notebooks", f"{name}.ipynb")
        self.env.note_dependency(str(source))
        alt, data = pictures(source)[int(number) - 1]
        target = Path(self.env.srcdir, OUT, f"{name}_{number}.png")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        caption = nodes.caption("", "", *self.state.inline_text(" ".join(self.content), self.lineno)[0])
        return [nodes.figure("", nodes.image(uri=f"/{OUT.as_posix()}/{target.name}", alt=alt), caption)]


def pictures(source: Path) -> list[tuple[str, bytes]]:
    """Return the pictures that a notebook has, with the text of each for those who do not see it."""
    found = []
    for cell in json.loads(source.read_text(encoding="utf-8"))["cells"]:
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        outputs = [
            output["data"]["image/png"] for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})
        ]
        found += [(alt, base64.b64decode(png)) for png in outputs]
    return found


def setup(app: Sphinx) -> dict[str, object]:
    """Look at pages when their outputs have been chosen, and register the directive."""
    app.connect("doctree-resolved", open_with_picture)
    app.add_directive("picture-of", PictureOf)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
