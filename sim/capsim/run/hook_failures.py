"""Errors of one's own hooks while they run: the line and the error, in place of a traceback.

An error ends the run; if a hook was being called, its frame is in the traceback. The reference engine refuses an answer
that is no whole number, as the compiler does. What a hook writes it does not check. What is an error of the simulator
stays one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, wraps
from itertools import dropwhile
from traceback import walk_tb
from types import FrameType
from typing import Any

from capsim.base.bounds import shortened
from capsim.engines import run
from capsim.engines.state import RawRecords, Setup
from capsim.roles.components import Scheme, Stack
from capsim.roles.hooks import HOOKS, HOST_ROLES, NETWORK_ROLES, Hook, hooks_of, is_own
from capsim.run.hook_calls import place, place_of
from capsim.run.hook_errors import hooks_in, missing_field
from capsmodel.checks import ParameterError


def run_hooks(setup: Setup, *, engine: str, progress: Callable[[int], None] | None = None) -> RawRecords:
    """Run `setup` as :func:`capsim.engines.run` does; what a hook of one's own fails by is reported in one line.

    Raises
    ------
    ParameterError
        If such a hook raises an error or returns no number, or a fault of the run is found.
    """
    schemes = (setup.scheme, *setup.entry_schemes.values())
    own = [hook for scheme in schemes for hook in hooks_in(scheme) if is_own(hook)]
    checked = _with_checked_answers(setup) if own and engine == "reference" else setup
    with _hook_failures(own, schemes):
        return run(checked, engine=engine, progress=progress)


@contextmanager
def _hook_failures(own: list[Hook], schemes: Sequence[Scheme]) -> Iterator[None]:
    try:
        yield
    except ParameterError:
        raise
    except (Exception, SystemExit) as error:  # whatever a user's hook raises is reported in one line
        text = _described(error, own, schemes)
        if not text:
            raise
        raise ParameterError(text) from error


def _described(error: BaseException | None, own: list[Hook], schemes: Sequence[Scheme]) -> str:
    """Return where a hook failed, and by what; empty if none was being called."""
    codes = {hook.__code__ for hook in own}
    while error is not None:
        frames = list(dropwhile(lambda each: each[0].f_code not in codes, walk_tb(error.__traceback__)))
        if frames:
            return _text(error, frames, own, schemes)
        error = error.__cause__  # SimPy raises an error of a process anew, without its frames
    return ""


def _text(error: BaseException, frames: list[tuple[FrameType, int]], own: list[Hook], schemes: Sequence[Scheme]) -> str:
    """Return the line where the error is: that of the innermost frame in a file of a hook; the first is the hook's."""
    of_record = isinstance(error, AttributeError) and hasattr(type(error.obj), "__slots__")
    if of_record and (text := missing_field(str(getattr(error, "name", "")), schemes)):
        return text
    files = {hook.__code__.co_filename for hook in own}
    file, line = [(frame.f_code.co_filename, at) for frame, at in frames if frame.f_code.co_filename in files][-1]
    text = " ".join(str(error).split()) or "no text"
    return f"{place(file, line)}: {type(error).__name__} in {frames[0][0].f_code.co_name}: {text}"


def _with_checked_answers(setup: Setup) -> Setup:
    others = {entry: _checked_scheme(scheme) for entry, scheme in setup.entry_schemes.items()}
    return replace(setup, scheme=_checked_scheme(setup.scheme), entry_schemes=others)


def _checked_scheme(scheme: Scheme) -> Scheme:
    parts = {role: _checked_component(getattr(scheme, role)) for role in NETWORK_ROLES}
    return replace(scheme, short=_checked_stack(scheme.short), long=_checked_stack(scheme.long), **parts)


def _checked_stack(stack: Stack) -> Stack:
    return replace(stack, **{role: _checked_component(getattr(stack, role)) for role in HOST_ROLES})


def _checked_component(component: Any) -> Any:
    hooks = {name: getattr(component, name) for name in hooks_of(component.role)}
    return replace(component, **{name: _checked(name, hook) for name, hook in hooks.items() if hook and is_own(hook)})


@cache  # equal stacks stay equal
def _checked(name: str, hook: Hook) -> Hook:
    """Return `hook`, the hook called `name`, refusing an answer that is no whole number."""

    @wraps(hook)
    def checked(*arguments: Any) -> int:
        answer = hook(*arguments)
        if hasattr(answer, "__index__"):
            return answer
        shown = repr(answer) if isinstance(answer, float) else shortened(answer)
        wanted = f"{name} returns a whole number: {HOOKS[name].returns}"
        raise ParameterError(f"{place_of(hook)}: {hook.__name__} returned {shown}, but {wanted}")

    return checked
