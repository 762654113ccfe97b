"""Files that the commands of ``capsmodel codec`` read and write, and their errors."""

import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, ParamSpec

from cyclopts import Parameter

from capsmodel._compilation import first_use_reported
from capsmodel._files import file_to_write, opened
from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.endings import described
from capsmodel.codec.inputs import CodecError

Arguments = ParamSpec("Arguments")
PIPE = Path("-")  # standard input or output
Input = Annotated[Path, Parameter(allow_leading_hyphen=True)]
Target = Annotated[Path | None, Parameter(name=["--out", "-o"], allow_leading_hyphen=True)]


def one_line(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Turn what the codec and the file system refuse into the one line that is printed; report a first compilation."""

    @functools.wraps(command)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            with first_use_reported():
                command(*args, **kwargs)
        except CodecError as error:
            raise ParameterError(str(error)) from None
        except BrokenPipeError:  # the reader has gone, which is no error
            raise
        except OSError as error:
            place = "" if error.filename else "writing the result failed: "
            raise ParameterError(f"{place}{described(error)}") from None

    return checked


def beside(file: Path, suffix: str) -> Path:
    """Return the file to write when none is named: that of the same name with another end."""
    require(not file.is_dir(), f"{file} is a folder: give a file")
    return PIPE if file == PIPE else file.with_name(file.name + suffix)


def target_of(out: Path | None, default: Path, source: Path, force: bool) -> Path:
    """Return the file to write, which must not be the source, a folder, nor, without --force, exist."""
    target = out or default
    if target == PIPE:
        return target
    require(not target.is_dir(), f"{target} is a folder: choose a file with --out")
    is_input = str(file_to_write(target)) == os.path.realpath(source)
    require(not is_input, f"{target} is the input: choose another file with --out")
    require(force or not target.exists(), f"{target} exists: choose another file with --out, or --force to replace it")
    return target


@contextmanager
def readable(file: Path) -> Iterator[Path]:
    """Give the file to read: itself, or a copy of what comes through a pipe or, when it is ``-``, standard input."""
    if file != PIPE and not file.is_fifo():
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="capsmodel-") as folder:
        copy = Path(folder) / "stdin"
        with copy.open("wb") as target, nullcontext(sys.stdin.buffer) if file == PIPE else opened(file) as source:
            shutil.copyfileobj(source, target)
        yield copy


@contextmanager
def writable(target: Path) -> Iterator[Path]:
    """Give the file to write: itself, or one that is copied to standard output when it is whole."""
    if target != PIPE:
        yield target
        return
    with tempfile.TemporaryDirectory(prefix="capsmodel-") as folder:
        result = Path(folder) / "stdout"
        yield result
        with result.open("rb") as source:
            shutil.copyfileobj(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()  # before it is told to be written: the reader may have gone


def say(text: str, target: Path) -> None:
    """Print a line about the result: on standard error when the result itself goes to standard output."""
    print(text, file=sys.stderr if target == PIPE else sys.stdout)
