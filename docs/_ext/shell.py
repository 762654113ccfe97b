"""Files, commands and Python of a page, run when the site is built: what stands below each is what it prints today.

``{file}`` shows a file and writes it to the folder of its page; ``{shell}`` shows commands with what they print, run
one after another in that folder; ``{python}`` shows a block with its last value, run in one kernel for the page, in the
same folder. One that fails is a warning, which ends the build.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from docutils import nodes
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)

COLUMNS = 88
BLOCK_S = 300
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


class Python(InFolder):
    """A block of Python, and its last value; names live as long as the page."""

    def run(self) -> list[nodes.Node]:
        """Return the block, and below it the value of its last expression."""
        text = "\n".join(self.content)
        values: list[str] = []
        reply = self.kernel.execute_interactive(
            text, store_history=False, timeout=BLOCK_S, output_hook=lambda message: values.extend(value_of(message))
        )["content"]
        if reply["status"] != "ok":
            logger.warning("%s: %s", reply["ename"], reply["evalue"], location=self.get_location())
        shown = [nodes.literal_block(value, value, language="text") for value in values]
        return [nodes.literal_block(text, text, language="python"), *shown]

    @property
    def kernel(self) -> BlockingKernelClient:
        """The kernel of the page; started for its first block."""
        kernels = kernels_of(self.env)
        if not kernels:
            kernels.append(start_new_kernel(kernel_name="python3", cwd=str(self.folder), stderr=subprocess.DEVNULL))
        return kernels[0][1]


def kernels_of(env: BuildEnvironment) -> list[tuple[KernelManager, BlockingKernelClient]]:
    """Return the kernel of the page that is being read, in a list that is empty until a block asks for it."""
    found: list[tuple[KernelManager, BlockingKernelClient]] = env.temp_data.setdefault("kernels", [])
    return found


def value_of(message: dict[str, Any]) -> list[str]:
    """Return the value that a message of a kernel shows, as text; nothing for other messages."""
    return [message["content"]["data"]["text/plain"]] if message["msg_type"] == "execute_result" else []


def end_kernel(app: Sphinx, doctree: nodes.document) -> None:
    """End the kernel of a page that has been read."""
    for manager, client in kernels_of(app.env):
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("file", File)
    app.add_directive("shell", Shell)
    app.add_directive("python", Python)
    app.connect("doctree-read", end_kernel)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
