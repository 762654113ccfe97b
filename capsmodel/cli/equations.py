"""``capsmodel equations``, ``claims`` and ``cite``: what the papers print and what the package makes of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from capsmodel.checks import require
from capsmodel.cli.shared.claim_texts import claim_text, counted, skewed
from capsmodel.cli.shared.options import Flag
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, csv_text, explain, print_table, say
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.words import MEANINGS, VERDICT_WORDS
from capsmodel.papers import ClaimRow
from capsmodel.papers import cite as references
from capsmodel.papers import claims as claim_rows
from capsmodel.papers import equations as equation_rows
from capsmodel.papers import numbers as number_rows
from capsmodel.papers.index import read_by_setting, read_skewness
from capsmodel.papers.settings import recorded_robustness, told_settings

_VERDICTS = "Only claims with this verdict:\n" + "\n".join(f"{word}: {text}." for word, text in MEANINGS.items())


def equations(
    *, paper: str | None = None, numbers: Flag = False, latex: Flag = False, output: Output = AS_TEXT
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
    """
    require(not (numbers and latex), "--numbers lists claims, --latex adds formulas to equations: give one of them")
    if numbers:
        _print_claims(number_rows(paper), output)
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
    print_table(table, title="Equations of the papers", output=output)


def _latex(paper: str, number: str) -> str:
    from capsmodel.symbolic import formulas_of, latex_of  # SymPy takes half a second to load

    return latex_of(paper, number) if formulas_of(paper, number) else ""


def claims(
    *,
    paper: str | None = None,
    verdict: Annotated[str | None, Parameter(help=_VERDICTS)] = None,
    all: Flag = False,
    totals: Flag = False,
    hangs_on: Flag = False,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Show what the papers claim, what we have, the verdict and the reason, for claims that have been run.

    A claim that has been run is open if its samples do not decide; the reason says how many they are.

    Parameters
    ----------
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    verdict
        Only claims with this verdict.
    all
        Also those that wait for an experiment, named in the reason.
    totals
        Only count them, by paper.
    hangs_on
        List the claims that were run in several settings of what the papers leave unstated: robust, or what turns the
        verdict.
    plot
        With --hangs-on, write a figure of these claims by settings to this file (PNG, PDF or SVG; needs matplotlib).
    """
    rows = claim_rows(paper, verdict)
    require(plot is None or hangs_on, "--plot goes with --hangs-on: it draws the verdicts by settings")
    require(not (totals and hangs_on), "--totals counts verdicts, --hangs-on lists settings: give one of them")
    if hangs_on:
        _print_hangs_on(rows, output)
        if plot is not None:
            _draw_by_setting(paper or "all papers", rows, plot)
            if output.is_text:
                say(f"wrote {plot}")
        return
    if totals:
        print_table(_totals(rows), title="Published claims", output=output)
        return
    shown = [row for row in rows if all or verdict or row.entry.was_run]
    _print_claims(shown, output)
    if output.is_text:
        _print_answer(paper, verdict, len(shown))


def _print_claims(rows: Iterable[ClaimRow], output: Output) -> None:
    if output.json:
        print_table([_json_row(row) for row in rows], output=output)
    elif output.csv:
        print_table([_csv_row(row) for row in rows], output=output)
    else:
        for row in rows:
            settings = told_settings(row.claim, row.entry.verdict)
            say(f"{row.claim.id}: {row.entry.verdict}")
            notes = [skewed(*read_skewness()[row.claim.id])] if row.claim.id in read_skewness() else []
            notes += [f"Settings: {settings}."] if settings else []
            explain(*claim_text(row.claim, row.entry), *notes, indent=2)
            say("")


def _print_hangs_on(rows: Iterable[ClaimRow], output: Output) -> None:
    """Print what is known of the claims that are decided in several settings, the least robust first."""
    run = [(row, recorded_robustness(row.claim)) for row in rows if row.claim.id in read_by_setting()]
    found = [(row, one) for row, one in run if one.decided > 1]
    lines = [
        {
            "claim": row.claim.id,
            "verdict": row.entry.verdict,
            "agreeing": one.agreeing,
            "decided": one.decided,
            "turned_by": "; ".join(one.turned_by),
            "compared": one.word,
            "in_other_settings": one.beside(row.entry.verdict),
        }
        for row, one in sorted(found, key=lambda each: each[1].share)
    ]
    if not lines and output.is_text:
        explain("No claim is decided in several settings yet: capsmodel reproduce NAME runs an experiment.")
        return
    columns = [Column("claim", "claim"), Column("verdict", "verdict"), Column("in_other_settings", "in other settings")]
    print_table(lines, columns=columns, title="What verdicts hang on", output=output)


def _draw_by_setting(name: str, rows: Iterable[ClaimRow], file: Path) -> None:
    from capsmodel.papers.figures._by_setting import draw_by_setting
    from capsmodel.plotting import save_figure

    known = read_by_setting()
    words = {row.claim.id: known[row.claim.id] for row in rows if row.claim.id in known}
    require(bool(words), "--plot: none of these claims has been run in several settings")
    save_figure(draw_by_setting(name, words), file)


def claims_csv() -> str:
    """Return what ``capsmodel claims --all --csv`` prints."""
    return csv_text([_csv_row(row) for row in claim_rows()])


def _print_answer(paper: str | None, verdict: str | None, found: int) -> None:
    """Print how many claims there are of each verdict, and where to look if none has the one asked for."""
    words = [row.entry.verdict for row in claim_rows(paper)]
    whose = f"the {len(words)} claims of {paper}" if paper else f"all {len(words)} claims"
    if verdict and not found:
        explain(f"None of {whose} is {verdict}: {counted(words, VERDICT_WORDS)}.")
    else:
        explain(f"Of {whose}: {counted(words, VERDICT_WORDS)}.")
    if verdict == "refuted" and "differs in size" in words:
        near = f"capsmodel claims{f' --paper {paper}' if paper else ''} --verdict 'differs in size'"
        explain(f"Next to refuted are those whose direction holds and whose size does not: {near}")


def _totals(rows: Sequence[ClaimRow]) -> list[dict[str, Any]]:
    words: tuple[str, ...] = VERDICT_WORDS
    counts = Counter((row.claim.paper, row.entry.verdict) for row in rows)
    lines = [(key, {word: counts[key, word] for word in words}) for key in dict.fromkeys(key for key, _ in counts)]
    if len(lines) > 1:
        lines.append(("all", {word: sum(count[word] for _, count in lines) for word in words}))
    return [{"paper": key, "claims": sum(count.values()), **count} for key, count in lines]


def _json_row(row: ClaimRow) -> dict[str, Any]:
    """Return all columns of the ledger, numbers as numbers; an open end of a range is null."""
    ends = {name: float(text) if (text := getattr(row.claim, name)) else None for name in ("low", "high")}
    return asdict(row.claim) | ends | asdict(row.entry)


def _csv_row(row: ClaimRow) -> dict[str, Any]:
    """Return all columns of the ledger; several numbers of one cell with blanks between, as in the ledger."""
    lists = {name: " ".join(f"{value:.10g}" for value in getattr(row.entry, name)) for name in ("value", "interval")}
    return asdict(row.claim) | asdict(row.entry) | lists


def cite(*, paper: str | None = None, style: Literal["bibtex", "text"] = "bibtex") -> None:
    """Print references to the papers.

    Parameters
    ----------
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    style
        bibtex or text.
    """
    print(references(paper, style=style))
