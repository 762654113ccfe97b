"""``capsmodel estimate``: completion times of a large fabric from a few of its leaves or pods."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from capsim import Listed, Scenario
from capsim import scheme as find
from capsim.run.needs import expected_cpu_s
from capsim.scenario.excerpt import ExcerptOf, check_scheme
from capsim.scenario.profile import filled
from capsim.scenario.scenario import Comparison
from capsim.study.comparison import Estimated, parts_of
from capsim.study.comparison import estimate as run_estimate
from capsim.study.study import RESULTS, ROWS
from capsmodel.checks import require
from capsmodel.cli.compare import schemes_and_seeds
from capsmodel.cli.shared.machines import ALL_CORES, Machines
from capsmodel.cli.shared.options import Flag, MaybeCount
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say, write_whole
from capsmodel.cli.shared.run_output import Row, check_place, seeds_line, size_rows
from capsmodel.cli.shared.scenario import RUN, SCENARIO, Engine, ScenarioOptions, profile_lines, scenario_from
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import number

_SLOWDOWNS = tuple(
    Column(f"{name}_slowdown", head, error=f"{name}_slowdown_half_width")
    for name, head in (("mean", "mean"), ("p50", "median"), ("p90", "p90"), ("p99", "p99"))
)
_COLUMNS = (Column("sizes", "slowdown of flows"), Column("flows", "flows"), *_SLOWDOWNS)
_PART_COLUMNS = (Column("part", "slowdown of flows"), Column("flows", "flows"), *_SLOWDOWNS)


def estimate(
    scenario: Annotated[str | None, Parameter(group=SCENARIO)] = None,
    *,
    leaves: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    pods: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    blocks: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    schemes: Annotated[str | None, Parameter(group=RUN)] = None,
    seeds: Annotated[MaybeCount, Parameter(group=RUN)] = None,
    costs: Annotated[Flag, Parameter(group=RUN)] = False,
    engine: Annotated[Engine, Parameter(group=RUN)] = "compiled",
    options: ScenarioOptions | None = None,
    machines: Machines = ALL_CORES,
    out: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    write: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Run a few leaves or pods of a large fabric in place of all, and print slowdowns by size with 95% intervals.

    Flows keep the share of partners near them that they have in the large fabric, so that theirs is its law of
    completion times. Pairs that are fixed, collectives, and schemes that learn by pair of leaves are refused.
    Percentiles are of the flows of all seeds together, intervals from the seeds. Where links of some leaves differ, a
    second excerpt has one of these, and flows from it, to it and of the rest are printed apart.

    Parameters
    ----------
    scenario
        TOML file or preset of the large fabric; without it flags describe it.
    leaves
        How many leaves of a leaf-spine to run, at least 4 and at most half (4).
    pods
        The same of a fat-tree.
    blocks
        The same of either, or of parts of a topology without its top tier.
    schemes
        Names separated by commas, as of capsmodel compare.
    seeds
        Runs of each scheme, with consecutive seeds (5, or as [compare] says).
    costs
        Print the processor time of it, and of the whole, and run nothing.
    engine
        compiled (fast) or reference (SimPy, to be read): the same records.
    out
        Folder DIR for the table and the runs; what was stopped goes on there.
    write
        Write the excerpt as a scenario to this file, and run nothing.
    """
    require(write is None or not (costs or out), "--write runs nothing: leave out --costs and --out")
    require(output.is_text or not costs, "--costs prints text: leave out --json and --csv")
    whole = scenario_from(scenario, options or ScenarioOptions())
    parts, of = parts_of(whole, leaves, pods, blocks)
    if write is not None:
        require(len(parts) == 1, "--write writes one excerpt, but where links differ two of them are run: leave it out")
        write_whole(write, parts[0].to_toml())
        say(f"wrote {write}: capsmodel compare {write} --schemes ...")
        return
    names, replicates = schemes_and_seeds(parts[0], schemes, seeds, default=None)
    for name in names:
        check_scheme(find(name))
    if output.is_text:
        _print_before(parts, of, names, replicates)
    if costs:
        return
    if out is not None:
        check_place(out)
    estimated = run_estimate(
        whole,
        leaves=leaves,
        pods=pods,
        blocks=blocks,
        schemes=names,
        seeds=replicates,
        engine=engine,
        executor=machines.executor(),
        folder=None if out is None else out / ROWS,
        results=None if out is None else out / RESULTS,
    )
    if out is not None:
        _write(out, estimated, parts[0].replace(compare=Comparison(schemes=names, seeds=replicates)))
    _print(estimated, output)


