"""``capsmodel equations``, ``claims`` and ``cite``: what the papers print and what the package makes of it."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from capsmodel.checks import did_you_mean, require
from capsmodel.cli.shared.claim_texts import claim_text, counted, points_of, skewed
from capsmodel.cli.shared.options import Flag
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, csv_text, explain, print_table, say
from capsmodel.cli.shared.table import Column
from capsmodel.datafiles import data_path
from capsmodel.experiments.number_texts import number
from capsmodel.experiments.statistics.nearest import MOVED
from capsmodel.experiments.words import MEANINGS, VERDICT_WORDS
from capsmodel.papers import ClaimRow, claim_totals, nearest_settings, settings_of_paper
from capsmodel.papers import cite as references
from capsmodel.papers import claims as claim_rows
from capsmodel.papers import equations as equation_rows
from capsmodel.papers import numbers as number_rows
from capsmodel.papers.claim_list import PAPER_KEYS

MOST_SETTINGS = 5
"""Settings of a paper that are printed as text; --csv and --json have all."""
_VERDICTS = "Only claims with this verdict:\n" + "\n".join(f"{verdict}: {text}." for verdict, text in MEANINGS.items())


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
    name: str | None = None,
    *,
    paper: str | None = None,
    verdict: Annotated[str | None, Parameter(help=_VERDICTS)] = None,
    all: Flag = False,
    totals: Flag = False,
    depends_on: Flag = False,
    by_setting: Flag = False,
    nearest: Flag = False,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Show what the papers claim, what we have, the verdict and the reason, for claims that have been run.

    A claim that has been run is open if its samples do not decide; the reason says how many they are.

    Parameters
    ----------
    name
        One claim, with our value at each point, or the claims of a figure or study by its name in the gallery; with
        --by-setting a claim or a study.
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    verdict
        Only claims with this verdict.
    all
        Also those that wait for runs.
    totals
        Only count them, by verdict and paper; those that differ also by the factor by which their worst point does, and
        open ones by what it takes to decide them.
    depends_on
        List the claims that were run in several settings of what the papers leave unstated: robust, or what turns the
        verdict.
    by_setting
        List the verdict in each of these settings, from the runs that are kept, and the least and the largest of the
        values of its points (medians of the runs, also of fewer than decide).
    nearest
        List the printed sizes that ours are off, farthest first, and the setting in which ours are nearest; with
        --totals, by paper and setting, what it does to all sizes that were run in it.
    plot
        With --by-setting, write a figure of these claims by settings to this file (PNG, PDF or SVG; needs matplotlib).
    """
    listed = sum((totals and not nearest, depends_on, by_setting, nearest))
    one = "--totals counts verdicts, --depends-on, --by-setting and --nearest list settings: give one of them"
    require(listed <= 1, one)
    require(plot is None or by_setting, "--plot goes with --by-setting: it draws the verdicts by settings")
    if by_setting:
        require(name is not None, "--by-setting looks at the runs of a study: name it, or a claim")
        if plot is not None:
            from capsmodel.plotting import check_figure_path  # matplotlib takes a second to load

            check_figure_path(plot)
        _print_by_setting(str(name), plot, output)
        return
    if name is not None:
        require(not (listed or paper or verdict or all), f"all that is known of {name} is printed: give the name alone")
        entries = _rows_of(name)
        if [row.claim.id for row in entries] == [name]:
            _print_claim(entries[0], output)
        else:
            _print_claims(entries, output)
        return
    rows = claim_rows(paper, verdict)
    if nearest:
        (_print_settings_for_all if totals else _print_nearest)(rows, output)
        return
    if depends_on:
        _print_depends_on(rows, output)
        return
    if totals:
        print_table(claim_totals(rows), title="Published claims, by verdict", output=output)
        return
    shown = [row for row in rows if all or verdict or row.entry.was_run]
    _print_claims(shown, output)
    if output.is_text:
        _print_answer(paper, verdict, len(shown))


def _rows_of(name: str) -> tuple[ClaimRow, ...]:
    """Return the claim of an id, or those of a figure or study of the gallery.

    Raises
    ------
    ParameterError
        If there is none; the nearest names are named.
    """
    rows = {row.claim.id: row for row in claim_rows()}
    if name in rows:
        return (rows[name],)
    from capsmodel.papers.gallery import pictures  # the figures load pandas

    drawn = {one.name: one.claims for paper in PAPER_KEYS for one in pictures(paper)}
    remedy = did_you_mean(name, [*rows, *drawn], otherwise="capsmodel claims --all lists them")
    if name in PAPER_KEYS:
        remedy = f"capsmodel claims --paper {name} lists those of that paper"
    require(name in drawn, f"no claim, figure or study {name!r}: {remedy}")
    return drawn[name]


