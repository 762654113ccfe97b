"""Commands of a page, run when the site is built: what stands below each is what it prints today.

``{file}`` shows a file and writes it to the folder of its page; ``{shell}`` shows commands with what they print, run
one after another in that folder. ``tests/guides/test_guides.py`` runs the same blocks.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

COLUMNS = 88
LANGUAGES = {".py": "python", ".toml": "toml"}


class InFolder(SphinxDirective):
    """A directive of a page that has a folder of its own while it is read."""

    has_content = True

    @property
    def folder(self) -> Path:
        """The folder; made when the first block of the page asks for it."""
        self.env.note_reread()  # what commands print changes with the package, not with the page
        folders: dict[str, Path] = self.env.temp_data.setdefault("shell folder", {})
        if self.env.docname not in folders:
            folders[self.env.docname] = Path(mkdtemp(dir=self.env.doctreedir))
        return folders[self.env.docname]


class File(InFolder):
    """A file that the commands of the page read; its name is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the file and return its text, its name above."""
        name, text = self.arguments[0], "\n".join(self.content)
        (self.folder / name).write_text(f"{text}\n", encoding="utf-8")
        block = nodes.literal_block(text, text, language=LANGUAGES.get(Path(name).suffix, "text"))
        caption = nodes.caption("", "", nodes.literal("", name))
        return [nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper"])]


class Shell(InFolder):
    """Commands, one a line, and what they print."""

    def run(self) -> list[nodes.Node]:
        """Return the commands with their output."""
        shown = "\n".join(f"$ {line}\n{self.output(line)}" for line in self.content).rstrip()
        return [nodes.literal_block(shown, shown, language="console")]

    def output(self, line: str) -> str:
        """Return what a command prints; that it fails is a warning, which ends the build."""
        program, *arguments = shlex.split(line)
        start = {"python": [sys.executable], "capsmodel": [sys.executable, "-m", program]}.get(program, [program])
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # scripts call capsmodel
        settings = {**os.environ, "PATH": programs, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
        done = subprocess.run([*start, *arguments], cwd=self.folder, env=settings, capture_output=True, text=True)
        if done.returncode:
            logger.warning("%s: exit status %d: %s", line, done.returncode, done.stderr, location=self.get_location())
        return "".join(f"{printed.rstrip()}\n" for printed in done.stdout.splitlines() if printed.strip())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("file", File)
    app.add_directive("shell", Shell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
