"""``capsmodel study`` and ``capsmodel merge``: a study on cores, a cluster or several machines, with its verdicts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_args

import tomli_w
from cyclopts import Parameter

from capsim.fabric.kinds import AnyFabric
from capsim.fabric.traffic import AnyTraffic
from capsim.results.load_record import offered_line
from capsim.study.campaign import Campaign
from capsim.study.claims.design import Design
from capsim.study.file import RelationName, read_study, tables_of
from capsim.study.metrics import METRICS
from capsim.study.points import point_name
from capsim.study.study import ROWS, Studied, Study
from capsim.study.texts import check_percentile
from capsmodel.checks import choice, require
from capsmodel.cli.shared.machines import ALL_CORES, MACHINES, Machines
from capsmodel.cli.shared.options import Flag, MaybeCount, MaybeDuration, Texts, parse_shard, settings_of
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say, write_whole
from capsmodel.cli.shared.run_output import (
    check_place,
    equal_times,
    fewer_seeds,
    interval_words,
    metric_rows,
    missing_ratios,
    print_verdicts,
    records,
    shown,
    totals_line,
    without_value,
)
from capsmodel.cli.shared.scenario import profile_lines
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import time_text
from capsmodel.papers.claim_list import read_claims, studies, title_and_notes
from capsmodel.papers.figures._by_setting import draw_by_setting
from capsmodel.papers.index import read_ledger
from capsmodel.papers.studies import own_studies, simulated_studies, study_file
from capsmodel.plotting import can_draw, check_figure_path, save_figure

_OF_FLOWS = (
    "mean_fct_short_s",
    "p99_fct_short_s",
    "timeout_ratio_short",
    "mean_fct_short_without_timeouts_s",
    "mean_slowdown",
)
_BY_SETTING = (
    Column("setting", "setting"),
    Column("word", "verdict"),
    Column("seeds", "seeds"),
    Column("point", "at"),
    Column("ours", "ours", ends=("low", "high")),
)
_LIST = [Column("name", "name"), Column("title", "shows"), Column("claims", "claims")]

Metrics = Annotated[str | None, Parameter(group=OUTPUT)]
Out = Annotated[Path | None, Parameter(group=OUTPUT)]
Keep = Annotated[bool, Parameter(group=OUTPUT, negative=(), show_default=False)]


def study(
    study: Annotated[str, Parameter(show_default=False)] = "",
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
    new: Flag = False,
    known: Annotated[bool, Parameter(name="--list", negative=(), show_default=False)] = False,
    budget: Annotated[MaybeDuration, Parameter(group=MACHINES)] = None,
    shard: Annotated[str | None, Parameter(group=MACHINES, metavar="I/N")] = None,
    machines: Machines = ALL_CORES,
    out: Out = None,
    keep_results: Keep = False,
    metrics: Metrics = None,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    latex: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    output: Output = AS_TEXT,
) -> None:
    """Run a study: the points of its axes, with several seeds, and decide what it claims.

    A study that was stopped goes on where it was when the same command is given again.

    Parameters
    ----------
    study
        TOML file; or a study of the package, or a figure, table or claim of a paper.
    set_
        Name or setting in place of the file's, as transport.min_rto_s=1s; several times. Verdicts stand beside those
        of the file as it is, where that was run.
    seeds
        Runs of each point, at most those of claims (as the file says).
    settings
        Try what is left open too: verdict and value in each setting.
    quick
        Try two seeds of each point of [quick], or of the first point: no claim, table or picture; nothing is
        decided.
    reduced
        Run the version of [reduced].
    expand
        Print the file with all that it inherits, and its points; run nothing.
    costs
        Print runs and processor time, made and missing; run nothing.
    check
        Check that the rows in DIR are of this study; run nothing.
    new
        Write a study to begin with to the file STUDY, with comments.
    known
        List the studies of the package and of the papers.
    budget
        Begin no further run after this time.
    shard
        Run only share I of N of the runs; capsmodel merge puts them together.
    out
        Folder DIR for tables, figure and rows (the name of the study).
    keep_results
        Keep the flows of every run in DIR/results too.
    metrics
        Metrics to print in place of verdicts, separated by commas.
    plot
        File for the picture (.pdf, .png or .svg), in place of DIR/study.png.
    latex
        Print the table of verdicts, or of --metrics, as LaTeX.
    """
    flags = settings or quick or reduced or expand or costs or check or latex or keep_results or machines.given
    has_others = bool(set_) or flags or any(one is not None for one in (budget, shard, seeds, out, metrics, plot))
    if known or new:
        _list_or_write(study, known=known, new=new, is_alone=not has_others, output=output)
        return
    require(bool(study), "name a file, a study, a figure or a claim, as in spray or caps-fig17; --list shows them")
    ways = {"--expand": expand, "--costs": costs, "--check": check, "--quick": quick}
    way = _way(ways, budget is not None or shard is not None, on_machines=machines.given)
    changed, share, wanted = dict(settings_of(set_)), parse_shard(shard or "1/1"), _wanted(metrics)
    alone = way or ("--shard" if share[1] > 1 else "")
    _check_flags(quick=quick, reduced=reduced, latex=latex, runs_alone=alone, output=output)
    request = _study(study, changed, seeds, reduced=reduced, text_only=costs and not settings, loads_files=not expand)
    folder = out or Path(request.name)
    if way:
        _look_at(request, way, folder, machines, output)
        return
    _check_places(folder, plot)
    execute, budget_s = machines.executor(), math.inf if budget is None else budget
    where: dict[str, Any] = {"executor": execute, "shard": share, "budget_s": budget_s}
    studied = request.run(folder, settings=settings, keep_results=keep_results, **where)
    write_whole(folder / "study.toml", tomli_w.dumps(tables_of(request.design.source)))
    if share[1] > 1:
        _print_shard(studied, share, study, folder, output)
    else:
        before = _verdicts_as_filed(study, studied, folder) if changed else {}
        _finish(studied, folder, wanted, plot, output, before=before, settings=settings, latex=latex)


def merge(
    study: Path,
    /,
    *folders: Path,
    out: Out = None,
    metrics: Metrics = None,
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
        What to print, separated by commas, as of capsmodel study; DIR/table.csv has all.
    """
    request = _study(str(study), {}, None)
    require(bool(folders), "name the folders of the shares, as in capsmodel merge study.toml shard1 shard2")
    folder, wanted = Path(study.stem) if out is None else out, _wanted(metrics)
    _check_places(folder)
    studied = request.results(folders)
    many, others = len(request.tasks()), sum(request.check(one)[1] for one in folders)
    edited = f", but the folders have rows of {others} other runs: they are of another study, or it was edited since"
    text = f"{studied.missing} of {many} tasks have no result{edited * (others > 0)}"
    require(not studied.missing, f"{text}: run the study again to add them")
    folder.mkdir(parents=True, exist_ok=True)
    _finish(studied, folder, wanted, None, output)


