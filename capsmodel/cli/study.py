"""``capsmodel study`` and ``capsmodel merge``: a study on cores, a cluster or several machines, with its verdicts."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tomli_w
from cyclopts import Parameter

from capsim.results.files import check_entries
from capsim.results.load_record import offered_line
from capsim.study.claims import Design
from capsim.study.file import read_study, tables_of
from capsim.study.metrics import METRICS
from capsim.study.points import point_name
from capsim.study.study import RESULTS, ROWS, Studied, Study
from capsmodel._files import check_writable
from capsmodel.checks import choice, require
from capsmodel.cli.shared.machines import ALL_CORES, MACHINES, Machines
from capsmodel.cli.shared.options import Flag, MaybeCount, MaybeDuration, Texts, parse_shard, settings_of
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say, write_whole
from capsmodel.cli.shared.run_output import PLOTTED, metric_rows, missing_ratios, records, shown
from capsmodel.cli.shared.table import Column
from capsmodel.datafiles import data_path
from capsmodel.plotting import can_draw, check_figure_path, save_figure

_STUDY, _PLOT = "study.toml", "study.png"
FILES = frozenset({ROWS, RESULTS, _STUDY, "runs.csv", "table.csv", "verdicts.csv", _PLOT})
_METRICS = "mean_fct_short_s,p99_fct_short_s"
_PER_HOUR = 1 / 3600
_VERDICTS = [Column("id", "claim"), Column("word", "word"), Column("seeds", "seeds"), Column("point", "at")]
_VERDICTS.append(Column("ours", "ours", ends=("low", "high")))

Metrics = Annotated[str, Parameter(group=OUTPUT)]
Out = Annotated[Path | None, Parameter(group=OUTPUT)]
Keep = Annotated[bool, Parameter(group=OUTPUT, negative=(), show_default=False)]


def study(
    study: str,
    /,
    *,
    set_: Annotated[Texts, Parameter(name="--set", metavar="KEY=VALUE")] = (),
    seeds: MaybeCount = None,
    settings: Flag = False,
    quick: Flag = False,
    reduced: Flag = False,
    expand: Flag = False,
    costs: Flag = False,
    check: Flag = False,
    budget: Annotated[MaybeDuration, Parameter(group=MACHINES)] = None,
    shard: Annotated[str, Parameter(group=MACHINES, metavar="I/N")] = "1/1",
    machines: Machines = ALL_CORES,
    out: Out = None,
    keep_results: Keep = False,
    metrics: Metrics = _METRICS,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Run a study: the points of its axes, with several seeds, and decide what it claims.

    A study that was stopped goes on where it was when the same command is given again.

    Parameters
    ----------
    study
        The TOML file, the name of a study of the papers, or a claim of one.
    set_
        A name or setting in place of that of the file, as in --set transport.min_rto_s=1s; several times.
    seeds
        Runs of each point, at most those of claims; what the file says when left out.
    settings
        Try what is left open too.
    quick
        Run a small version with two seeds, which shows that all of it works and decides nothing.
    reduced
        Run the version of [reduced].
    expand
        Print the file with all that it inherits, its points and the number of runs, and run nothing.
    costs
        Print how many runs there are and are missing, and their processor time, and run nothing.
    check
        Check that the rows in DIR are of this study, and run nothing.
    budget
        Begin no further run after this time.
    shard
        Run only share I of N of the runs, for a batch scheduler; capsmodel merge puts the shares together.
    out
        Folder DIR for tables, figure and rows of the runs; the name of the study when left out.
    keep_results
        Keep the flows of every run in DIR/results too; runs that were made without it are made again. Workers of a
        cluster must see DIR under the same name.
    metrics
        What to print of a study without claims, separated by commas; DIR/table.csv has all.
    plot
        File for the picture (.pdf, .png or .svg), in place of DIR/study.png.
    """
    require(not (quick and reduced), "--quick and --reduced exclude each other: give one")
    asked = _asked(study, dict(settings_of(set_)), seeds, reduced=reduced)
    folder = Path(asked.name) if out is None else out
    if expand:
        _expand(asked)
        return
    if plot is not None:
        check_figure_path(plot)
    share, wanted = parse_shard(shard), _wanted(metrics)
    _check_folder(folder)
    if costs or check:
        (_costs if costs else _check)(asked, folder, output)
        return
    if quick:
        _try_out(asked, folder, machines)
        return
    execute, budget_s = machines.executor(), math.inf if budget is None else budget
    where: dict[str, Any] = {"executor": execute, "shard": share, "budget_s": budget_s, "log": True}
    found = asked.run(folder, settings=settings, keep_results=keep_results, **where)
    write_whole(folder / _STUDY, tomli_w.dumps(tables_of(asked.design.source)))
    if share[1] > 1:
        _tell_shard(found, share, study, folder, output)
    else:
        _finish(found, folder, wanted, plot, output)