def _print_claim(row: ClaimRow, output: Output) -> None:
    """Print all that is known of a claim, and the command that computes it again."""
    if not output.is_text:
        _print_claims([row], output)
        return
    say(f"{row.claim.id}: {row.entry.marked_verdict}")
    explain(*claim_text(row.claim, row.entry), indent=2)
    if row.claim.conditions:
        explain(f"Where: {row.claim.conditions}.", indent=2)
    if points := points_of(row.entry):
        columns = [Column("point", "point"), *(Column(key, key, right=True) for key in ("ours", "from", "to"))]
        print_table(points, columns=columns, title="Ours by point, with its interval")
    if row.entry.in_other_settings:
        explain(f"In other settings: {row.entry.in_other_settings}.", indent=2)
    if near := nearest_settings().get(row.claim.id):
        off = f"off by {number(near.factor)} times, by {number(near.in_text)} in that of the text ({near.seeds} seeds)"
        explain(f"Nearest to print with {near.setting}: {off}.", indent=2)
    explain(*_next_look(row), indent=2)
    if command := _command(row):
        explain(f"Computed by: {command}", indent=2)


def _next_look(row: ClaimRow) -> list[str]:
    """Return what the next interim analysis of an open claim takes, and what would decide it."""
    entry = row.entry
    if entry.verdict == "open" and entry.was_run and not entry.seeds:
        return ["To decide it: more runs than the figure makes, in a study."]
    texts = []
    if entry.next_seeds:
        texts.append(f"Next interim analysis: {entry.next_seeds} seeds, {_hours(entry.next_cpu_h)}.")
    if entry.takes_seeds and entry.was_run:
        how = f"{entry.takes_seeds} seeds, {_hours(entry.takes_cpu_h)}, if further ones scatter as these"
        texts.append(f"To decide it: about {how}: capsmodel study {row.claim.id} --seeds {entry.takes_seeds}")
    return texts


def _hours(cpu_h: float) -> str:
    return f"{number(cpu_h)} CPU hours" if cpu_h else "no run"


def _command(row: ClaimRow) -> str:
    """Return what computes a claim; empty where nothing can."""
    if row.claim.has_closed_form:
        return f"capsmodel equations --numbers --paper {row.claim.paper}; the function is {row.claim.formula}"
    if row.claim.formula:
        return f"capsmodel study {row.entry.decided_by}"
    return "" if row.claim.not_testable else f"capsmodel study {row.claim.id}"


def _print_claims(rows: Iterable[ClaimRow], output: Output) -> None:
    if output.json:
        print_table([_json_row(row) for row in rows], output=output)
    elif output.csv:
        print_table([_csv_row(row) for row in rows], output=output)
    else:
        for row in rows:
            settings = row.entry.in_other_settings
            say(f"{row.claim.id}: {row.entry.marked_verdict}")
            notes = [skewed(*row.entry.skewness)] if row.entry.skewness else []
            notes += [f"Settings: {settings}."] if settings else []
            explain(*claim_text(row.claim, row.entry), *notes, *_next_look(row), indent=2)
            say("")


def _print_depends_on(rows: Iterable[ClaimRow], output: Output) -> None:
    """Print what is known of the claims that are decided in several settings, the least robust first."""
    rows_and_settings = [(row, one) for row in rows if (one := row.entry.robustness).decided > 1]
    lines = [
        {
            "claim": row.claim.id,
            "verdict": row.entry.verdict,
            "agreeing": one.agreeing,
            "decided": one.decided,
            "depends_on": "; ".join(one.depends_on),
            "compared": one.word,
            "in_other_settings": one.beside(row.entry.verdict),
        }
        for row, one in sorted(rows_and_settings, key=lambda each: each[1].share)
    ]
    if not lines and output.is_text:
        explain("No claim is decided in several settings yet: capsmodel study NAME runs a study.")
        return
    columns = [Column("claim", "claim"), Column("verdict", "verdict"), Column("in_other_settings", "in other settings")]
    print_table(lines, columns=columns, title="What verdicts depend on", output=output)


def _print_nearest(rows: Iterable[ClaimRow], output: Output) -> None:
    """Print by how much printed sizes are missed, and the setting in which least."""
    best = nearest_settings()
    missed = [one for row in rows if (one := best.get(row.claim.id)) and (one.in_text > MOVED or not output.is_text)]
    lines = [asdict(one) for one in sorted(missed, key=lambda one: -one.in_text)]
    title = "Factors by which our values are off print: in the text's setting, and in the nearest one that was run"
    columns = [Column("id", "claim"), Column("in_text", "text", right=True), Column("factor", "nearest", right=True)]
    columns += [Column("seeds", "seeds", right=True), Column("setting", "setting")]
    print_table(lines, columns=columns, title=title, output=output)