def _study(
    name: str,
    changed: dict[str, Any],
    seeds: int | None,
    *,
    reduced: bool = False,
    text_only: bool = False,
    loads_files: bool = True,
) -> Study:
    """Return the study of a file, of the papers, or of a claim of theirs."""
    file, claim = _file_and_claim(name)
    design = Design(read_study(file), changed)
    if claim is not None:
        design = design.about(claim)
    if seeds is not None:
        design = design.with_seeds(seeds)
    design = replace(design, text_only=text_only, loads_files=loads_files)
    return Study.of(replace(design, at_scale="reduced") if reduced else design)


def _list_or_write(study: str, *, known: bool, new: bool, is_alone: bool, output: Output) -> None:
    if known:
        require(is_alone and not (study or new), "--list shows all names: give it alone, or with --json or --csv")
        _print_list(output)
        return
    require(is_alone and output.is_text, "--new runs nothing: give it with the name of the file alone")
    _write_new(Path(study))


def _write_new(path: Path) -> None:
    """Write a study to begin with, with what its keys may be."""
    require(path.suffix == ".toml", f"--new writes a file, and {path} does not end in .toml: name drill.toml or so")
    require(not path.exists(), f"{path} is there already: name another file, or remove it")
    formulas = ("", "true", "best at", "u-shaped")
    texts = {
        "name": path,
        "fabrics": _tags(AnyFabric),
        "traffic": _tags(AnyTraffic),
        "relations": ", ".join(name for name in get_args(RelationName) if name not in formulas),
        "metrics": "\n".join(f"#   {one.name}: {one.words}" for one in METRICS.values() if one.of),
    }
    template = resources.files("capsmodel").joinpath("cli", "templates", "study.toml").read_text(encoding="utf-8")
    write_whole(path, template.format(**texts))
    say(f"wrote {path}: capsmodel study {path} --quick tries it out")


def _tags(kinds: Any) -> str:
    """Return the names of kinds, as the key `kind` has them."""
    return ", ".join(str(one.__struct_config__.tag) for one in get_args(kinds))


def _file_and_claim(name: str) -> tuple[Path, str | None]:
    """Return the file of a study, and the claim if the name is one."""
    path, is_claim = Path(name), name in read_claims()
    if path.is_file() or len(path.parts) > 1 or (path.suffix and not is_claim):
        return path, None
    if name in own_studies():
        return own_studies()[name], None
    return study_file(name), name if is_claim else None


