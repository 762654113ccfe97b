"""``capsmodel sweep`` and ``capsmodel merge``: a study over a grid, on cores, a cluster or several machines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from capsim import Studied, Study, load_study, run_study, study_results
from capsim.results.files import check_entries
from capsim.results.load_record import offered_line
from capsim.run.runs import ALL_METRICS
from capsim.run.study import read_study
from capsmodel._files import check_writable
from capsmodel.checks import choice, require
from capsmodel.cli.shared.machines import ALL_CORES, MACHINES, Machines
from capsmodel.cli.shared.options import parse_shard
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say, write_whole
from capsmodel.cli.shared.run_output import PLOTTED, draw_study, metric_rows, missing_ratios, records, shown
from capsmodel.experiments.sweep import SweepReport
from capsmodel.plotting import can_draw, save_figure

_ROWS, _RESULTS, _STUDY = "runs", "results", "study.toml"
FILES = frozenset({_ROWS, _RESULTS, _STUDY, "runs.csv", "table.csv", "sweep.png"})
_METRICS = "mean_fct_short_s,p99_fct_short_s"

Metrics = Annotated[str, Parameter(group=OUTPUT)]
Out = Annotated[Path | None, Parameter(group=OUTPUT)]
Keep = Annotated[bool, Parameter(group=OUTPUT, negative=(), show_default=False)]


def sweep(
    study: Path,
    /,
    *,
    shard: Annotated[str, Parameter(group=MACHINES, metavar="I/N")] = "1/1",
    machines: Machines = ALL_CORES,
    out: Out = None,
    keep_results: Keep = False,
    metrics: Metrics = _METRICS,
    output: Output = AS_TEXT,
) -> None:
    """Run a study: every combination of a grid of settings, with several seeds, and print means with 95% intervals.

    A study that was stopped goes on where it was when the same command is given again.

    Parameters
    ----------
    study
        The TOML file; scenario is a preset, a file beside it, or a table. The grid's names are scheme and those of
        --set.
    shard
        Run only share I of N of the runs, for a batch scheduler; capsmodel merge puts the shares together.
    out
        Folder DIR for tables, figure and rows of the runs; the name of the file without .toml when left out.
    keep_results
        Keep the flows of every run in DIR/results too; runs that were made without it are made again. Workers of a
        cluster must see DIR under the same name.
    metrics
        What to print, separated by commas; DIR/table.csv has all.
    """
    asked, text = read_study(study)
    folder = Path(study.stem) if out is None else out
    share, wanted = parse_shard(shard), _wanted(metrics)
    _check_folder(folder)
    results = folder / _RESULTS if keep_results else None
    report = run_study(asked, folder / _ROWS, results=results, shard=share, executor=machines.executor(), log=True)
    write_whole(folder / _STUDY, text)
    if share[1] > 1:
        _tell_shard(report, share, study, folder, output)
    else:
        _finish(study_results(asked, [folder / _ROWS]), folder, wanted, output)


def merge(
    study: Path,
    /,
    *folders: Path,
    out: Out = None,
    metrics: Metrics = _METRICS,
    output: Output = AS_TEXT,
) -> None:
    """Put the shares of a study together that capsmodel sweep --shard has run, and print means with 95% intervals.

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
    asked = load_study(study)
    require(bool(folders), "name the folders of the shares, as in capsmodel merge study.toml shard1 shard2")
    folder, wanted = Path(study.stem) if out is None else out, _wanted(metrics)
    _check_folder(folder)
    sources = [each / _ROWS if (each / _ROWS).is_dir() else each for each in folders]
    studied = study_results(asked, sources)
    folder.mkdir(parents=True, exist_ok=True)
    _finish(studied, folder, wanted, output)


def _wanted(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    require(bool(names), "--metrics is empty: name some, as in --metrics mean_fct_short_s,timeouts")
    for name in names:
        choice("--metrics", name, ALL_METRICS)
    return names


def _check_folder(folder: Path) -> None:
    check_entries(folder, made_of=FILES)
    check_writable(folder)


def _tell_shard(report: SweepReport, share: tuple[int, int], study: Path, folder: Path, output: Output) -> None:
    row = {"shard": share[0], "shards": share[1], "ran": report.ran, "found": report.found}
    if not output.is_text:
        print_table([row], output=output)
        return
    explain(
        f"Shard {share[0]} of {share[1]}: {report.ran} runs made, {report.found} found in {folder}. When all shards "
        f"are there: capsmodel merge {study} FOLDER... --out DIR"
    )


def _finish(studied: Studied, folder: Path, metrics: Sequence[str], output: Output) -> None:
    """Write tables and figure, and print the metrics asked for."""
    chosen = studied.table(metrics)
    write_whole(folder / "runs.csv", studied.runs.to_csv(index=False))
    write_whole(folder / "table.csv", studied.table().to_csv(index=False))
    if can_draw():
        save_figure(draw_study(studied, PLOTTED), folder / "sweep.png")
    caution(*studied.remarks())
    if not output.is_text:
        print_table(records(chosen), output=output)
        return
    _print(studied, chosen, metrics)
    say(f"wrote tables and figure to {folder}")


def _print(studied: Studied, table: Any, metrics: Sequence[str]) -> None:
    study: Study = studied.study
    several = [axis for axis, values in study.grid.items() if len(values) > 1] or list(study.grid)
    fixed = [f"{axis} = {values[0]}" for axis, values in study.grid.items() if axis not in several]
    first = str(study.grid["scheme"][0]) if "scheme" in several else None
    over = f"mean ± 95% half-width over {study.seeds} seeds" if study.seeds > 1 else "one run each, so no interval"
    paired = study.seeds > 1 and first is not None
    ratios = [f"ratios to {first} are geometric means, seed by seed (95% interval)"] if paired else []
    explain("; ".join([f"{study.name}: {over}", *ratios, *fixed]))
    explain(*filter(None, [offered_line(studied.runs)]))
    for metric in metrics:
        rows, columns = metric_rows(table, several, [metric], first_scheme=first)
        say("")
        print_table(rows, columns=columns, title=shown(metric).head)
    missing = missing_ratios(table, several, metrics, seeds=study.seeds) if first else []
    explain("", *missing, _totals_line(studied.runs))


def _totals_line(runs: Any) -> str:
    return f"{len(runs)} runs, {runs['cpu_s'].sum():.1f} CPU s, {runs['unfinished_flows'].sum()} flows unfinished"
