"""``capsmodel schemes``, ``presets`` and ``workloads``: what can be named in other commands, and what each one is."""

import re
from importlib import resources
from typing import Any

from capsim import Scenario, Scheme, load_scenario
from capsim import presets as all_presets
from capsim import scheme as find
from capsim import schemes as all_schemes
from capsim.base.bounds import SSTHRESH_BYTES
from capsim.protocols.registry import NICS
from capsim.roles.catalogue import Parameter, components, parameters, parts_of
from capsim.roles.hooks import ROLES
from capsmodel.cli.shared.output import AS_TEXT, Output, explain, print_table, say, without_markup
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import quantity, size_text
from capsmodel.workloads.catalogue import FlowSizes, load_workload, workload_names, workload_source
from capsmodel.workloads.files import is_size_file, read_flow_sizes

_SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])")  # not behind "Fig.", which a number follows
_SHORT_BYTES = 100_000  # as short_bytes of a scenario


def schemes(name: str | None = None, *, output: Output = AS_TEXT) -> None:
    """List the schemes that can be simulated, or all parameters of one, with defaults, bounds and meanings.

    Parameters
    ----------
    name
        A scheme, such as caps, or several put together, such as rps+dctcp.
    """
    if name is not None:
        _print_scheme(name, output)
        return
    rows: list[dict[str, Any]] = [
        {
            "scheme": known.name,
            **{role: _names(known, role) for role in ROLES},
            "source": known.cite,
            "summary": known.about,
        }
        for known in all_schemes().values()
    ]
    if output.is_text:
        rows = [row | {"parts": ", ".join(row[role] for role in ROLES)} for row in rows]
        columns = [Column(key, key) for key in ("scheme", "summary")] + [Column("parts", ", ".join(ROLES))]
        print_table(rows, columns=[*columns, Column("source", "source")], title="Schemes")
        say("capsmodel schemes NAME lists the parameters of one.")
        return
    print_table(rows, output=output)


def _names(scheme: Scheme, role: str) -> str:
    """Return the component of a role; "of short / of long flows" where they differ."""
    return " / ".join(dict.fromkeys(part.name for part in parts_of(scheme, role).values()))


def _print_scheme(name: str, output: Output) -> None:
    scheme = find(name)
    rows = [_parameter_row(item) for item in parameters(scheme)]
    if not output.is_text:
        print_table(rows, output=output)
        return
    explain(f"{scheme.name}: {scheme.about} (source: {scheme.cite})")
    columns = [Column("name", "parameter"), Column("shown", "default", right=True), Column("text", "meaning")]
    for flows, part in components(scheme):
        own = [row for row in rows if (row["role"], row["flows"]) == (part.role, flows)]
        name = part.name + (f" ({flows} flows)" if flows else "")
        say("", f"{part.role}: {name}" + ("" if own else ", which has no parameters"))
        if own:
            print_table([_with_text(row) for row in own], columns=columns)
    in_turns = [item.setting for item in parameters(scheme.with_nic(NICS["round_robin"])) if item.role == "nic"]
    if in_turns:
        say("", f"With --nic round_robin there are {' and '.join(in_turns)} too.")
    example = rows[0]["setting"] if rows else "transport.min_rto_s"
    say("", f"Changed with --set, as in --set {example}={rows[0]['shown'] if rows else '10ms'}, or in a study's grid.")


def _quantity(name: str, value: object) -> str:
    """Return a value of a parameter; a size above all flows and windows in words."""
    is_high = name.endswith("_bytes") and value == SSTHRESH_BYTES.largest
    return "arbitrarily high" if is_high else quantity(name, value)


