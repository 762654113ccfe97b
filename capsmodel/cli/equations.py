"""``capsmodel equations``, ``claims`` and ``cite``: what the papers print and what the package makes of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from capsmodel.cli._options import Flag
from capsmodel.cli._output import print_table
from capsmodel.papers import ClaimRow
from capsmodel.papers import cite as references
from capsmodel.papers import claims as claim_rows
from capsmodel.papers import equations as equation_rows
from capsmodel.papers import numbers as number_rows
from capsmodel.papers.verdicts import VERDICT_WORDS


def equations(
    *, paper: str | None = None, numbers: Flag = False, latex: Flag = False, json: Flag = False, csv: Flag = False
) -> None:
    """List every equation of the papers and the functions that compute it.

    Parameters
    ----------
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    numbers
        List the claims that a closed form decides instead, with our values and verdicts.
    latex
        Add the formula in LaTeX, where there is a symbolic form.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    if numbers:
        rows = _claim_table(number_rows(paper), json or csv)
        print_table(rows, title="Claims that a closed form decides", as_json=json, as_csv=csv)
        return
    table = [
        {
            "paper": row.paper,
            "equation": row.number,
            "meaning": row.meaning,
            "functions": ", ".join(name.removeprefix("capsmodel.") for name in row.functions) or f"none: {row.reason}",
        }
        | ({"latex": _latex(row.paper, row.number)} if latex else {})
        for row in equation_rows(paper)
    ]
    print_table(table, title="Equations of the papers", as_json=json, as_csv=csv)


def _latex(paper: str, number: str) -> str:
    from capsmodel.symbolic import formulas_of, latex_of  # SymPy takes half a second to load

    return latex_of(paper, number) if formulas_of(paper, number) else ""


def _values(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def claims(
    *,
    paper: str | None = None,
    verdict: str | None = None,
    all: Flag = False,
    totals: Flag = False,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """List the published claims that have been run, with our values and verdicts, and count all.

    A claim that has been run is open if its samples do not decide; the reason says how many they are.

    Parameters
    ----------
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    verdict
        Only claims with this verdict: reproduced, "differs in size", refuted, "not testable" or open.
    all
        Also those that wait for an experiment, named in the reason.
    totals
        Only count them, by paper.
    json
        Print JSON, with all columns of the ledger.
    csv
        Print comma-separated values, with all columns of the ledger.
    """
    rows = claim_rows(paper, verdict)
    if totals:
        print_table(_totals(rows), title="Published claims", as_json=json, as_csv=csv)
        return
    shown = [row for row in rows if all or verdict or row.entry.was_run]
    print_table(_claim_table(shown, json or csv), title="Published claims", as_json=json, as_csv=csv)
    if not json and not csv:
        print_table(_totals(rows))


def _totals(rows: Sequence[ClaimRow]) -> list[dict[str, Any]]:
    words: tuple[str, ...] = VERDICT_WORDS
    counts = Counter((row.claim.paper, row.entry.verdict) for row in rows)
    lines = [(key, {word: counts[key, word] for word in words}) for key in dict.fromkeys(key for key, _ in counts)]
    if len(lines) > 1:
        lines.append(("all", {word: sum(count[word] for _, count in lines) for word in words}))
    return [{"paper": key, "claims": sum(count.values()), **count} for key, count in lines]


def _claim_table(rows: Iterable[ClaimRow], whole: bool) -> list[dict[str, Any]]:
    return [_whole_row(row) if whole else _claim_row(row) for row in rows]


def _claim_row(row: ClaimRow) -> dict[str, Any]:
    claim, entry = row.claim, row.entry
    size = claim.low if claim.low == claim.high else f"{claim.low}..{claim.high}"
    return {
        "claim": claim.id,
        "verdict": entry.verdict,
        "where": claim.where,
        "text": claim.text,
        "claimed": " ".join(part for part in (claim.relation, size, claim.unit) if part),
        "ours (95% interval)": _values(entry.value) + (f" ({_values(entry.interval)})" if entry.interval else ""),
        "decided by": entry.decided_by or claim.experiment_id,
        "why": entry.reason,
    }


def _whole_row(row: ClaimRow) -> dict[str, Any]:
    entry = asdict(row.entry) | {name: _values(getattr(row.entry, name)) for name in ("value", "interval")}
    return asdict(row.claim) | entry


def cite(*, paper: str | None = None, style: Literal["text", "bibtex"] = "bibtex") -> None:
    """Print references to the papers.

    Parameters
    ----------
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    style
        text or bibtex.
    """
    print(references(paper, style=style))
