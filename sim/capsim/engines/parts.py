"""How functions are compiled that only ever become part of another one: as far as LLVM's intermediate language.

Numba optimises every function that it compiles, with all functions that this one calls, and makes machine code of it,
though a part is optimised again, and made machine code of, with each function around it. The event loop has 190 parts
and compiles in 40% of the time without that, to code as fast. The methods below are private to Numba; a release that
calls them otherwise does that work again.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class PartLibrary(JITCodeLibrary):
    """The code of a part and of its own parts, to be linked into that of a whole, which is optimised."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """What is told the address of Python's globals, of which a part that is never run by itself has none."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Take the address and forget it."""


class PartCompiler(Compiler):
    """Numba's compiler without its last step, machine code."""

    def define_pipelines(self) -> Any:
        """Return Numba's steps, with another library to enter the code."""
        self.state.library = PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()
