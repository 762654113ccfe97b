"""The catalogue of schemes: components, all parameters with default and bounds, as the registry has them."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from enum import Enum
from importlib import import_module
from itertools import groupby
from typing import Any

from docutils import nodes
from generated import Cell, Generated, code, command, link, meanings, number, section, stacked, table
from sphinx.application import Sphinx

from capsim.bounds import NUMBER, Bound, param_bounds
from capsim.hooks import COMPONENTS, Scheme
from capsim.protocols import schemes as folder
from capsim.registry import built_in
from capsmodel import papers

KINDS = (*COMPONENTS, "replication")


def params_of(scheme: Scheme, kind: str) -> Any:
    """Return the parameters of a component; a replication is its own."""
    component = getattr(scheme, kind)
    return getattr(component, "params", component)


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


def numbers(params: Any) -> list[str]:
    """Return the names of what can be set; the name of a replication cannot."""
    return [field.name for field in fields(params) if not isinstance(getattr(params, field.name), str)]


def changed(scheme: Scheme, kind: str) -> str:
    """Return the parameters in which a component of a scheme differs from the defaults of its kind."""
    params = params_of(scheme, kind)
    default = {field.name: field.default for field in fields(params)}
    own = {name: getattr(params, name) for name in numbers(params)}
    return ", ".join(f"{name} = {shown(value)}" for name, value in own.items() if value != default[name])


class Schemes(Generated):
    """``.. schemes::``: an overview, then a section for each scheme."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the overview and the sections."""
        yield table(("scheme", *KINDS, "sizes known"), map(self.overview, built_in()))
        yield from map(self.one, built_in())

    def overview(self, scheme: Scheme) -> list[Cell]:
        """Return the row of a scheme."""
        parts = [getattr(scheme, kind).name for kind in KINDS]
        return [link(scheme.name, f"scheme {scheme.name}"), *parts, "yes" if scheme.known_sizes else "no"]

    def one(self, scheme: Scheme) -> nodes.section:
        """Return the section of a scheme: what its module says, its components, where it comes from."""
        about = import_module(f"{folder.__name__}.{scheme.name}").__doc__ or ""
        keys = [paper.key for paper in papers.papers()]
        source = papers.cite(scheme.cite, style="text") if scheme.cite in keys else scheme.cite
        content = [
            *self.rst(about),
            table(("component", "kind", "values that differ from the defaults"), self.components(scheme)),
            nodes.paragraph("", f"Source: {source.rstrip('.')}."),
            command(f"capsmodel simulate websearch-load-60 --scheme {scheme.name}"),
        ]
        return section(scheme.name, f"scheme {scheme.name}", content)

    def components(self, scheme: Scheme) -> Iterator[list[Cell]]:
        """Yield a row for each component."""
        for kind in KINDS:
            name = getattr(scheme, kind).name
            has = bool(numbers(params_of(scheme, kind)))
            target = f"{kind} {type(params_of(scheme, kind)).__name__}"
            coded = f"coded flows: {scheme.coding.coded}" if kind == "coding" and name != "none" else ""
            text = "; ".join(part for part in (changed(scheme, kind), coded) if part)
            yield [kind, link(name, target) if has else code(name), text]


class Components(Generated):
    """``.. components::``: a section for each kind of component that has parameters."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the sections."""
        users: dict[tuple[str, type], list[Scheme]] = {}
        for scheme in built_in():
            for kind in KINDS:
                if numbers(params_of(scheme, kind)):
                    users.setdefault((kind, type(params_of(scheme, kind))), []).append(scheme)
        for (kind, params), found in sorted(users.items(), key=lambda item: KINDS.index(item[0][0])):
            yield self.one(kind, params, found)

    def one(self, kind: str, params: type, users: list[Scheme]) -> nodes.section:
        """Return the table of one kind of parameters."""
        names = ", ".join(dict.fromkeys(getattr(scheme, kind).name for scheme in users))
        in_schemes = ", ".join(scheme.name for scheme in users)
        default = params_of(users[0], kind) if kind == "replication" else params()
        heads = (f"[params.{kind}]", "default", "values", "meaning")
        content = [
            nodes.paragraph("", f"Schemes: {in_schemes}."),
            table(heads, self.rows(default), kind="parameters"),
        ]
        return section(f"{kind}: {names}", f"{kind} {params.__name__}", content)

    def rows(self, params: Any) -> Iterator[list[Cell]]:
        """Yield a row for each parameter, one for those that their docstring explains together."""
        texts, limits = meanings(type(params)), param_bounds(type(params))
        for _, names in groupby(numbers(params), key=lambda name: texts.get(name, "")):
            values = {name: getattr(params, name) for name in names}
            yield [
                stacked(*map(code, values)),
                stacked(*(code(shown(value)) for value in values.values())),
                stacked(*(allowed(value, limits[name]) for name, value in values.items())),
                self.meaning(texts, next(iter(values)), type(params)),
            ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("schemes", Schemes)
    app.add_directive("components", Components)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
