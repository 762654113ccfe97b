"""``capsmodel compare``: several schemes on the same flows, with confidence intervals; ``capsmodel schemes``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from capsim import Compared, Scenario, Scheme
from capsim import compare as compare_schemes
from capsim import scheme as find
from capsim import schemes as all_schemes
from capsim.comparison import FIGURES
from capsim.files import check_entries
from capsim.hooks import HOST_ROLES, SWITCH_ROLES
from capsim.scenario import Comparison
from capsmodel._files import check_writable
from capsmodel.checks import ParameterError, require
from capsmodel.cli._comparison_figure import draw
from capsmodel.cli._options import Flag
from capsmodel.cli._output import console, print_table, write_whole
from capsmodel.cli._scenario import Engine, ScenarioOptions, scenario_from
from capsmodel.experiments.progress import counted
from capsmodel.plotting import can_draw, save_figure

if TYPE_CHECKING:
    import pandas as pd

_TEXTS = ("runs.csv", "table.csv", "scenario.toml")
_FIGURE = "compare.png"
_ROWS = "runs"  # the folder with the row of each run
# The half-width of an interval is then a fiftieth of the deviation; many more would not fit in memory.
_MOST_SEEDS = 10_000


def compare(
    scenario: str | None = None,
    *,
    options: ScenarioOptions | None = None,
    schemes: str | None = None,
    seeds: int | None = None,
    jobs: int = 1,
    engine: Engine = "compiled",
    out: Path | None = None,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Run several schemes on the same flows, over several seeds, and print means with 95% intervals.

    With --out a comparison that was stopped goes on where it was when the same command is given again: the folder runs
    in DIR keeps the row of each run that has ended. Several processes may work on one DIR; they divide the runs.

    Parameters
    ----------
    scenario
        TOML file, or the name of a preset; without it the flags describe the run.
    schemes
        Names separated by commas; ratios are to the first. The scenario's table [compare] when left out.
    seeds
        Runs of each scheme, with consecutive seeds.
    jobs
        Processes at the same time; -1 for all cores.
    engine
        compiled or reference.
    out
        Folder DIR for runs.csv, table.csv, scenario.toml, compare.png and the rows of the runs.
    json, csv
        Print the table in this form.
    """
    chosen = scenario_from(scenario, options or ScenarioOptions())
    names, replicates = _asked(chosen, schemes, seeds)
    for name in names:
        find(name)
    chosen = chosen.replace(compare=Comparison(schemes=names, seeds=replicates))
    if out is not None:
        check_entries(out, made_of=frozenset({*_TEXTS, _FIGURE, _ROWS}))
        check_writable(out)
    folder = None if out is None else out / _ROWS
    with counted(total=len(names) * replicates, label="comparing") as ended:
        compared = compare_schemes(
            chosen, schemes=names, seeds=replicates, engine=engine, jobs=jobs, folder=folder, done=ended
        )
    try:
        if out is not None:
            _save(compared, chosen, out)
    finally:  # a disk that is full by now takes the files, not the figures
        _print(compared, title=f"{chosen.name}: mean ± 95% half-width over {replicates} seeds", json=json, csv=csv)


def _print(compared: Compared, *, title: str, json: bool, csv: bool) -> None:
    table = compared.table()
    if json or csv:
        print_table(_records(table), as_json=json, as_csv=csv)
        return
    print_table(_wide(table), title=title)
    console().print(_totals_line(compared))


def _asked(scenario: Scenario, schemes: str | None, seeds: int | None) -> tuple[tuple[str, ...], int]:
    written = scenario.compare
    if schemes is None and written is None:
        raise ParameterError("--schemes is missing: name them, as in --schemes ecmp,rps,caps")
    default = written or Comparison(schemes=())
    names = default.schemes if schemes is None else tuple(part.strip() for part in schemes.split(","))
    replicates = default.seeds if seeds is None else seeds
    rule = f"a comparison takes 1 to {_MOST_SEEDS} runs of each scheme, best 5 or more"
    require(1 <= replicates <= _MOST_SEEDS, f"--seeds {replicates}, but {rule}")
    return names, replicates


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _wide(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return one row for each scheme, one column for each figure."""
    rows: dict[str, dict[str, Any]] = {}
    for record in _records(table):
        row = rows.setdefault(record["scheme"], {"scheme": record["scheme"]})
        row[record["figure"]] = f"{record['mean']:.4g} ± {record['half_width']:.2g}" if record["seeds"] else "-"
    return list(rows.values())


def _totals_line(compared: Compared) -> str:
    runs = compared.runs
    return (
        f"{len(runs)} runs, {runs['traversals'].sum()} link traversals, {runs['cpu_s'].sum():.1f} CPU s, "
        f"{runs['unfinished_flows'].sum()} flows unfinished"
    )


def _save(compared: Compared, scenario: Scenario, out: Path) -> None:
    if can_draw():
        save_figure(draw(compared), out / _FIGURE)
    texts = (compared.runs.to_csv(index=False), compared.table(FIGURES).to_csv(index=False), scenario.to_toml())
    for name, text in zip(_TEXTS, texts, strict=True):
        write_whole(out / name, text)


def _names(scheme: Scheme, role: str) -> str:
    """Return the component of a role of end hosts; "of short / of long flows" where they differ."""
    return " / ".join(dict.fromkeys(getattr(stack, role).name for stack in scheme.stacks))


def schemes(*, json: Flag = False, csv: Flag = False) -> None:
    """List the schemes that can be simulated, and what each is made of."""
    rows = [
        {
            "scheme": name,
            **{role: _names(scheme, role) for role in HOST_ROLES},
            **{role: getattr(scheme, role).name for role in SWITCH_ROLES},
            "source": scheme.cite,
            "summary": scheme.summary,
        }
        for name, scheme in all_schemes().items()
    ]
    print_table(rows, title="schemes", as_json=json, as_csv=csv)
