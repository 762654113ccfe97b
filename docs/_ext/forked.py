"""Processes in which blocks of a page run: forks of this one, which has the packages imported and the engine compiled.

A command takes a tenth of a second in place of three, most of which a new interpreter needs to import NumPy, Numba and
pandas and to read the machine code of the engine. Python forks on Linux and macOS.
"""

import ast
import linecache
import os
import sys
import traceback
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from types import ModuleType
from typing import IO, NoReturn

from IPython.lib.pretty import pretty

from capsim import load_study
from capsmodel.cli import main
from capsmodel.plotting import svg_bytes

FORK = get_context("fork")


STUDY = """
scenario = "p64"
seeds = 2
[axes]
scheme = ["ecmp", "rps", "caps"]
[[panel]]
metric = "mean_fct_s"
x = "scheme"
"""


def warm_up() -> None:
    """Run and draw a small study, so that all forks have what its parts import, compile, and read of the sources."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "study.toml"
        file.write_text(STUDY, encoding="utf-8")
        svg_bytes(load_study(file).run(folder).plot())


def run_command(arguments: list[str], folder: Path, settings: Mapping[str, str]) -> tuple[int, str, str]:
    """Return exit status, output and errors of ``capsmodel``, called with these arguments in a folder."""
    with TemporaryFile() as out, TemporaryFile() as err:
        child = os.fork()
        if not child:
            _as_command(arguments, folder, settings, out, err)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return status, *(_text(file) for file in (out, err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _as_command(
    arguments: list[str], folder: Path, settings: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> NoReturn:
    """Be the command, and end; what the fork has copied of the build ends with it, unseen."""
    status = 1
    try:
        os.chdir(folder)
        os.environ.update(settings)
        for number, file in ((1, out), (2, err)):
            os.dup2(file.fileno(), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        sys.argv = ["capsmodel", *arguments]
        main(arguments)
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


class Session:
    """Python blocks that share their names, run one after another in a folder."""

    def __init__(self, folder: Path) -> None:
        self._ours, theirs = FORK.Pipe()
        self._process = FORK.Process(target=_as_session, args=(folder, theirs), daemon=False)
        self._process.start()
        theirs.close()

    def run(self, text: str) -> tuple[str | None, str]:
        """Return the last value of a block as text, if it has one, and its error, if it fails."""
        self._ours.send(text)
        return self._ours.recv()

    def end(self) -> None:
        """End the process."""
        self._ours.send(None)
        self._process.join()


def _as_session(folder: Path, pipe: Connection) -> None:
    """Be the interpreter, whose main module is its own."""
    os.chdir(folder)
    sys.path.insert(0, "")
    main_module = sys.modules["__main__"] = ModuleType("__main__")
    with Path(os.devnull).open("w", encoding="utf-8") as sys.stdout:
        for number, text in enumerate(iter(pipe.recv, None)):
            pipe.send(_value(text, f"<block {number}>", main_module.__dict__))


def _value(text: str, name: str, names: dict[str, object]) -> tuple[str | None, str]:
    """Run a block; its text is kept where the definitions in it are looked for."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    tree = ast.parse(text, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    try:
        exec(compile(tree, name, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), names)
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
    return None if value is None else pretty(value), ""
