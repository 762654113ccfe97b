"""``capsmodel estimate``: completion times of a large fabric from a few of its leaves or pods."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from capsim import Scenario
from capsim import scheme as find
from capsim.run.needs import expected_cpu_s
from capsim.scenario.excerpt import ExcerptOf, check_scheme
from capsim.scenario.profile import filled
from capsim.scenario.scenario import Comparison
from capsim.study.comparison import Estimated, part_of
from capsim.study.comparison import estimate as run_estimate
from capsim.study.study import RESULTS, ROWS
from capsmodel.checks import require
from capsmodel.cli.compare import schemes_and_seeds
from capsmodel.cli.shared.machines import ALL_CORES, Machines
from capsmodel.cli.shared.options import MaybeCount
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say, write_whole
from capsmodel.cli.shared.run_output import Row, check_place, seeds_line, size_rows
from capsmodel.cli.shared.scenario import RUN, Engine, ScenarioOptions, profile_lines, scenario_from
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import number

_COLUMNS = (
    Column("sizes", "slowdown of flows"),
    Column("flows", "flows"),
    *(
        Column(f"{name}_slowdown", head, error=f"{name}_slowdown_half_width")
        for name, head in (("mean", "mean"), ("p50", "median"), ("p90", "p90"), ("p99", "p99"))
    ),
)


def estimate(
    scenario: str | None = None,
    *,
    leaves: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    pods: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    blocks: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    schemes: Annotated[str | None, Parameter(group=RUN)] = None,
    seeds: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    costs: Annotated[bool, Parameter(group=RUN, negative=())] = False,
    engine: Annotated[Engine, Parameter(group=RUN)] = "compiled",
    options: ScenarioOptions | None = None,
    machines: Machines = ALL_CORES,
    out: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    write: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Run a few leaves or pods of a large fabric in place of all, and print slowdowns by size with 95% intervals.

    Flows keep the share of partners near them that they have in the large fabric, so that theirs is its law of
    completion times. Pairs that are fixed, lists, collectives, links that differ in some leaves, and schemes that
    learn by pair of leaves are refused. Percentiles are of the flows of all seeds together, intervals from the seeds.

    Parameters
    ----------
    scenario
        TOML file of the large fabric, or one of capsmodel presets; without it the flags describe it.
    leaves
        How many leaves of a leaf-spine to run, at least 4 and at most half (4).
    pods
        The same of a fat-tree.
    blocks
        The same of either, or of the parts of a topology without its top tier.
    schemes
        Names separated by commas, as of capsmodel compare. The scenario's table [compare] when left out.
    seeds
        Runs of each scheme, with consecutive seeds (5, or what [compare] says).
    costs
        Print the processor time that it would take, and that of the whole, and run nothing.
    engine
        compiled (fast) or reference (SimPy, to be read and stepped through); both give the same records.
    out
        Folder DIR for the table and the runs; what was stopped goes on there.
    write
        Write the excerpt as a scenario to FILE, for capsmodel compare or a study, and run nothing.
    """
    require(write is None or not (costs or out), "--write runs nothing: leave out --costs and --out")
    require(output.is_text or not costs, "--costs prints text: leave out --json and --csv")
    small, of = part_of(scenario_from(scenario, options or ScenarioOptions()), leaves, pods, blocks)
    if write is not None:
        write_whole(write, small.to_toml())
        say(f"wrote {write}: capsmodel compare {write} --schemes ...")
        return
    names, replicates = schemes_and_seeds(small, schemes, seeds, default=None)
    for name in names:
        check_scheme(find(name))
    small = small.replace(compare=Comparison(schemes=names, seeds=replicates))
    if output.is_text:
        _print_before(small, of, names, replicates)
    if costs:
        return
    if out is not None:
        check_place(out)
    estimated = run_estimate(
        small,
        schemes=names,
        seeds=replicates,
        engine=engine,
        executor=machines.executor(),
        folder=None if out is None else out / ROWS,
        results=None if out is None else out / RESULTS,
    )
    if out is not None:
        write_whole(out / "by_size.csv", estimated.table().to_csv(index=False))
        write_whole(out / "scenario.toml", small.to_toml())
    _print(estimated, output)


def _print_before(small: Scenario, of: ExcerptOf, names: tuple[str, ...], seeds: int) -> None:
    word, hosts = of.fabric.blocks().word, small.fabric.size().hosts
    begin = f"{of.hosts:,} hosts, {of.of_blocks} {word}; excerpt of {of.blocks} {word} ({hosts} hosts)"
    explain(f"{begin}, {100 * of.share:.3g}% of the traffic; {seeds} seeds of {', '.join(names)}")
    each_s = sum(expected_cpu_s(filled(small.replace(scheme=name), find(name)).scenario) for name in names)
    explain(f"expected: {number(seeds * each_s)} CPU s, and of the whole {number(each_s / of.share)} CPU s a seed")


def _print(estimated: Estimated, output: Output) -> None:
    caution(*estimated.compared.remarks())
    rows = size_rows(estimated.table())
    if not output.is_text:
        print_table([{"scheme": row["scheme"], **row} for row in rows], output=output)
        return
    explain(*profile_lines(estimated.compared.filled.values()))
    for name in estimated.flows:
        say("")
        print_table([row for row in rows if row["scheme"] == name], columns=_COLUMNS, title=name)
    explain("", "assumed: partners are drawn over the whole fabric, and all leaves or pods are alike")
    explain(*estimated.remarks(), *filter(None, [seeds_line(_widths(rows, estimated))]))


def _widths(rows: list[Row], estimated: Estimated) -> list[tuple[str, float, int]]:
    """Return words of the slowdowns of all sizes, half-widths over the values, and seeds."""
    of_all = [row for row in rows if row["sizes"] == "all"]
    heads = [(column.head, column.key, column.error) for column in _COLUMNS if column.error is not None]
    seeds = int(estimated.compared.runs["seed"].nunique())
    return [(f"{row['scheme']} {head}", row[error] / row[key], seeds) for row in of_all for head, key, error in heads]