def _print_list(output: Output) -> None:
    """Print the name of each study of the papers, what it shows, and the claims that it decides."""
    claims: dict[str, list[str]] = {name: [] for name in simulated_studies()}
    for claim in read_claims().values():
        if claim.study in claims:
            claims[claim.study].append(claim.id)
    own = {name: read_study(file).file for name, file in own_studies().items()}
    rows = [
        {"name": name, "title": one.title.rstrip("."), "claims": ", ".join(claim.id for claim in one.claim)}
        for name, one in own.items()
    ]
    rows += [
        {"name": name, "title": title_and_notes(name)[0].rstrip("."), "claims": ", ".join(ids)}
        for name, ids in claims.items()
    ]
    print_table(rows, columns=_LIST, title="Studies that come with the package, and those of the papers", output=output)


def _verdicts_as_filed(name: str, studied: Studied, folder: Path) -> dict[str, str]:
    """Return the verdicts on claims as the file has them, those that are known.

    Those of the papers are in the ledger; others follow from rows of the file as it is in the folder that is written
    to, or in that of the study's name, once there are the seeds of a first interim analysis.
    """
    claims = [claim for claim, one in studied.study.claims.items() if one.is_simulated]
    file = _file_and_claim(name)[0]
    if file in studies().values():
        return {claim: read_ledger()[claim].verdict for claim in claims}
    filed = Design(read_study(file))
    there = [Campaign(filed, place / ROWS) for place in (folder, Path(filed.name))]
    last = {claim: max((one.verdict(claim) for one in there), key=lambda one: one.seeds) for claim in claims}
    return {claim: verdict.word for claim, verdict in last.items() if verdict.seeds}


def _way(ways: Mapping[str, bool], limits: bool, *, on_machines: bool) -> str:
    """Return the option that is given of those by which a study decides nothing; refuse what would be ignored."""
    way = " and ".join(name for name, is_given in ways.items() if is_given)
    require(way in ("", *ways), f"{way} exclude each other: give one")
    require(not (way and limits), f"{way} makes few runs or none: leave out --budget and --shard")
    require(not on_machines or way in ("", "--quick"), f"{way} makes no run: leave out --jobs and --cluster")
    return way


def _look_at(study: Study, way: str, folder: Path, machines: Machines, output: Output) -> None:
    """Print what the option asks for, or try the study out."""
    if way == "--expand":
        _expand(study)
        return
    _check_places(folder)
    if way == "--quick":
        _try_out(study, folder, machines)
    else:
        (_costs if way == "--costs" else _check)(study, folder, output)


def _check_flags(*, quick: bool, reduced: bool, latex: bool, runs_alone: str, output: Output) -> None:
    """Refuse options that exclude each other; `runs_alone` prints no table of the study."""
    require(not (quick and reduced), "--quick and --reduced exclude each other: give one")
    require(output.is_text or not latex, "--latex and --json or --csv exclude each other: give one")
    require(not (latex and runs_alone), f"{runs_alone} prints no table of the study: leave out --latex")


def _wanted(text: str | None) -> list[str]:
    if text is None:
        return []
    names = [part.strip() for part in text.split(",") if part.strip()]
    require(bool(names), "--metrics is empty: name some, as in --metrics mean_fct_short_s,timeouts")
    for name in names:
        check_percentile(name, "--metrics")
        choice("--metrics", name, METRICS)
    return names


def _check_places(folder: Path, plot: Path | None = None) -> None:
    if plot is not None:
        check_figure_path(plot)
    check_place(folder)


def _try_out(study: Study, folder: Path, machines: Machines) -> None:
    made = study.try_out(folder, executor=machines.executor())
    points, scale = study.trial
    size = "at the size of [quick]" if scale == "quick" else "at its full size, as there is no [quick]"
    explain(
        f"{study.name} works: {made} runs, two seeds of {len(points)} of {len(study.design.points())} points, {size}. "
        "Left out: all other points and seeds, the claims, tables and picture. Nothing is decided: run it without "
        "--quick."
    )


def _expand(study: Study) -> None:
    say(tomli_w.dumps(tables_of(study.design.source)).rstrip(), "")
    say(*(f"# {line}" for line in study.describe().splitlines()))
    say(*(f"# {point_name(point)}" for point in study.design.points()))


def _costs(study: Study, folder: Path, output: Output) -> None:
    row = study.costs(folder)
    if not output.is_text:
        print_table([row], output=output)
        return
    parts = {"": "made", "missing_": "missing for the next analysis", "most_": "missing with all seeds"}
    rows = [
        {"what": what, "runs": row[f"{part}runs"], "time": time_text(row[f"{part}cpu_s"])}
        for part, what in parts.items()
    ]
    columns = [Column("what", ""), Column("runs", "runs"), Column("time", "CPU time, about", right=True)]
    print_table(rows, columns=columns, title=study.name)
    if any(claim.is_simulated for claim in study.claims.values()):
        explain(
            f"With all seeds: each claim that stays open takes {study.most_seeds} at most; one that fails takes as "
            "many by a second set, counted once it does."
        )


