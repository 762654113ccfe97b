"""What goes into a run: presets, workloads, and all keys of a scenario file; and the columns of what comes out."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from itertools import groupby
from typing import Any, get_args

import msgspec
from docutils import nodes
from generated import Cell, Generated, code, command, link, number, section, stacked, table
from msgspec.inspect import Field, FloatType, IntType, LiteralType, Metadata, UnionType, type_info
from sphinx.application import Sphinx

from capsim import Edge, Node, Scenario, Summary, presets
from capsim.base import schema
from capsim.fabric.faults import DrawnFault
from capsim.fabric.kinds import AnyFabric
from capsim.fabric.traffic import AnyTraffic
from capsim.fabric.wiring import LinkChange
from capsim.protocols.registry import built_in
from capsim.roles.catalogue import meanings_of
from capsim.roles.hooks import HOST_ROLES
from capsim.scenario.excerpt import ExcerptOf
from capsim.scenario.scenario import Comparison, Hosts, Probes
from capsim.study.file import Claim, Panel, PrintedTable, StudyFile, Unstated
from capsim.study.metrics import METRICS
from capsmodel.workloads import catalogue

SHORT_BYTES = 100_000
NOTES = re.compile(r'^notes = """.*?"""\n', re.DOTALL | re.MULTILINE)


class Presets(Generated):
    """``.. presets::``: an overview, then a section for each preset with its notes and its file."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the overview and the sections."""
        heads = ("preset", "fabric", "hosts", "traffic", "schemes")
        yield table(heads, [self.overview(name, found) for name, found in presets().items()])
        for name, scenario in presets().items():
            yield section(name, f"preset {name}", self.one(name, scenario))

    def overview(self, name: str, scenario: Scenario) -> list[Cell]:
        """Return the row of a preset."""
        traffic = ", ".join(str(entry.__struct_config__.tag) for entry in scenario.traffic)
        compared = scenario.compare.schemes if scenario.compare else (scenario.scheme,)
        hosts = str(scenario.fabric.size().hosts)
        return [link(name, f"preset {name}"), scenario.fabric.kind, hosts, traffic, ", ".join(compared)]

    def one(self, name: str, scenario: Scenario) -> Iterator[nodes.Node]:
        """Yield notes, command and file of a preset; the file without the notes, which stand above it."""
        text = resources.files("capsim").joinpath(f"presets/{name}.toml").read_text(encoding="utf-8")
        yield nodes.paragraph("", " ".join(scenario.notes.split()))
        yield command(f"capsmodel {'compare' if scenario.compare else 'simulate'} {name}")
        yield nodes.literal_block("", NOTES.sub("", text), language="toml")


class Workloads(Generated):
    """``.. workloads::``: an overview of all flow-size distributions, then where each comes from."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the two tables."""
        names = catalogue.workload_names()
        heads = (
            "workload",
            "mean (bytes)",
            "median (bytes)",
            "flows up to 100 KB (%)",
            "bytes in flows up to 100 KB (%)",
        )
        yield table(heads, map(self.numbers, names))
        yield table(("workload", "caution", "source"), map(self.source, names), kind="wide")

    def numbers(self, name: str) -> list[Cell]:
        """Return moments and shares of a distribution."""
        sizes = catalogue.load_workload(name)
        moments = [f"{size:,.0f}" for size in (sizes.mean_bytes, sizes.quantile(0.5))]
        shares = [f"{100 * share:.1f}" for share in (sizes.cdf(SHORT_BYTES), sizes.byte_share_below(SHORT_BYTES))]
        return [code(name), *moments, *shares]

    def source(self, name: str) -> list[Cell]:
        """Return where a distribution comes from."""
        found = catalogue.workload_source(name)
        place = nodes.emphasis("", f"{found.source}: {found.path}")
        return [stacked(code(name), found.title), found.caution, stacked(place, f"as of {found.snapshot}")]


