"""The mark of functions that hooks call."""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Mark `function` as one that hooks call; the compiled engine compiles it with them."""
    function.capsim_inlined = True  # type: ignore[attr-defined]  # functions take attributes, Callable does not say so
    return function


def is_marked(value: Any) -> bool:
    """Return whether `value` is a function marked :func:`inlined`."""
    return getattr(value, "capsim_inlined", False) is True