def _check(study: Study, folder: Path, output: Output) -> None:
    ours, others = study.check(folder)
    if not output.is_text:
        print_table([{"rows": ours, "other_rows": others}], output=output)
    require(
        others == 0,
        f"{others} rows in {folder / ROWS} are of no run of {study.name}: it was changed since, or shares DIR",
    )
    if output.is_text:
        say(f"{ours} rows in {folder / ROWS}, all of {study.name}")


def _print_shard(studied: Studied, share: tuple[int, int], study: str, folder: Path, output: Output) -> None:
    row = {"shard": share[0], "shards": share[1], "ran": studied.ran, "found": studied.found}
    if not output.is_text:
        print_table([row], output=output)
        return
    explain(
        f"Shard {share[0]} of {share[1]}: {studied.ran} runs made, {studied.found} found in {folder}. When all shards "
        f"are there: capsmodel merge {study} FOLDER... --out DIR"
    )


def _finish(
    studied: Studied,
    folder: Path,
    metrics: Sequence[str],
    plot: Path | None,
    output: Output,
    *,
    before: Mapping[str, str] = MappingProxyType({}),
    settings: bool = False,
    latex: bool = False,
) -> None:
    """Write tables and figure, and print verdicts, or the metrics asked for, or else those of what the runs have."""
    write_whole(folder / "runs.csv", studied.runs.to_csv(index=False))
    if len(studied.runs):
        write_whole(folder / "table.csv", studied.table().to_csv(index=False))
    claimed = any(claim.is_simulated for claim in studied.study.claims.values())
    if claimed:
        write_whole(folder / "verdicts.csv", studied.verdicts().to_csv(index=False))
    if len(studied.runs) and can_draw():
        save_figure(studied.plot(), folder / "study.png" if plot is None else plot)
    caution(*studied.remarks())
    if latex:
        say(studied.to_latex(metrics))
        return
    if output.is_text:
        explain(*profile_lines(studied.filled.values()))
    if claimed and not metrics:
        print_verdicts(studied, output, before)
        if settings:
            _print_settings(studied, folder, output)
    else:
        _print(studied, metrics, output)
    if output.is_text:
        say(f"wrote tables and figure to {folder}")


def _print_settings(studied: Studied, folder: Path, output: Output) -> None:
    """Print in which settings each claim has its verdict, with our values there, and draw the verdicts by setting."""
    campaign, design = studied.campaign, studied.study.design
    if not campaign.simulated or len(design.settings) == 1:
        return
    table = studied.by_setting()
    write_whole(folder / "settings.csv", table.to_csv(index=False))
    if output.is_text:
        for claim in campaign.simulated:
            say("", f"{claim}: {campaign.robustness(claim).beside(studied.verdict(claim).word)}")
            print_table(records(table[table["id"] == claim]), columns=_BY_SETTING)
        explain(
            "Another verdict than the text's stands where runs prove that the setting changes the value; else: open."
        )
    if can_draw():
        verdicts = {claim: campaign.words(claim) for claim in campaign.simulated}
        save_figure(draw_by_setting(studied.study.name, verdicts), folder / "settings.png")


def _print(studied: Studied, metrics: Sequence[str], output: Output) -> None:
    defaults = studied.of_operations + (_OF_FLOWS if studied.has_other_flows else ())
    equal = [] if metrics else equal_times(studied)
    metrics = metrics or studied.measured(defaults) or defaults
    table = studied.table(metrics)
    if not output.is_text:
        print_table(records(table), output=output)
        return
    axes = {name: list(axis.values) for name, axis in studied.study.design.axes.items()}
    several = [axis for axis, values in axes.items() if len(values) > 1] or list(axes)
    fixed = [f"{axis} = {values[0]}" for axis, values in axes.items() if axis not in several]
    first = str(axes["scheme"][0]) if "scheme" in several else None
    seeds = studied.study.most_seeds
    paired = seeds > 1 and first is not None
    ratios = [f"ratios to {first} are geometric means, seed by seed (95% interval)"] if paired else []
    explain("; ".join([f"{studied.study.name}: {interval_words(seeds)}", *ratios, *fixed]))
    explain(*filter(None, [offered_line(studied.runs)]))
    for metric in table["metric"].unique():
        rows, columns = metric_rows(table, several, [metric], first_scheme=first)
        say("")
        print_table(rows, columns=columns, title=shown(metric).label)
    missing = fewer_seeds(studied.runs, several)
    missing += missing_ratios(table, several, metrics, runs=studied.runs, first_scheme=first) if first else []
    explain("", *without_value(studied, defaults, printed=metrics), *equal, *missing, totals_line(studied.runs))
