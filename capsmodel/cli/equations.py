"""``capsmodel equations``, ``claims`` and ``cite``: what the papers print and what the package makes of it."""

from typing import Any, Literal

from capsmodel.cli._options import Flag
from capsmodel.cli._output import console, print_table
from capsmodel.papers import ClaimRow, NumberRow
from capsmodel.papers import cite as references
from capsmodel.papers import claims as claim_rows
from capsmodel.papers import equations as equation_rows
from capsmodel.papers import numbers as number_rows


def equations(
    *, paper: str | None = None, numbers: Flag = False, latex: Flag = False, json: Flag = False, csv: Flag = False
) -> None:
    """List every equation of the papers and the functions that compute it.

    Parameters
    ----------
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    numbers
        List the printed numbers beside ours instead.
    latex
        Add the formula in LaTeX, where there is a symbolic form.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    if numbers:
        rows = [_number_row(row) for row in number_rows(paper)]
        print_table(rows, title="Printed numbers and ours", as_json=json, as_csv=csv)
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


def _number_row(row: NumberRow) -> dict[str, Any]:
    number, verdict = row.number, row.verdict
    return {
        "number": number.id,
        "where": number.where,
        "what": number.what,
        "printed": " ".join(part for part in (_RELATIONS.get(number.relation, ""), _values(number.printed)) if part),
        "ours": _values(verdict.value),
        "verdict": verdict.verdict,
        "note": number.note,
    }


_RELATIONS = {"at_most": "at most", "at_least": "at least", "within": "within", "true": "yes (1)"}


def claims(
    *, paper: str | None = None, verdict: str | None = None, all: Flag = False, json: Flag = False, csv: Flag = False
) -> None:
    """List the published claims that a closed form decides, with our values and verdicts.

    Parameters
    ----------
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    verdict
        Only claims with this verdict: reproduced, "differs in size", refuted, "not testable" or open.
    all
        Also the claims that need a simulation, a testbed or the codec.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    rows = [row for row in claim_rows(paper, verdict) if all or verdict == "open" or row.verdict != "open"]
    table = [_claim_row(row) for row in rows]
    print_table(table, title="Published claims", as_json=json, as_csv=csv)
    if not json and not csv:
        counts = {word: sum(row.verdict == word for row in rows) for word in dict.fromkeys(row.verdict for row in rows)}
        console().print(", ".join(f"{count} {word}" for word, count in counts.items()) or "no such claim")


def _claim_row(row: ClaimRow) -> dict[str, Any]:
    claim = row.claim
    size = claim.low if claim.low == claim.high else f"{claim.low}..{claim.high}"
    return {
        "claim": claim.id,
        "verdict": row.verdict,
        "where": claim.where,
        "text": claim.text,
        "claimed": " ".join(part for part in (claim.relation, size, claim.unit) if part),
        "ours": _values(row.value),
        "why": row.reason,
    }


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