def merge(
    study: Path,
    /,
    *folders: Path,
    out: Out = None,
    metrics: Metrics = _METRICS,
    output: Output = AS_TEXT,
) -> None:
    """Put the shares of a study together that capsmodel study --shard has run, and print means with 95% intervals.

    Parameters
    ----------
    study
        The TOML file that was run.
    folders
        The folders DIR of the shares.
    out
        Folder DIR for tables and figure; the name of the file without .toml when left out.
    metrics
        What to print, separated by commas; DIR/table.csv has all.
    """
    asked = _asked(str(study), {}, None)
    require(bool(folders), "name the folders of the shares, as in capsmodel merge study.toml shard1 shard2")
    folder, wanted = Path(study.stem) if out is None else out, _wanted(metrics)
    _check_folder(folder)
    found = asked.results(folders)
    many = len(asked.tasks())
    require(not found.missing, f"{found.missing} of {many} tasks have no result: run the study again to add them")
    folder.mkdir(parents=True, exist_ok=True)
    _finish(found, folder, wanted, None, output)


def _asked(name: str, changed: dict[str, Any], seeds: int | None, *, reduced: bool = False) -> Study:
    """Return the study of a file, of the papers, or of a claim of theirs."""
    claim = None
    path = Path(name)
    if not path.is_file():
        path, claim = _of_papers(name)
    design = Design(read_study(path), changed)
    if claim is not None:
        design = design.about(claim)
    if seeds is not None:
        design = design.with_seeds(seeds)
    return Study.of(replace(design, at_scale="reduced") if reduced else design)


def _of_papers(name: str) -> tuple[Path, str | None]:
    """Return the file of a study of the papers, and the claim if the name is one."""
    folder = Path(str(data_path("papers/claims.csv"))).parent / "studies"
    files = {file.stem: file for file in sorted(folder.glob("*.toml"))}
    if name in files:
        return files[name], None
    found = next((file for file in files.values() if name in Design(read_study(file)).claims), None)
    if found is not None:
        return found, name
    raise FileNotFoundError(f"no file {name!r}, and no study or claim of the papers has this name: capsmodel claims")


