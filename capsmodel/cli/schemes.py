"""``capsmodel schemes``: the schemes that can be named in other commands, and their parameters."""

from typing import Any

from capsim import Scheme
from capsim import scheme as find
from capsim import schemes as all_schemes
from capsim.base.bounds import SSTHRESH_BYTES
from capsim.protocols.registry import NICS
from capsim.roles.catalogue import Parameter, components, parameters, parts_of
from capsim.roles.hooks import ROLES
from capsmodel.cli.shared.output import AS_TEXT, Output, explain, print_table, say, without_markup
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import quantity


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
