"""Functions that Python runs as they stand until that was as much work as it is to load the compiler.

Numba takes as long to load as the whole package. A command that needs a few numbers never loads it; a loop over a
million points does, and the next process finds the machine code on disk.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import FunctionType
from typing import Any


class CompiledLater:
    """Compiles functions that call each other, once they are called often enough in a process.

    Parameters
    ----------
    functions : iterable of function
        At the top level of a module; they use each other, constants, `math` and NumPy.
    scope : mapping
        The names of that module.
    """

    def __init__(self, functions: Iterable[Any], scope: Mapping[str, Any]) -> None:
        self._functions, self._scope, self._steps = tuple(functions), scope, 0.0

    def pays(self, steps: float, *, most: float) -> bool:
        """Return whether more than `most` steps were asked for in this process, with `steps` that now begin."""
        self._steps += steps
        return self._steps > most

    def run(self, function: Any, *arguments: Any) -> Any:
        """Call one of the functions compiled; the first compilation is reported to somebody who watches."""
        from capsmodel._compilation import first_use_reported

        with first_use_reported():
            return self._compiled[function.__name__](*arguments)

    @cached_property
    def _compiled(self) -> dict[str, Any]:
        """The names of the module, with the functions compiled in place of those that Python runs."""
        from capsmodel._compilation import jit

        scope = dict(self._scope)
        for function in self._functions:
            scope[function.__name__] = jit(FunctionType(function.__code__, scope, function.__name__))
        return scope