def _wanted(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    require(bool(names), "--metrics is empty: name some, as in --metrics mean_fct_short_s,timeouts")
    for name in names:
        choice("--metrics", name, METRICS)
    return names


def _check_folder(folder: Path) -> None:
    check_entries(folder, made_of=FILES)
    check_writable(folder)


def _try_out(asked: Study, folder: Path, machines: Machines) -> None:
    made = asked.try_out(folder, executor=machines.executor())
    explain(f"{asked.name}: {made} small runs; they decide nothing. Run it without --quick.")


def _expand(asked: Study) -> None:
    say(tomli_w.dumps(tables_of(asked.design.source)).rstrip(), "")
    say(*(f"# {line}" for line in asked.describe().splitlines()))
    say(*(f"# {point_name(point)}" for point in asked.design.points()))


def _costs(asked: Study, folder: Path, output: Output) -> None:
    row = asked.costs(folder)
    columns = [
        Column("study", "study"),
        Column("runs", "runs made"),
        Column("cpu_s", "they took (h)", _PER_HOUR),
        Column("missing_runs", "runs missing"),
        Column("missing_cpu_s", "they take about (h)", _PER_HOUR),
    ]
    print_table([row], columns=columns, title="Processor time", output=output)


def _check(asked: Study, folder: Path, output: Output) -> None:
    ours, others = asked.check(folder)
    if not output.is_text:
        print_table([{"rows": ours, "other_rows": others}], output=output)
    require(
        others == 0,
        f"{others} rows in {folder / ROWS} are of no run of {asked.name}: it was changed since, or shares DIR",
    )
    if output.is_text:
        say(f"{ours} rows in {folder / ROWS}, all of {asked.name}")


def _tell_shard(found: Studied, share: tuple[int, int], study: str, folder: Path, output: Output) -> None:
    row = {"shard": share[0], "shards": share[1], "ran": found.ran, "found": found.found}
    if not output.is_text:
        print_table([row], output=output)
        return
    explain(
        f"Shard {share[0]} of {share[1]}: {found.ran} runs made, {found.found} found in {folder}. When all shards "
        f"are there: capsmodel merge {study} FOLDER... --out DIR"
    )


def _finish(found: Studied, folder: Path, metrics: Sequence[str], plot: Path | None, output: Output) -> None:
    """Write tables and figure, and print verdicts, or the metrics asked for."""
    write_whole(folder / "runs.csv", found.runs.to_csv(index=False))
    if len(found.runs):
        write_whole(folder / "table.csv", found.table().to_csv(index=False))
    claimed = any(claim.is_simulated for claim in found.study.claims.values())
    if claimed:
        write_whole(folder / "verdicts.csv", found.verdicts().to_csv(index=False))
    if len(found.runs) and can_draw():
        save_figure(found.plot(metrics=PLOTTED), folder / _PLOT if plot is None else plot)
    caution(*found.remarks())
    if claimed:
        _print_verdicts(found, output)
    else:
        _print(found, metrics, output)
    if output.is_text:
        say(f"wrote tables and figure to {folder}")


def _print_verdicts(found: Studied, output: Output) -> None:
    print_table(records(found.verdicts()), columns=_VERDICTS, title=found.study.name, output=output)
    if not output.is_text:
        return
    words = [found.verdict(name).word for name, claim in found.study.claims.items() if claim.is_simulated]
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    explain("", f"{len(words)} claims: {counts}. {_totals_line(found.runs) if len(found.runs) else 'No run.'}")


def _print(found: Studied, metrics: Sequence[str], output: Output) -> None:
    table = found.table(metrics)
    if not output.is_text:
        print_table(records(table), output=output)
        return
    axes = {name: list(axis.values) for name, axis in found.study.design.axes.items()}
    several = [axis for axis, values in axes.items() if len(values) > 1] or list(axes)
    fixed = [f"{axis} = {values[0]}" for axis, values in axes.items() if axis not in several]
    first = str(axes["scheme"][0]) if "scheme" in several else None
    seeds = found.study.most_seeds
    over = f"mean ± 95% half-width over {seeds} seeds" if seeds > 1 else "one run each, so no interval"
    paired = seeds > 1 and first is not None
    ratios = [f"ratios to {first} are geometric means, seed by seed (95% interval)"] if paired else []
    explain("; ".join([f"{found.study.name}: {over}", *ratios, *fixed]))
    explain(*filter(None, [offered_line(found.runs)]))
    for metric in metrics:
        rows, columns = metric_rows(table, several, [metric], first_scheme=first)
        say("")
        print_table(rows, columns=columns, title=shown(metric).label)
    missing = missing_ratios(table, several, metrics, seeds=seeds) if first else []
    explain("", *missing, _totals_line(found.runs))


def _totals_line(runs: Any) -> str:
    return f"{len(runs)} runs, {runs['cpu_s'].sum():.1f} CPU s, {runs['unfinished_flows'].sum()} flows unfinished"
