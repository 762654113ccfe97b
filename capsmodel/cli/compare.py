"""``capsmodel compare``: several schemes on the same flows, with confidence intervals."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import tomli_w
from cyclopts import Parameter

from capsim import Scenario
from capsim import scheme as find
from capsim.protocols.registry import named_schemes
from capsim.results.fct import fct_by_size
from capsim.results.load_record import offered_line
from capsim.results.plots import plot_cdf
from capsim.run.needs import reference_remarks
from capsim.scenario.profile import filled
from capsim.scenario.scenario import Comparison
from capsim.study.comparison import comparison
from capsim.study.file import read_study, tables_of
from capsim.study.metrics import known_metric
from capsim.study.study import RESULTS, Studied, Study
from capsmodel._files import check_writable, file_to_write
from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.machines import ALL_CORES, Machines
from capsmodel.cli.shared.options import MaybeCount
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say, write_whole
from capsmodel.cli.shared.run_output import (
    check_place,
    equal_times,
    interval_words,
    mean_above_p99,
    metric_rows,
    missing_ratios,
    print_verdicts,
    records,
    seeds_line,
    totals_line,
    without_value,
)
from capsmodel.cli.shared.scenario import RUN, SCENARIO, Engine, ScenarioOptions, profile_lines, scenario_from
from capsmodel.experiments.number_texts import number
from capsmodel.plotting import can_draw, check_figure_path

# The half-width of an interval is then a fiftieth of the deviation; many more would not fit in memory.
_MOST_SEEDS = 10_000

# Tables that fit 80 columns: title, metrics, and whether the ratio to the first scheme is printed.
_Block = tuple[str, tuple[str, ...], bool]
_OF_COLLECTIVES: tuple[_Block, ...] = (
    ("Collective operations", ("mean_collective_s", "longest_collective_s"), True),
    ("Collective operations, bandwidth", ("mean_bus_bandwidth_bps",), True),
    ("Collective operations, 99th percentile", ("p99_collective_s",), True),
)
_OF_FLOWS: tuple[_Block, ...] = (
    ("Short flows", ("mean_fct_short_s", "p99_fct_short_s"), True),
    ("Short flows, timeouts apart", ("timeout_ratio_short", "mean_fct_short_without_timeouts_s"), True),
    ("Long flows", ("mean_fct_long_s", "mean_throughput_long_bps"), True),
)
_OF_PACKETS: tuple[_Block, ...] = (
    ("Packets", ("reorder_ratio", "packets_dropped", "timeouts", "coding_overhead"), False),
)


def compare(
    scenario: Annotated[str | None, Parameter(group=SCENARIO)] = None,
    *,
    schemes: Annotated[str | None, Parameter(group=RUN)] = None,
    seeds: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    engine: Annotated[Engine, Parameter(group=RUN)] = "compiled",
    options: ScenarioOptions | None = None,
    machines: Machines = ALL_CORES,
    out: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    flows_csv: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    write: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    claims: Annotated[Path | None, Parameter(group=RUN)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Run several schemes on the same flows, over several seeds, and print means with 95% intervals.

    Ratios are paired: a scheme over the first one with the same seed, and their geometric mean over seeds. With 5 seeds
    the interval of a mean covers it in 94% of all cases in the median setting of our runs; that of percentiles needs 64
    seeds, and is not printed with fewer. With --out
    a comparison that was stopped goes on where it was when the same command is given again. Several processes may work
    on one DIR; they divide the runs.

    Parameters
    ----------
    scenario
        TOML file or preset; without it the flags describe the run.
    schemes
        Names, as in ecmp,rps,FILE.py:SCHEME; ratios are to the first. A plus sign puts two together, rps+dctcp; all
        is every one that retransmits.
    seeds
        Runs of each scheme, with consecutive seeds (5, or as [compare] says).
    engine
        compiled (fast) or reference (SimPy, to be read): the same records.
    out
        Folder DIR for tables, figures and flows; what was stopped goes on there.
    plot
        File for a picture of means and intervals (.pdf, .png or .svg).
    flows_csv
        CSV file for the flows of all runs; give --out too.
    write
        Write the comparison as a study to this file, and run nothing.
    claims
        Decide the claims of a study file by 4, 8, 16, ... seeds (8).
    """
    chosen = scenario_from(scenario, options or ScenarioOptions())
    names, replicates = schemes_and_seeds(chosen, schemes, seeds, default=8 if claims else None)
    for name in names:
        find(name)
    chosen = chosen.replace(compare=Comparison(schemes=names, seeds=replicates))
    keys = {} if claims is None else _claims_of(claims)
    study = comparison(chosen, schemes=names, seeds=replicates, engine=engine, **keys)
    if write is not None:
        _write_study(study, chosen.seed, write)
        return
    if plot is not None:
        check_figure_path(plot)
    if flows_csv is not None:
        require(out is not None, "--flows-csv: the flows of all runs are kept in DIR: give --out DIR")
        check_writable(file_to_write(flows_csv).parent)
    if out is not None:
        check_place(out)
    if engine == "reference":
        runs = (filled(chosen.replace(scheme=name), find(name)).scenario for name in names)
        caution(*reference_remarks(runs, seeds=replicates))
    compared = _run(study, machines, out)
    try:
        if out is not None:
            _save(compared, chosen, out, flows_csv)
        if plot is not None:
            compared.plot(plot)
    finally:  # a disk that is full by now takes the files, not the figures
        _print(compared, chosen, replicates, output)
    if out is not None and output.is_text:
        say(f"wrote tables and figures to {out}, the flows of each run to {out / RESULTS}")


