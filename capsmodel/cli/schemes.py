"""``capsmodel schemes``: the schemes that can be named in other commands, and their parameters."""

from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any

from capsim import scheme as find
from capsim import schemes as all_schemes
from capsim.protocols.registry import NICS, built_in
from capsim.roles.catalogue import Parameter, parameters
from capsim.roles.components import Scheme, named_part, parts_of, parts_with_parameters, shown_value
from capsim.roles.hooks import ROLES
from capsmodel.checks import choice
from capsmodel.cli.shared.output import AS_TEXT, Output, explain, print_table, say, without_markup
from capsmodel.cli.shared.table import Column
from capsmodel.papers.claim_list import PAPER_KEYS

Rows = list[dict[str, Any]]
_EXPLAINED = (Column("name", "parameter"), Column("shown", "default", right=True), Column("text", "meaning"))

TODAY, PAPERS = "Of networks, standards and others' papers", "Those of the five papers"
GUESSED, OTHERS = "Reconstructed where a paper leaves details out", "Controls, and habits of simulators"
OWN = "Your own"
_HABITS = ("_ns2", "_ns3")
_LINES = (Column("scheme", ""), Column("summary", ""))
_PAIRS = tuple(Column(key, "") for key in ("name", "summary", "right_name", "right_summary"))


def group_of(scheme: Scheme) -> str:
    """Return under which title a scheme is listed.

    Examples
    --------
    >>> [group_of(find(name)) for name in ("uet", "caps", "ag", "cbr")] == [TODAY, PAPERS, GUESSED, OTHERS]
    True
    """
    if scheme.name not in {one.name for one in built_in()}:
        return OWN
    if scheme.reconstructed:
        return GUESSED
    if scheme.cite == "capsmodel" or scheme.name.endswith(_HABITS):
        return OTHERS
    return PAPERS if scheme.cite in PAPER_KEYS else TODAY


def in_groups(known: Iterable[Scheme]) -> dict[str, list[Scheme]]:
    """Return schemes by group, today's first; groups without a scheme are left out."""
    groups: dict[str, list[Scheme]] = {title: [] for title in (OWN, TODAY, PAPERS, GUESSED, OTHERS)}
    for one in known:
        groups[group_of(one)].append(one)
    return {title: schemes for title, schemes in groups.items() if schemes}


def schemes(name: str | None = None, part: str | None = None, *, output: Output = AS_TEXT) -> None:
    """List the schemes that can be simulated in groups, what one is made of, or what the parameters of a part mean.

    Parameters
    ----------
    name
        A scheme, such as caps, or several put together, such as rps+dctcp.
    part
        A part of it, such as transport: meaning and bounds of each of its parameters. --json and --csv have those of
        all parts.
    """
    if name is not None:
        if part is not None:
            choice("PART", part, ROLES)
        _print_scheme(name, part, output)
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
    for title, schemes in groups.items():
        if title in (PAPERS, GUESSED, OTHERS):
            print_table(_side_by_side(schemes), columns=_PAIRS, title=title)
        else:
            print_table([row for row in rows if row["group"] == title], columns=_LINES, title=title)
    say("capsmodel schemes NAME has what one is made of, and its parameters.")


def _side_by_side(schemes: Sequence[Scheme]) -> Rows:
    """Return rows of two schemes each; the names run down the left, then the right."""
    half = -(-len(schemes) // 2)
    entries = [{"name": one.name, "summary": one.summary} for one in schemes]
    entries += [{"name": "", "summary": ""}] * (len(schemes) % 2)
    return [
        left | {f"right_{key}": text for key, text in right.items()}
        for left, right in zip(entries[:half], entries[half:], strict=True)
    ]


def _names(scheme: Scheme, role: str) -> str:
    """Return the component of a role; "of short / of long flows" where they differ."""
    return " / ".join(dict.fromkeys(part.name for part in parts_of(scheme, role).values()))


def _print_scheme(name: str, part: str | None, output: Output) -> None:
    scheme = find(name)
    rows = [_parameter_row(item) for item in parameters(scheme) if part in (None, item.role)]
    if not output.is_text:
        print_table(rows, output=output)
    elif part is None:
        _print_parts(name, scheme, rows)
    else:
        for flows, component in parts_of(scheme, part).items():
            own = [_with_text(row) for row in rows if row["flows"] == flows]
            say(f"{part}: {named_part(component, flows)}" + ("" if own else ", which has no parameters"))
            if own:
                print_table(own, columns=_EXPLAINED)


def _print_parts(name: str, scheme: Scheme, rows: Rows) -> None:
    """Print each component of the scheme that was asked for as `name`, with its parameters and their defaults."""
    explain(f"{scheme.name}: {scheme.about} (source: {scheme.cite})")
    lines = parts_with_parameters(scheme)
    print_table([line for line in lines if line["parameters"]])
    bare = [f"{line['part']} {line['component']}" for line in lines if not line["parameters"]]
    if bare:
        explain(f"Without parameters: {', '.join(bare)}.")
    turning = scheme.with_nic(NICS["round_robin"])
    if turning.nic.name != scheme.nic.name:
        own = [item.setting for item in parameters(turning) if item.role == "nic"]
        explain(f"With --nic round_robin there are {' and '.join(own)} too.")
    if rows:
        first = f"--set {rows[0]['setting']}={rows[0]['shown']} changes one"
        explain(f"{first}; capsmodel schemes {quote(name)} {rows[0]['role']} says what those of a part mean.")


def _parameter_row(item: Parameter) -> dict[str, Any]:
    allowed = " or ".join(item.choices)
    if item.bound is not None:
        least, largest = (shown_value(item.name, end) for end in (item.bound.least, item.bound.largest))
        allowed = f"{'0 or ' if item.bound.or_zero else ''}{least} to {largest}"
    return {
        "setting": item.setting,
        "role": item.role,
        "component": item.component,
        "flows": item.flows,
        "name": item.name,
        "default": item.default,
        "shown": item.shown,
        "allowed": allowed,
        "meaning": without_markup(item.meaning),
    }


def _with_text(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with meaning and allowed values in one cell."""
    return row | {"text": row["meaning"] + (f" ({row['allowed']})" if row["allowed"] else "")}
