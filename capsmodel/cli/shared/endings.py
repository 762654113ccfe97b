"""The end of a command: a line for each error, quiet for a reader that has gone, cleaned up when it is stopped."""

import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from cyclopts import CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError

# What to do about an error of the operating system; _LOOK for those that are not named.
_REMEDIES = {
    errno.ENOSPC: "free some space, or name a place on another disk",
    errno.EROFS: "name a place that can be written to",
    errno.EACCES: "name a place that you may use",
    errno.EPERM: "name a place that you may use",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ENODEV: "name a file",
    errno.ENOENT: "check its name and folder",
}
_LOOK = "check the name and the disk"
# Errors of the command line whose texts say what is wrong and no more.
_WITHOUT_REMEDY = (MissingArgumentError, UnknownOptionError, UnusedCliTokensError)
# A longer line keeps its two ends, where the argument and the remedy are.
_LINE_CHARACTERS = 600


def fail(*texts: str) -> NoReturn:
    """Print each of `texts` as one line and end with status 2."""
    for text in texts:
        line = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in " ".join(text.split()))
        if len(line) > _LINE_CHARACTERS:
            line = f"{line[: _LINE_CHARACTERS // 2]} ... {line[-_LINE_CHARACTERS // 2 :]}"
        print(f"capsmodel: {line}", file=sys.stderr)
    raise SystemExit(2)


def misused(error: CycloptsError) -> str:
    """Return what is wrong with a command line and what to do: the nearest name, or the help of the command."""
    text = str(error)
    if isinstance(error, UnusedCliTokensError):
        text = f"unexpected argument {' '.join(error.unused_tokens or ())}"
    if not isinstance(error, _WITHOUT_REMEDY) or "Did you mean" in text:
        return text
    return f"{text.rstrip('.')}: {' '.join(['capsmodel', *(error.command_chain or ())])} --help shows what it takes"


def described(error: OSError) -> str:
    """Return what the operating system refused, where, and what to do about it."""
    if error.errno is None:  # raised by the package, with a text of its own
        return str(error)
    name = error.filename2 or error.filename  # of a renaming the target, which the user named
    place = "" if name is None else f"{name}: "
    return f"{place}{error.strerror}: {_REMEDIES.get(error.errno, _LOOK)}"


def print_what_any_terminal_can() -> None:
    """Escape what the encoding of the terminal lacks, in place of failing after the work is done."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print warnings as errors are printed, without the place in the code."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print(f"capsmodel: {' '.join(str(message).split())}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


class _StoppedBySignal(BaseException):
    """A signal other than that of Ctrl-C has come; a file of a user may raise SystemExit itself."""


@contextmanager
def ended_like_an_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does: its processes stop, its half-written files vanish."""

    def stop(number: int, _: object) -> NoReturn:
        raise _StoppedBySignal(number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    free = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        free = []  # only the main thread may set them
    for number in free:
        signal.signal(number, stop)
    try:
        yield
    except _StoppedBySignal as signalled:
        raise SystemExit(128 + signalled.args[0]) from None
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)


def give_up_output() -> None:
    """Send what standard output does not take to nowhere, or Python complains once more when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
