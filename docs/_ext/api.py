"""Pages of the API: every module of a package, as it is found on disk, and links that follow where a name is defined.

``.. modules:: capsmodel.coding`` writes a section for each module of the package. Modules whose name begins with an
underscore are among them: they are no public names, but docstrings refer to what they explain.
"""

import inspect
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective


def module_names(name: str) -> Iterator[str]:
    """Yield a module or package, then everything inside it by name."""
    yield name
    path = getattr(import_module(name), "__path__", None)
    for inner in sorted(iter_modules(path) if path else (), key=lambda found: (found.name[0] == "_", found.name)):
        if inner.name != "__main__":
            yield from module_names(f"{name}.{inner.name}")


def _section(name: str) -> str:
    """Return the reStructuredText of one module; a package shows what it defines, not what it passes on."""
    options = ["   :members:", "   :ignore-module-all:"]
    return "\n".join([name, "-" * len(name), "", f".. automodule:: {name}", *options, ""])


class Modules(SphinxDirective):
    """``.. modules:: name``: a section for each module of a package; ``:except:`` names some to leave out."""

    required_arguments = 1
    option_spec = {"except": str.split}  # noqa: RUF012  # docutils reads a plain dict

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        left_out = tuple(self.options.get("except", ()))
        names = [name for name in module_names(self.arguments[0]) if not name.startswith(left_out or ("-",))]
        return self.parse_text_to_nodes("\n".join(map(_section, names)), allow_section_headings=True)


class FrontDoor(SphinxDirective):
    """``.. front-door:: capsim``: what a package passes on, with the first line that each name is explained by."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the list; constants have no docstring and stand in that of the package."""
        module = import_module(self.arguments[0])
        found = {name: inspect.getdoc(getattr(module, name)) or "" for name in module.__all__}
        lines = [
            f"- :py:obj:`{name} <{_defined_name(module.__name__, name)}>`: {text.partition(chr(10))[0]}"
            for name, text in found.items()
            if hasattr(getattr(module, name), "__module__")
        ]
        return self.parse_text_to_nodes("\n".join(lines))


def _defined_name(module_name: str, target: str) -> str:
    """Return the full name under which what a docstring calls `target` is defined; empty if it is not there."""
    parts = target.split(".")
    starts = [(module_name, parts)] + [(".".join(parts[:i]), parts[i:]) for i in range(len(parts) - 1, 0, -1)]
    for start, rest in starts:
        try:
            found: Any = reduce(getattr, rest, import_module(start))
        except (ImportError, AttributeError, ValueError):
            continue
        return f"{found.__module__}.{found.__qualname__}" if hasattr(found, "__qualname__") else ""
    return ""


def link_where_defined(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.Element
) -> nodes.Element | None:
    """Resolve a name that a module has imported, as ``ParameterError`` in each *Raises*, to where it is defined."""
    if node.get("refdomain") != "py":
        return None
    name = _defined_name(node.get("py:module") or "", node["reftarget"])
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, text) if name else None


def keep_colons(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep napoleon from reading "Packets needed: at least k" above an attribute as a type and a text."""
    if what in ("attribute", "data", "property"):
        lines.insert(0, "")


def types_are_prose(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Write the type of an attribute ("array of uint8, shape (k, r)") as text: its words are no names to link."""
    for number, line in enumerate(lines):
        option, colon, kind = line.partition(":type: ")
        if colon and not option.strip():
            lines[number : number + 2] = ["", f"{option}*{kind}*", ""]


def leave_out_fields(app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object) -> bool | None:
    """Leave out what Python says about the fields of a named tuple; the docstring of its class says more."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and the resolver."""
    app.add_directive("modules", Modules)
    app.add_directive("front-door", FrontDoor)
    app.connect("autodoc-process-docstring", keep_colons, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", types_are_prose, priority=900)  # after it
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("missing-reference", link_where_defined)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
