"""Ends a run of the compiled engine when a hook of one's own raises an exception.

Machine code that is called by its address has nobody to raise to. Numba hands the exception to Python as one that
nobody can catch (``sys.unraisablehook``), and the hook returns 0.
"""

import sys
import threading
from types import TracebackType
from typing import Any, Self

from capsim.engines.faults import HOOK_RAISED
from capsim.engines.world import World
from capsmodel.checks import ParameterError


class HookExceptions:
    """Takes the first exception of the hooks of one run, and stops its loop; a context."""

    def __init__(self, world: World) -> None:
        self.world, self.raised = world, ""
        self.thread: int | None = None

    def __enter__(self) -> Self:
        """Stand before what takes such exceptions else."""
        self.before, sys.unraisablehook = sys.unraisablehook, self.take
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Step back, or pass on all, where another thread's run stands before this one."""
        self.thread = None
        if sys.unraisablehook == self.take:
            sys.unraisablehook = self.before

    def here(self) -> None:
        """Take those of the thread that calls."""
        self.thread = threading.get_ident()

    def take(self, unraisable: Any) -> None:
        """Keep the first exception of the loop, whose source is a text, and let the loop end; pass on any other."""
        if self.thread != threading.get_ident() or not isinstance(unraisable.object, str):
            self.before(unraisable)
            return
        text = " ".join(str(unraisable.exc_value).split()) or "no text"
        self.raised = self.raised or f"{unraisable.exc_type.__name__}: {text}"
        self.world.record["fault"] = HOOK_RAISED

    def error(self) -> ParameterError:
        """Return what ends the run."""
        remedy = 'the reference engine (--engine reference, engine="reference") names the line'
        return ParameterError(f"scheme {self.world.setup.scheme.name!r}: {self.raised} in a hook: {remedy}")