def _parameter_row(item: Parameter) -> dict[str, Any]:
    allowed = " or ".join(item.choices)
    if item.bound is not None:
        least, largest = (_quantity(item.name, end) for end in (item.bound.least, item.bound.largest))
        allowed = f"{'0 or ' if item.bound.or_zero else ''}{least} to {largest}"
    return {
        "setting": item.setting,
        "role": item.role,
        "component": item.component,
        "flows": item.flows,
        "name": item.name,
        "default": item.default,
        "shown": _quantity(item.name, item.default),
        "allowed": allowed,
        "meaning": without_markup(item.meaning),
    }


def _with_text(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with meaning and allowed values in one cell."""
    return row | {"text": row["meaning"] + (f" ({row['allowed']})" if row["allowed"] else "")}


def presets(name: str | None = None, *, output: Output = AS_TEXT) -> None:
    """List the scenarios that come with the package, or print one as the TOML file that it is.

    A file of your own begins best with one of these: capsmodel presets p64 > mine.toml.

    Parameters
    ----------
    name
        A preset, such as p64.
    """
    if name is not None:
        scenario = load_scenario(name)
        if output.is_text and name in all_presets():
            say(resources.files("capsim").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8").rstrip())
        else:
            print_table([_preset_row(scenario)], output=output)
        return
    rows = [_preset_row(scenario) for scenario in all_presets().values()]
    columns = [Column("preset", "preset"), Column("hosts", "hosts"), Column("scheme", "scheme"), Column("about", "")]
    print_table(rows, columns=columns, title="Presets", output=output)
    if output.is_text:
        say("capsmodel presets NAME prints one as a TOML file.")


def _preset_row(scenario: Scenario) -> dict[str, Any]:
    hosts, switches = scenario.fabric.node_counts()
    return {
        "preset": scenario.name,
        "fabric": scenario.fabric.kind,
        "hosts": hosts,
        "switches": switches,
        "scheme": scenario.scheme,
        "about": _SENTENCE_END.split(" ".join(scenario.notes.split()))[0].rstrip(".") + ".",
    }


def workloads(name: str | None = None, *, output: Output = AS_TEXT) -> None:
    """List the published flow-size distributions, or the points and the source of one.

    Parameters
    ----------
    name
        A distribution, such as websearch, or a CSV file of your own with the columns size_bytes,cdf.
    """
    if name is None:
        rows = [_workload_row(known, load_workload(known)) for known in workload_names()]
        print_table(rows, columns=_WORKLOAD, title="Flow-size distributions", output=output)
        if output.is_text:
            explain("websearch stands for websearch_dctcp, datamining for datamining_pfabric_pkts.")
        return
    own = is_size_file(name)
    sizes = read_flow_sizes(name) if own else load_workload(name)
    points = [
        {"size_bytes": float(size), "size": size_text(size), "cdf": float(value)}
        for size, value in zip(sizes.sizes, sizes.cdf_values, strict=True)
    ]
    if output.is_text:
        source = None if own else workload_source(name)
        print_table([_workload_row(name, sizes)], columns=_WORKLOAD, title=source.title if source else name)
        if source:
            explain(f"Source: {source.source}, {source.path} ({source.snapshot}). {source.caution}")
        say("")
    print_table(points, columns=[Column("size", "size", right=True), Column("cdf", "F(size)")], output=output)


_WORKLOAD = (
    Column("workload", "workload"),
    Column("mean", "mean size", right=True),
    Column("largest", "largest", right=True),
    Column("short_flows_pct", "flows up to 100KB, %"),
    Column("short_data_pct", "their data, %"),
)


def _workload_row(name: str, sizes: FlowSizes) -> dict[str, Any]:
    return {
        "workload": name,
        "mean_bytes": sizes.mean_bytes,
        "mean": size_text(sizes.mean_bytes),
        "largest_bytes": float(sizes.sizes[-1]),
        "largest": size_text(float(sizes.sizes[-1])),
        "short_flows_pct": 100 * sizes.flow_share_below(_SHORT_BYTES),
        "short_data_pct": 100 * sizes.byte_share_below(_SHORT_BYTES),
    }