def _write(out: Path, estimated: Estimated, small: Scenario) -> None:
    write_whole(out / "by_size.csv", estimated.table().to_csv(index=False))
    if estimated.of.touched is not None:
        write_whole(out / "by_part.csv", estimated.by_part().to_csv(index=False))
    write_whole(out / "scenario.toml", small.to_toml())


def _print_before(parts: tuple[Scenario, ...], of: ExcerptOf, names: tuple[str, ...], seeds: int) -> None:
    word, hosts = of.fabric.blocks().word, parts[0].fabric.size().hosts
    begin = f"{of.hosts:,} hosts, {of.of_blocks} {word}; excerpt of {of.blocks} {word} ({hosts} hosts)"
    explain(f"{begin}, {100 * of.share:.3g}% of the traffic; {seeds} seeds of {', '.join(names)}")
    if of.touched is not None:
        explain(f"links of {of.touched} of {of.of_blocks} {word} differ: a second excerpt has one of them")
    each_s = sum(expected_cpu_s(filled(parts[0].replace(scheme=name), find(name)).scenario) for name in names)
    all_s = len(parts) * seeds * each_s
    explain(f"expected: {number(all_s)} CPU s, and of the whole {number(each_s / of.share)} CPU s a seed")


def _print(estimated: Estimated, output: Output) -> None:
    caution(*estimated.compared.remarks())
    rows, parts = size_rows(estimated.table()), size_rows(estimated.by_part())
    if not output.is_text:
        of_all = {"part": "all", "share": 1.0} if parts else {}
        heads = ("scheme", "part", "share") if parts else ("scheme",)
        every = [*({**of_all, **row} for row in rows), *parts]
        print_table([{**{head: row[head] for head in heads}, **row} for row in every], output=output)
        return
    explain(*profile_lines(estimated.compared.filled.values()))
    for name in estimated.flows:
        say("")
        print_table([row for row in rows if row["scheme"] == name], columns=_COLUMNS, title=name)
        if of_scheme := [row for row in parts if row["scheme"] == name]:
            named = [{**row, "part": f"{row['part']}, {number(100 * row['share'])}%"} for row in of_scheme]
            print_table(named, columns=_PART_COLUMNS, title=f"{name}, by leaves or pods whose links differ")
    alike = "alike" if estimated.of.touched is None else "alike but for these links"
    if any(isinstance(entry, Listed) for entry in estimated.of.traffic):
        alike = "alike where a list has about the same load there"
    explain("", f"assumed: partners are drawn over the whole fabric, and all leaves or pods are {alike}")
    explain(*estimated.remarks(), *filter(None, [seeds_line(_widths(rows, estimated))]))


def _widths(rows: list[Row], estimated: Estimated) -> list[tuple[str, float, int]]:
    """Return words of the slowdowns of all sizes, half-widths over the values, and seeds."""
    of_all = [row for row in rows if row["sizes"] == "all"]
    heads = [(column.head, column.key, column.error) for column in _COLUMNS if column.error is not None]
    seeds = int(estimated.compared.runs["seed"].nunique())
    return [(f"{row['scheme']} {head}", row[error] / row[key], seeds) for row in of_all for head, key, error in heads]