def _claims_of(file: Path) -> dict[str, Any]:
    """Return the keys of a study file that say what is claimed."""
    keys = tables_of(read_study(file))
    claimed: dict[str, Any] = {key: keys[key] for key in ("panel", "table", "claim", "level") if key in keys}
    require(bool({"panel", "table", "claim"} & set(claimed)), f"--claims {file}: it has no claim: write [[claim]]")
    return claimed


def _write_study(study: Study, seed: int, file: Path) -> None:
    """Write the study, whose only axis is the scheme."""
    require(seed == 1, f"--seed {seed}: the seeds of a study are 1, 2, ...: leave it out with --write")
    write_whole(file, tomli_w.dumps(tables_of(study.design.source)))
    say(f"wrote {file}: capsmodel study {file}")


def _run(study: Study, machines: Machines, out: Path | None) -> Studied:
    if out is not None:
        return study.run(out, executor=machines.executor(), keep_results=True)
    with tempfile.TemporaryDirectory() as forgotten:
        studied = study.run(forgotten, executor=machines.executor())
        if study.claims:
            studied.verdicts()  # of rows that are forgotten then
        return studied


def schemes_and_seeds(
    scenario: Scenario, schemes: str | None, seeds: int | None, *, default: int | None
) -> tuple[tuple[str, ...], int]:
    """Return the schemes and the number of seeds that flags say, or else the scenario's table [compare]."""
    written = scenario.compare
    if schemes is None and written is None:
        raise ParameterError("--schemes is missing: name them, as in --schemes ecmp,rps,caps")
    known = written or Comparison(schemes=())
    names = known.schemes if schemes is None else tuple(part.strip() for part in schemes.split(","))
    replicates = seeds if seeds is not None else default or known.seeds
    rule = f"a comparison takes 1 to {_MOST_SEEDS} runs of each scheme, best 5 or more"
    require(1 <= replicates <= _MOST_SEEDS, f"--seeds {replicates}, but {rule}")
    return named_schemes(names), replicates