class ScenarioKeys(Generated):
    """``.. scenario-keys::``: all keys of a scenario file, table by table."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield a section for each table."""
        yield self.one("Top level", Scenario)
        yield from (self.one(f'[fabric] kind = "{kind.__struct_config__.tag}"', kind) for kind in get_args(AnyFabric))
        yield self.one("[[fabric.nodes]]", Node)
        yield self.one("[[fabric.edges]]", Edge)
        yield self.one("[[fabric.links]]", LinkChange)
        yield self.one("[[fabric.faults]]", DrawnFault)
        yield from (
            self.one(f'[[traffic]] kind = "{kind.__struct_config__.tag}"', kind) for kind in get_args(AnyTraffic)
        )
        yield self.one("[hosts]", Hosts)
        yield self.one("[probes]", Probes)
        yield self.one("[compare]", Comparison)
        yield self.one("[excerpt_of]", ExcerptOf)

    def one(self, title: str, kind: type) -> nodes.section:
        """Return the section of one table."""
        text = (kind.__doc__ or "").partition("Parameters\n")[0]
        rows = list(self.rows(kind))
        return section(
            title,
            f"keys {title}",
            [*self.rst(text), table(("key", "default", "values", "meaning"), rows, kind="parameters")],
        )

    def rows(self, kind: type) -> Iterator[list[Cell]]:
        """Yield a row for each key, one for those that their docstring explains together."""
        texts = meanings_of(kind)
        for _, group in groupby(type_info(kind).fields, key=lambda field: texts.get(field.name, "")):
            found = list(group)
            yield [
                stacked(*(code(field.encode_name) for field in found)),
                stacked(*map(_default, found)),
                stacked(*map(_values, found)),
                self.meaning(texts, found[0].name, kind),
            ]


class StudyKeys(ScenarioKeys):
    """``.. study-keys::``: all keys of a study, table by table."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield a section for each table."""
        yield self.one("Top level of a study", StudyFile)
        yield self.one("Entries of [unstated]", Unstated)
        yield self.one("[[panel]]", Panel)
        yield self.one("claims of [[panel]], and [[claim]]", Claim)
        yield self.one("[[table]]", PrintedTable)


class Metrics(Generated):
    """``.. study-metrics::``: the numbers that describe a run."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the table."""
        rows = [[code(one.name), one.words, one.unit, "yes" if one.zero else ""] for one in METRICS.values()]
        yield table(("metric", "meaning", "unit", "can be 0"), rows, kind="parameters")


def _default(field: Field) -> str:
    """Return the default of a key as TOML has it; empty if it is left out."""
    if field.required:
        return "needed"
    value = field.default
    if value in (None, msgspec.NODEFAULT, "", ()):
        return ""
    if isinstance(value, tuple):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _values(field: Field) -> str:
    """Return which values a key takes, where that is a range of numbers or a choice of words."""
    kind = field.type
    if isinstance(kind, UnionType):
        kind = kind.types[0]
    extra = {}
    if isinstance(kind, Metadata):
        kind, extra = kind.type, kind.extra or {}
    if isinstance(kind, LiteralType):
        return ", ".join(map(str, kind.values))
    if isinstance(kind, IntType | FloatType) and kind.ge is not None:
        return f"{number(kind.ge)} to {number(kind.le)} {extra.get('unit', '')}".rstrip()
    return ""


class Columns(Generated):
    """``.. columns::``: the columns of all tables of a result, those that components add among them."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield a section for each table."""
        for name, columns in schema.TABLES.items():
            content = [self.listed(columns)]
            for component, own in self.own(name).items():
                content += [nodes.paragraph("", f"Added by {component}:"), self.listed(own)]
            yield section(f"{name}.parquet", f"table {name}", content)

    def listed(self, columns: Mapping[str, str]) -> nodes.Node:
        """Return columns and their meanings as a table."""
        return table(("column", "meaning"), [[code(name), text] for name, text in columns.items()], kind="parameters")

    def own(self, name: str) -> dict[str, Mapping[str, str]]:
        """Return the columns that components of schemes add to a table, by role and name of the component."""
        scope = {"flows": "subflow", "subflows": "subflow", "units": "unit"}.get(name, "")
        parts = [getattr(stack, role) for each in built_in() for stack in each.stacks for role in HOST_ROLES]
        return {f"{part.role} {part.name}": part.columns[scope] for part in parts if scope in part.columns}


class Figures(Generated):
    """``.. summary-figures::``: what a summary holds."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the table; figures that share a text stand together."""
        by_text: dict[str, list[str]] = {}
        for name, text in meanings_of(Summary).items():
            by_text.setdefault(text, []).append(name)
        yield table(("figure", "meaning"), [[", ".join(names), self.inline(text)] for text, names in by_text.items()])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("presets", Presets)
    app.add_directive("workloads", Workloads)
    app.add_directive("scenario-keys", ScenarioKeys)
    app.add_directive("study-keys", StudyKeys)
    app.add_directive("study-metrics", Metrics)
    app.add_directive("columns", Columns)
    app.add_directive("summary-figures", Figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
