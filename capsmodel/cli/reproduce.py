"""``capsmodel reproduce``: figures and experiments of the papers, their lists and their costs."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from pandas import DataFrame

from capsmodel._files import check_writable
from capsmodel.checks import require
from capsmodel.cli.shared.claim_texts import claim_text, counted, skewed
from capsmodel.cli.shared.machines import ALL_CORES, MACHINES, Machines
from capsmodel.cli.shared.options import Flag, MaybeDuration, parse_shard
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, explain, print_table, say, write_whole
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.manifest import table_csv, table_id
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.sweep import Executor, Progress, gather, run_sweep
from capsmodel.experiments.words import VERDICT_WORDS
from capsmodel.papers.campaign import Campaign, advance
from capsmodel.papers.experiments import PublishedExperiment, published_experiment, published_experiments
from capsmodel.papers.figures import PublishedFigure, published_figures
from capsmodel.papers.figures._by_setting import draw_by_setting
from capsmodel.papers.index import Claim, LedgerEntry, name_of, read_claims, read_costs, read_ledger
from capsmodel.papers.ledger import ComputedExperiment, computed_experiments
from capsmodel.papers.verdicts import Verdict
from capsmodel.plotting import can_draw, save_figure

_PER_HOUR = 1 / 3600
_LIST = [Column("name", "name"), Column("title", "shows"), Column("claims", "claims")]
_COSTS = [
    Column("experiment", "experiment"),
    Column("runs", "runs made"),
    Column("runs_cpu_s", "they took (h)", _PER_HOUR),
    Column("missing_runs", "runs missing"),
    Column("missing_cpu_s", "they take about (h)", _PER_HOUR),
    Column("shared_runs", "runs of others"),
]


def print_list(output: Output) -> None:
    """Print the name of each figure and experiment, what it shows, and the claims that it decides or would decide.

    A figure and an experiment may compare the same; then the claim stands where the ledger has it from.
    """
    figures = [(one.name, one.title, one.claims) for one in published_figures().values()]
    experiments = [(one.name, one.title, one.statements) for one in published_experiments().values()]
    others = [
        (one.name, one.title, [claim.id for claim in one.claims_without_figure])
        for one in computed_experiments().values()
    ]
    listed, ledger = figures + experiments + others, read_ledger()
    names = {name for name, *_ in listed}
    rows = []
    for name, title, compared in listed:
        claims = [claim for claim in compared if ledger[claim].decided_by not in names - {name}]
        rows.append({"name": name, "title": title.rstrip("."), "claims": ", ".join(claims)})
    print_table(rows, columns=_LIST, title="Figures and experiments of the papers", output=output)


def print_costs(names: Sequence[str], output: Output) -> None:
    """Print the processor time of experiments, of all if none is named, and their sum.

    Raises
    ------
    ParameterError
        If there is no experiment of such a name.
    """
    asked = {published_experiment(name).name for name in names} or set(published_experiments())
    rows: list[dict[str, Any]] = [asdict(one) for one in read_costs() if one.experiment in asked]
    if len(rows) > 1:
        sums = {key: sum(row[key] for row in rows) for key in rows[0] if key != "experiment"}
        rows.append({"experiment": "sum"} | sums)
    print_table(rows, columns=_COSTS, title="Processor time of the experiments", output=output)


RESULTS = "results"
_FIRST = "the first run of a scheme compiles it: up to 2 min"


def try_out(experiment: PublishedExperiment, out: Path, executor: Executor) -> None:
    """Run the small version of an experiment and write its rows: it shows that all of it works, and judges nothing."""
    tasks = experiment.quick_tasks()
    progress = Progress(label=experiment.name, first=_FIRST)
    rows = gather(list(tasks.values()), out / RESULTS, executor=executor, progress=progress)
    file = out / f"{experiment.name}-quick.csv"
    write_whole(file, table_csv(rows.drop(columns="cpu_s", errors="ignore")))
    say(f"wrote {file}")
    explain(f"{experiment.name}: {len(rows)} small runs; they judge no claim. Run it without --quick to decide claims.")


def reproduce_experiments(
    experiments: Sequence[PublishedExperiment],
    out: Path,
    *,
    budget_s: float,
    shard: tuple[int, int],
    executor: Executor,
) -> None:
    """Add runs until the claims are decided or the time is over; print the verdicts and what they hang on."""
    label = experiments[0].name if len(experiments) == 1 else f"{len(experiments)} experiments"
    progress = Progress(first=_FIRST, log=True)
    made = advance(experiments, out / RESULTS, budget_s=budget_s, shard=shard, executor=executor, progress=progress)
    if shard != (1, 1):
        explain(
            f"Shard {shard[0]} of {shard[1]}: {made} runs made. Put the files of all folders {RESULTS} together in "
            "one, and give the same command again for the next look, or without --shard for the verdicts."
        )
        return
    explain(f"{label}: {made} runs made now.")
    for experiment in experiments:
        campaign = Campaign(experiment, out / RESULTS)
        for file in _write_experiment(campaign, out):
            say(f"wrote {file}")
        _report(campaign)


def _write_experiment(campaign: Campaign, out: Path) -> list[Path]:
    if campaign.frame.empty:
        return []
    files = [out / f"{campaign.experiment.name}.csv"]
    write_whole(files[0], table_csv(campaign.frame))
    if can_draw():
        files.append(out / f"{campaign.experiment.name}-settings.png")
        words = {claim: campaign.words(claim) for claim in campaign.experiment.statements}
        save_figure(draw_by_setting(campaign.experiment.name, words), files[-1])
    return files


def _report(campaign: Campaign) -> None:
    verdicts = [campaign.verdict(claim) for claim in campaign.experiment.statements]
    for verdict in verdicts:
        say("", f"{verdict.id}: {verdict.verdict}, {campaign.robustness(verdict.id).beside(verdict.verdict)}")
        found = campaign.judged(verdict.id, TEXT, sampled=False).decision.skewness.values()
        notes = [skewed(min(found), max(found))] if found else []
        explain(*claim_text(read_claims()[verdict.id], verdict), *notes, indent=2)
    words = counted([verdict.verdict for verdict in verdicts], VERDICT_WORDS)
    rest = len(campaign.next_tasks())
    more = f"; {rest} runs are missing for the next look: give the same command again" if rest else ""
    explain("", f"{campaign.experiment.name}: of {len(verdicts)} claims {words}{more}.")


def reproduce(
    *names: str,
    every: Annotated[bool, Parameter(name="--all", negative=(), show_default=False)] = False,
    quick: Flag = False,
    budget: Annotated[MaybeDuration, Parameter(group=MACHINES)] = None,
    shard: Annotated[str, Parameter(group=MACHINES, metavar="I/N")] = "1/1",
    machines: Machines = ALL_CORES,
    known: Annotated[bool, Parameter(name="--list", negative=(), show_default=False)] = False,
    show_costs: Annotated[bool, Parameter(name="--costs", negative=(), show_default=False)] = False,
    out: Annotated[Path, Parameter(group=OUTPUT)] = Path("out"),
    output: Output = AS_TEXT,
) -> None:
    """Compute figures of the papers, draw them with what the papers print beside, and judge the claims about them.

    Each figure becomes NAME.csv and NAME.png; the picture carries the start of the table's SHA-256. Simulations are
    kept in the folder results, so a run that was stopped goes on where it was. An experiment is run at the paper's
    scale, with more seeds where its claims are open, in the setting of the text and in others.

    Parameters
    ----------
    names
        Figures and experiments, such as caps-fig9a and repflow-ns3-ws. An experiment without simulations, such as
        caps-overhead, is its figures, closed forms and data.
    every
        All figures.
    quick
        Coarser grids and fewer packets: seconds instead of minutes. Too few packets to judge a claim by.
    budget
        Begin no more runs of experiments after this time, such as 2h or 30min.
    shard
        Make only share I of N of the next runs of experiments, for a batch scheduler.
    known
        List the figures and experiments with the claims that each decides, and compute none.
    show_costs
        List the processor time of the named experiments, or of all: of the runs that the ledger has, and about that of
        those that the first look at each claim misses, in all settings; run none.
    out
        The folder; made when it is missing.
    """
    share = parse_shard(shard)
    limited = budget is not None or share != (1, 1)
    require(not (known and (show_costs or names)), "--list shows all names: give it alone")
    if known or show_costs:
        rule = "--list and --costs run nothing: leave out --all, --quick, --budget, --shard, --jobs and --cluster"
        require(not (every or quick or limited or machines != ALL_CORES), rule)
        print_list(output) if known else print_costs(names, output)
        return
    require(not (every and names), "--all computes all figures: give it without names")
    rule = "name figures or experiments, as in caps-fig9a, or give --all; --list shows their names"
    require(every or bool(names), rule)
    figures, computed, simulated = _asked_for(tuple(published_figures()) if every else names)
    require(not (limited and (figures or computed)), "--budget and --shard go with simulated experiments; see --list")
    require(not (limited and quick), "--quick makes few runs, all at once: leave out --budget and --shard")
    require(output.is_text, "--json and --csv go with --list; the data of a figure are in its CSV file")
    executor = machines.executor()
    _make_folder(out)
    _reproduce_figures(figures, out, quick, executor)
    for one in computed:
        _tell_rest(one)
    for experiment in simulated if quick else []:
        try_out(experiment, out, executor)
    if simulated and not quick:
        budget_s = math.inf if budget is None else budget
        reproduce_experiments(simulated, out, budget_s=budget_s, shard=share, executor=executor)


def _asked_for(
    names: Sequence[str],
) -> tuple[list[PublishedFigure], list[ComputedExperiment], list[PublishedExperiment]]:
    """Return the figures, experiments without simulations and simulated ones of these names or ids, each once.

    Raises
    ------
    ParameterError
        If there is nothing of such a name.
    """
    drawn, computed, simulated = published_figures(), computed_experiments(), published_experiments()
    unknown = [name for name in names if name_of(name) not in drawn.keys() | computed.keys() | simulated.keys()]
    require(not unknown, f"no figure or experiment {', '.join(unknown)}: capsmodel reproduce --list shows all")
    asked = list(dict.fromkeys(map(name_of, names)))
    parts = [computed[name] for name in asked if name in computed]
    figures = [drawn[name] for name in asked if name in drawn] + [figure for one in parts for figure in one.figures]
    unique = list({figure.name: figure for figure in figures}.values())
    return unique, parts, [simulated[name] for name in asked if name in simulated]


def _make_folder(out: Path) -> None:
    """Make the folder, or refuse, before the work, one that cannot be written."""
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    check_writable(out)
    out.mkdir(parents=True, exist_ok=True)


def _reproduce_figures(figures: Sequence[PublishedFigure], out: Path, quick: bool, executor: Executor) -> None:
    _simulate(figures, out, quick, executor)
    draws = can_draw()
    for figure in figures:
        frame = figure.data(quick=quick, results=out / "results")
        for path in _write(figure, frame, out, quick, draws=draws):
            say(f"wrote {path}")
        _judge(figure, frame, quick)


def _simulate(figures: Sequence[PublishedFigure], out: Path, quick: bool, executor: Executor) -> None:
    """Run the simulations of all figures as one sweep; figures may share some."""
    tasks = {task.id: task for figure in figures for task in figure.tasks(quick=quick)}
    if tasks:
        run_sweep(tasks.values(), out / "results", executor=executor, progress=Progress(label="simulations"))


def _write(figure: PublishedFigure, frame: DataFrame, out: Path, quick: bool, *, draws: bool) -> list[Path]:
    data, picture = out / f"{figure.name}.csv", out / f"{figure.name}.png"
    write_whole(data, table_csv(frame))
    if not draws:
        return [data]
    drawn = figure.drawn(frame, quick=quick)
    mode = " --quick" if quick else ""
    caption = f"capsmodel reproduce {figure.name}{mode} · SHA-256 of the data {table_id(frame)[:16]}"
    drawn.text(0.998, 0.5, caption, rotation=90, ha="right", va="center", fontsize=5, color="0.45")
    save_figure(drawn, picture)
    return [data, picture]


def _judge(figure: PublishedFigure, frame: DataFrame, quick: bool) -> None:
    """Print the verdicts that follow from this very table."""
    verdicts = figure.verdicts(frame, quick=quick)
    for verdict in verdicts:
        _tell(read_claims()[verdict.id], verdict)
    if not figure.claims:
        explain(f"{figure.name} judges no claim: an experiment does, see capsmodel reproduce --list")
    elif not verdicts:
        explain(
            f"{figure.name}: a quick run judges no claim; run it without --quick, or see what the full run gave with "
            f"capsmodel claims --paper {figure.name.partition('-')[0]}"
        )


def _tell_rest(experiment: ComputedExperiment) -> None:
    """Print what closed forms and data say of the claims of an experiment that no figure decides."""
    for claim, found in experiment.verdicts():
        _tell(claim, found)
    if not experiment.claims_without_figure and not experiment.figures:
        explain(f"{experiment.name}: the paper claims nothing about it, so nothing is run.")


def _tell(claim: Claim, found: Verdict | LedgerEntry) -> None:
    say("", f"{claim.id}: {found.verdict}")
    explain(*claim_text(claim, found), indent=2)