def _print(compared: Studied, scenario: Scenario, seeds: int, output: Output) -> None:
    table = compared.table()
    caution(*compared.remarks())
    if not output.is_text:
        if compared.study.claims:
            print_verdicts(compared, output)
        else:
            print_table(records(table), output=output)
        return
    ratios = "geometric means, seed by seed (95% interval)" if seeds > 1 else "of the same flows"
    explain(f"{scenario.name}: {interval_words(seeds)}; ratios to {compared.schemes[0]} are {ratios}")
    explain(*filter(None, [offered_line(compared.runs)]), *profile_lines(compared.filled.values()))
    every = _blocks(compared)
    blocks = _with_values(compared, every)
    for title, metrics, with_ratio in blocks:
        first = compared.schemes[0] if with_ratio else None
        rows, columns = metric_rows(table, ["scheme"], metrics, first_scheme=first)
        say("")
        print_table(rows, columns=columns, title=title)
    paired = [metric for _, block, has_ratio in blocks if has_ratio for metric in block]
    missing = missing_ratios(table, ["scheme"], paired, runs=compared.runs, first_scheme=compared.schemes[0])
    needed = filter(None, [seeds_line(_widths(table, blocks))])
    shape = _skewness_lines(table, blocks)
    absent = without_value(compared, [metric for _, metrics, _ in every for metric in metrics], printed=())
    explain(
        "",
        *absent,
        *equal_times(compared),
        *missing,
        *_remarks(compared.runs),
        *needed,
        *shape,
        totals_line(compared.runs),
    )
    if compared.study.claims:
        say("")
        print_verdicts(compared, output)


def _blocks(compared: Studied) -> tuple[_Block, ...]:
    """Return what may be printed: of collective operations, of flows that are not their messages, of packets."""
    of_operations = tuple(
        (title, tuple(one for one in metrics if one in compared.of_operations), has_ratio)
        for title, metrics, has_ratio in _OF_COLLECTIVES
    )
    return of_operations + (_OF_FLOWS if compared.has_other_flows else ()) + _OF_PACKETS


def _with_values(compared: Studied, blocks: Sequence[_Block]) -> tuple[_Block, ...]:
    """Return the tables without the metrics that no run has a value of, and without those that are empty then."""
    filled = [(title, compared.measured(metrics), has_ratio) for title, metrics, has_ratio in blocks]
    return tuple(block for block in filled if block[1])


def _remarks(runs: pd.DataFrame) -> list[str]:
    """Return what a reader may stumble over."""
    means = runs.groupby("scheme", sort=False)[["mean_fct_short_s", "p99_fct_short_s"]].mean()
    above = [str(name) for name, row in means.iterrows() if row["mean_fct_short_s"] > row["p99_fct_short_s"]]
    return [mean_above_p99(name) for name in above]


def _widths(table: pd.DataFrame, blocks: Sequence[_Block]) -> list[tuple[str, float, int]]:
    """Return words of the times that are shown, half-widths over the means, and seeds."""
    times = [metric for _, metrics, _ in blocks for metric in metrics if metric.endswith("_s")]
    rows = records(table[table["metric"].isin(times) & (table["mean"] > 0)])
    return [(known_metric(row["metric"]).words, row["half_width"] / row["mean"], row["seeds"]) for row in rows]


def _skewness_lines(table: pd.DataFrame, blocks: Sequence[_Block]) -> list[str]:
    """Return a line on the samples that the intervals rest on, of three seeds and more."""
    shown_metrics = [metric for _, metrics, _ in blocks for metric in metrics]
    skewness = table.loc[table["metric"].isin(shown_metrics), "skewness"].dropna()
    if skewness.empty:
        return []
    least, most = number(skewness.min()), number(skewness.max())
    return [f"skewness of the samples: {least} to {most}; intervals of skewed ones miss the mean more often"]


def _save(compared: Studied, scenario: Scenario, out: Path, flows_csv: Path | None) -> None:
    flows = {name: compared.flows(name) for name in compared.schemes}
    if can_draw():
        compared.plot(out / "compare.png")
        if any(table["finished"].any() for table in flows.values()):
            plot_cdf(flows, out / "fct_cdf.png")
    by_size = pd.concat([fct_by_size(table).assign(scheme=name) for name, table in flows.items()])
    tables = {out / "runs.csv": compared.runs, out / "table.csv": compared.table()}
    tables[out / "by_size.csv"] = by_size[["scheme", *by_size.columns.drop("scheme")]]
    if flows_csv is not None:
        every = pd.concat([table.assign(scheme=name) for name, table in flows.items()])
        tables[flows_csv] = every[["scheme", *every.columns.drop("scheme")]]
    for file, table in tables.items():
        write_whole(file, table.to_csv(index=False))
    write_whole(out / "scenario.toml", scenario.to_toml())
    if compared.study.claims:
        write_whole(out / "verdicts.csv", compared.verdicts().to_csv(index=False))