def _print_settings_for_all(rows: Iterable[ClaimRow], output: Output) -> None:
    """Print what each setting does to all printed sizes of a paper that were run in it."""
    papers = dict.fromkeys(row.claim.paper for row in rows)
    lines = [
        {"paper": paper} | asdict(one)
        for paper in papers
        for one in settings_of_paper(paper)[: MOST_SETTINGS if output.is_text else None]
    ]
    counts = ("claims", "claims"), ("towards", "towards"), ("away", "away"), ("in_text", "text"), ("factor", "with it")
    columns = [Column("paper", "paper"), *(Column(key, title, right=True) for key, title in counts)]
    columns += [Column("setting", "setting")]
    title = "Settings by what they do to a paper's printed sizes: geometric means of the factors by which ours are off"
    print_table(lines, columns=columns, title=title, output=output)


def _print_by_setting(name: str, plot: Path | None, output: Output) -> None:
    """Print the verdicts of claims in each setting that counts for them, from the runs that are kept."""
    from capsim.study.campaign import Campaign
    from capsim.study.claims.looks import points_there
    from capsim.study.kept_runs import MOST_SEEDS_OF_OTHERS
    from capsmodel.papers.claim_list import read_claims
    from capsmodel.papers.studies import published_studies, study_named

    study = study_named(name)
    campaign = Campaign(published_studies()[study], data_path("results/runs"))
    claims = [name] if name in read_claims() else campaign.simulated
    verdicts = {claim: campaign.words(claim) for claim in claims}
    rows = []
    for claim, setting, verdict in ((claim, *one) for claim, each in verdicts.items() for one in each.items()):
        seeds, points = points_there(campaign.evidence(claim, setting, sampled=True), MOST_SEEDS_OF_OTHERS)
        ours = sorted(one.median for one in points if not one.is_silent)
        least, largest = (ours[0], ours[-1]) if ours else (None, None)
        rows += [
            {"claim": claim, "setting": setting, "verdict": verdict, "least": least, "largest": largest, "seeds": seeds}
        ]
    title = f"{study}: verdicts at the sampled points, and medians of the runs there, by setting"
    print_table(rows, title=title, output=output)
    if plot is not None:
        from capsmodel.papers.figures._by_setting import draw_by_setting
        from capsmodel.plotting import save_figure

        save_figure(draw_by_setting(study, verdicts), plot)
        if output.is_text:
            say(f"wrote {plot}")


def claims_csv() -> str:
    """Return what ``capsmodel claims --all --csv`` prints."""
    return csv_text([_csv_row(row) for row in claim_rows()])


def _print_answer(paper: str | None, verdict: str | None, count: int) -> None:
    """Print how many claims there are of each verdict, and where to look if none has the one asked for."""
    verdicts = [row.entry.verdict for row in claim_rows(paper)]
    whose = f"the {len(verdicts)} claims of {paper}" if paper else f"all {len(verdicts)} claims"
    if verdict and not count:
        explain(f"None of {whose} has the verdict {verdict}: {counted(verdicts, VERDICT_WORDS)}.")
    else:
        explain(f"Of {whose}: {counted(verdicts, VERDICT_WORDS)}.")


def _json_row(row: ClaimRow) -> dict[str, Any]:
    """Return all columns of the ledger, numbers as numbers; an open end of a range is null."""
    ends = {name: float(text) if (text := getattr(row.claim, name)) else None for name in ("low", "high")}
    return asdict(row.claim) | ends | asdict(row.entry)


def _csv_row(row: ClaimRow) -> dict[str, Any]:
    """Return all columns of the ledger; several numbers of one cell with blanks between, as in the ledger."""
    several = ("value", "interval", "skewness", "settings")
    lists = {name: " ".join(f"{value:.10g}" for value in getattr(row.entry, name)) for name in several}
    return asdict(row.claim) | asdict(row.entry) | lists


def cite(run: Path | None = None, *, paper: str | None = None, style: Literal["bibtex", "text"] = "bibtex") -> None:
    """Print references to the papers, or to what a run used: the sources of its schemes and of its flow sizes.

    Parameters
    ----------
    run
        A Parquet file of a result, such as out/flows.parquet, or its folder.
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    style
        bibtex or text.
    """
    if run is None:
        print(references(paper, style=style))
        return
    require(paper is None, "--paper is one of the five papers: leave it out where a run is named")
    from capsim.results.files import read_manifest
    from capsim.scenario.scenario import from_dict
    from capsmodel.papers.sources import cite_run

    manifest = read_manifest(run / "flows.parquet" if run.is_dir() else run)
    print(cite_run(from_dict(manifest["parameters"]["scenario"]), style=style))
