"""The catalogue of schemes: components, all parameters with default and bounds, as the registry has them."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from enum import Enum
from importlib import import_module
from itertools import groupby
from typing import Any

from docutils import nodes
from generated import Cell, Generated, code, command, link, number, section, stacked, table
from sphinx.application import Sphinx

from capsim.base.bounds import NUMBER, Bound, param_bounds
from capsim.protocols import schemes as folder
from capsim.protocols.registry import NICS, built_in
from capsim.roles.catalogue import meanings_of
from capsim.roles.components import Scheme, parts_of
from capsim.roles.hooks import HOOKS, ROLES
from capsmodel import papers
from capsmodel.cli.schemes import in_groups


def shown(value: object) -> str:
    """Return a value as a scenario file has it."""
    if isinstance(value, Enum):
        return f'"{value.name.lower()}"'
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def allowed(value: object, bound: Bound) -> str:
    """Return which values a parameter takes."""
    if isinstance(value, Enum):
        return ", ".join(shown(member) for member in type(value))
    if isinstance(value, bool):
        return "true, false"
    if bound is NUMBER:
        return "at least 0"
    zero = "0 or " * bound.or_zero
    return f"{zero}{number(bound.least)} to {number(bound.largest)} {bound.unit}"


def names_of(params: Any) -> list[str]:
    """Return the names of parameters."""
    return [field.name for field in fields(params)]


def changed(params: Any) -> str:
    """Return the parameters that differ from the defaults of their kind."""
    own = {field.name: getattr(params, field.name) for field in fields(params)}
    return ", ".join(
        f"{field.name} = {shown(own[field.name])}" for field in fields(params) if own[field.name] != field.default
    )


def section_name(role: str, params: Any) -> str:
    """Return what links to the table of these parameters end with."""
    return f"{role} {type(params).__name__}"


class Schemes(Generated):
    """``.. schemes::``: an overview, then a section for each scheme."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield an overview of each group and the sections."""
        for title, schemes in in_groups(built_in()).items():
            yield nodes.paragraph("", "", nodes.strong("", title))
            yield table(("scheme", "summary", "made of"), map(self.overview, schemes))
        yield from map(self.one, built_in())

    def overview(self, scheme: Scheme) -> list[Cell]:
        """Return the row of a scheme; a component that not all flows have is named with the flows that have it."""
        names = (
            f"{part.name} ({flows})" if flows else part.name
            for role in ROLES
            for flows, part in parts_of(scheme, role).items()
        )
        made_of = ", ".join(name for name in names if name != "none")
        return [link(scheme.name, f"scheme {scheme.name}"), scheme.about, made_of]

    def one(self, scheme: Scheme) -> nodes.section:
        """Return the section of a scheme: what its module says, its components, where it comes from."""
        about = import_module(f"{folder.__name__}.{scheme.name}").__doc__ or ""
        keys = [paper.key for paper in papers.papers()]
        source = papers.cite(scheme.cite, style="text") if scheme.cite in keys else scheme.cite
        heads = ("role", "flows", "component", "values that differ from the defaults")
        content = [
            *self.rst(about),
            table(heads, [*self.components(scheme), *self.classes(scheme)]),
            nodes.paragraph("", f"Source: {source.rstrip('.')}."),
            command(f"capsmodel simulate websearch-load-60 --scheme {scheme.name}"),
        ]
        return section(scheme.name, f"scheme {scheme.name}", content)

    def components(self, scheme: Scheme) -> Iterator[list[Cell]]:
        """Yield a row for each component."""
        for role in ROLES:
            for flows, part in parts_of(scheme, role).items():
                target = section_name(role, part.params)
                name = link(part.name, target) if fields(part.params) else code(part.name)
                yield [role, flows or "all", name, changed(part.params)]

    def classes(self, scheme: Scheme) -> Iterator[list[Cell]]:
        """Yield the classes of priority, where there are several."""
        if scheme.short.priority != scheme.long.priority:
            yield ["priority", "short", code(str(scheme.short.priority)), ""]
            yield ["priority", "long", code(str(scheme.long.priority)), ""]


class Components(Generated):
    """``.. components::``: a section for each kind of component that has parameters."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the sections."""
        users: dict[tuple[str, type], dict[str, set[str]]] = {}
        for scheme in (each.with_nic(nic) for nic in NICS.values() for each in built_in()):
            for role in ROLES:
                for part in parts_of(scheme, role).values():
                    if fields(part.params):
                        found = users.setdefault((role, type(part.params)), {})
                        found.setdefault(scheme.name, set()).add(part.name)
        for (role, params), by_scheme in sorted(users.items(), key=lambda item: ROLES.index(item[0][0])):
            yield self.one(role, params, by_scheme)

    def one(self, role: str, params: type, users: dict[str, set[str]]) -> nodes.section:
        """Return the table of one kind of parameters; `users` has the names of components by scheme."""
        names = ", ".join(sorted(set().union(*users.values())))
        heads = (f"[params.{role}]", "default", "values", "meaning")
        content = [
            nodes.paragraph("", f"Schemes: {', '.join(users)}."),
            table(heads, self.rows(params()), kind="parameters"),
        ]
        return section(f"{role}: {names}", section_name(role, params()), content)

    def rows(self, params: Any) -> Iterator[list[Cell]]:
        """Yield a row for each parameter, one for those that their docstring explains together."""
        texts, limits = meanings_of(type(params)), param_bounds(type(params))
        for _, names in groupby(names_of(params), key=lambda name: texts.get(name, "")):
            values = {name: getattr(params, name) for name in names}
            yield [
                stacked(*map(code, values)),
                stacked(*(code(shown(value)) for value in values.values())),
                stacked(*(allowed(value, limits[name]) for name, value in values.items())),
                self.meaning(texts, next(iter(values)), type(params)),
            ]


class Hooks(Generated):
    """``.. hooks::``: every hook with its arguments and what its answer means."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the table."""
        rows = [
            [hook.role, code(name), code(", ".join(hook.arguments)), self.inline(hook.returns)]
            for name, hook in HOOKS.items()
        ]
        yield table(("role", "hook", "arguments", "returns"), rows)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("schemes", Schemes)
    app.add_directive("components", Components)
    app.add_directive("hooks", Hooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
