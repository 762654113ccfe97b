"""Files, commands and Python of a page, run when the site is built: what stands below each is what it prints today.

``{file}`` shows a file and writes it to the folder of its page; ``{shell}`` shows commands with what they print, run
one after another in that folder; ``{python}`` shows a block with its last value, in the same folder, where names live
as long as the page. One that fails is a warning, which ends the build.

What a block showed is kept (:mod:`kept`) under its text and that of all blocks before it. If it is not there, all
blocks before it run too: it may read what they wrote.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from docutils import nodes
from forked import Session, run_command, warm_up
from kept import kept, key_of
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

LANGUAGES = {".py": "python", ".toml": "toml"}
SETTINGS = {
    "COLUMNS": "88",
    "NO_COLOR": "1",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",  # scripts call capsmodel
}


class BlockError(Exception):
    """A block that ends with an error."""


class Page:
    """The blocks of a page, and the folder in which they run."""

    def __init__(self, app: Sphinx) -> None:
        self._app = app
        self._texts: list[str] = []
        self._waiting: list[Callable[[], object]] = []
        self._folder: Path | None = None
        self._session: Session | None = None

    @property
    def folder(self) -> Path:
        """The folder; made for the first block that runs."""
        if self._folder is None:
            self._folder = Path(mkdtemp(dir=self._app.doctreedir))
        return self._folder

    @property
    def session(self) -> Session:
        """The interpreter; started for the first block of Python that runs."""
        if self._session is None:
            self._session = Session(self.folder)
        return self._session

    def later(self, text: str, act: Callable[[], object]) -> None:
        """Note a block that runs when one after it does."""
        self._texts.append(text)
        self._waiting.append(act)

    def shown(self, text: str, act: Callable[[], str]) -> str:
        """Return what a block shows: what is kept, or what it shows when it runs, after those that wait."""
        self.later(text, act)
        return json.loads(kept(self._app, f"{key_of(*self._texts)}.json", self._run))

    def _run(self) -> bytes:
        waiting, self._waiting = self._waiting, []
        *_, last = [act() for act in waiting]
        return json.dumps(last).encode()

    def end(self) -> None:
        """End the interpreter and remove the folder."""
        if self._session is not None:
            self._session.end()
        if self._folder is not None:
            rmtree(self._folder)


class Block(SphinxDirective):
    """A block of a page."""

    has_content = True

    @property
    def page(self) -> Page:
        """The page, for as long as it is read."""
        self.env.note_reread()  # what commands print changes with the package, not with the page
        page: Page = self.env.temp_data.setdefault("page of blocks", Page(self.env.app))
        return page

    def shown(self, text: str, act: Callable[[], str]) -> str:
        """Return what a block shows; that it fails is a warning, which ends the build."""
        try:
            return self.page.shown(text, act)
        except BlockError as error:
            logger.warning("%s", error, location=self.get_location())
            return ""


class File(Block):
    """A file that the commands of the page read; its name is the argument."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the text, its name above; the file is written before a command runs."""
        name, text = self.arguments[0], "\n".join(self.content)
        page = self.page
        page.later(f"{name}\n{text}", lambda: (page.folder / name).write_text(f"{text}\n", encoding="utf-8"))
        block = nodes.literal_block(text, text, language=LANGUAGES.get(Path(name).suffix, "text"))
        caption = nodes.caption("", "", nodes.literal("", name))
        return [nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper"])]


class Shell(Block):
    """Commands, one a line, and what they print."""

    def run(self) -> list[nodes.Node]:
        """Return the commands with their output."""
        shown = "\n".join(f"$ {line}\n{self.shown(f'$ {line}', partial(self.output, line))}" for line in self.content)
        return [nodes.literal_block(shown.rstrip(), shown.rstrip(), language="console")]

    def output(self, line: str) -> str:
        """Return what a command prints."""
        program, *arguments = shlex.split(line)
        if program == "capsmodel":
            status, out, err = run_command(arguments, self.page.folder, SETTINGS)
        else:
            status, out, err = _run_program(program, arguments, self.page.folder)
        if status:
            raise BlockError(f"{line}: exit status {status}: {err}")
        return "".join(f"{printed.rstrip()}\n" for printed in out.splitlines() if printed.strip())


def _run_program(program: str, arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Return exit status, output and errors of another program, such as a script."""
    start = sys.executable if program == "python" else program
    done = subprocess.run([start, *arguments], cwd=folder, env=os.environ | SETTINGS, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Python(Block):
    """A block of Python, and its last value."""

    def run(self) -> list[nodes.Node]:
        """Return the block, and below it the value of its last expression."""
        text = "\n".join(self.content)
        shown = [nodes.literal_block(text, text, language="python")]
        if value := self.shown(text, partial(self.value, text)):
            shown.append(nodes.literal_block(value, value, language="text"))
        return shown

    def value(self, text: str) -> str:
        """Return the last value of the block as text; empty if it has none."""
        value, error = self.page.session.run(text)
        if error:
            raise BlockError(error)
        return value or ""


def end_page(app: Sphinx, doctree: nodes.document) -> None:
    """End what the blocks of a page that has been read left running."""
    if page := app.env.temp_data.pop("page of blocks", None):
        page.end()


def setup(app: Sphinx) -> dict[str, object]:
    """Register the directives."""
    app.add_directive("file", File)
    app.add_directive("shell", Shell)
    app.add_directive("python", Python)
    app.connect("env-before-read-docs", lambda app, env, names: warm_up() if names else None)
    app.connect("doctree-read", end_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
