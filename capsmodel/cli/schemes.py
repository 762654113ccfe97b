"""``capsmodel schemes``: the schemes that can be named in other commands, and their parameters."""

from collections.abc import Iterable
from typing import Any

from capsim import Scheme
from capsim import scheme as find
from capsim import schemes as all_schemes
from capsim.base.bounds import SSTHRESH_BYTES
from capsim.protocols.registry import NICS, built_in
from capsim.roles.catalogue import Parameter, components, parameters, parts_of
from capsim.roles.hooks import ROLES
from capsmodel.cli.shared.output import AS_TEXT, Output, explain, print_table, say, without_markup
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import quantity
from capsmodel.papers.claim_list import PAPER_KEYS

TODAY, PAPERS = "Of networks, standards and others' papers", "Those of the five papers"
OTHERS, OWN = "Reconstructions, controls, and habits of simulators", "Your own"
_HABITS = ("_ns2", "_ns3")


def group_of(scheme: Scheme) -> str:
    """Return under which title a scheme is listed.

    Examples
    --------
    >>> [group_of(find(name)) for name in ("uet", "caps", "caps_ns2")] == [TODAY, PAPERS, OTHERS]
    True
    """
    if scheme.name not in {one.name for one in built_in()}:
        return OWN
    if scheme.reconstructed or scheme.cite == "capsmodel" or scheme.name.endswith(_HABITS):
        return OTHERS
    return PAPERS if scheme.cite in PAPER_KEYS else TODAY


def in_groups(known: Iterable[Scheme]) -> dict[str, list[Scheme]]:
    """Return schemes by group, today's first; groups without a scheme are left out."""
    groups: dict[str, list[Scheme]] = {title: [] for title in (OWN, TODAY, PAPERS, OTHERS)}
    for one in known:
        groups[group_of(one)].append(one)
    return {title: schemes for title, schemes in groups.items() if schemes}


def schemes(name: str | None = None, *, output: Output = AS_TEXT) -> None:
    """List the schemes that can be simulated in groups, or all parameters of one, with defaults, bounds and meanings.

    Parameters
    ----------
    name
        A scheme, such as caps, or several put together, such as rps+dctcp.
    """
    if name is not None:
        _print_scheme(name, output)
        return
    groups = in_groups(all_schemes().values())
    rows: list[dict[str, Any]] = [
        {
            "scheme": known.name,
            **{role: _names(known, role) for role in ROLES},
            "source": known.cite,
            "summary": known.about,
            "group": title,
        }
        for title, schemes in groups.items()
        for known in schemes
    ]
    if not output.is_text:
        print_table(rows, output=output)
        return
    columns = [Column("scheme", "scheme"), Column("summary", "summary")]
    for title in groups:
        print_table([row for row in rows if row["group"] == title], columns=columns, title=title)
    say("capsmodel schemes NAME has what one is made of, its source and its parameters.")


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
