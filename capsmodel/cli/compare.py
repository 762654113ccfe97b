"""``capsmodel compare``: several schemes on the same flows, with confidence intervals; ``capsmodel schemes``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import Progress

from capsim import Compared, Scenario
from capsim import compare as compare_schemes
from capsim import scheme as find
from capsim import schemes as all_schemes
from capsim.comparison import FIGURES
from capsim.files import whole_folder
from capsim.scenario import Comparison
from capsmodel.checks import ParameterError, require
from capsmodel.cli._comparison_figure import draw
from capsmodel.cli._options import Flag
from capsmodel.cli._output import console, print_table
from capsmodel.cli._scenario import Engine, ScenarioOptions, scenario_from
from capsmodel.plotting import save_figure

if TYPE_CHECKING:
    import pandas as pd

_FILES = frozenset({"runs.csv", "table.csv", "scenario.toml", "compare.png"})


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

    Parameters
    ----------
    scenario
        TOML file, or the name of a preset; without it the flags describe the run.
    schemes
        Names separated by commas; ratios are to the first. The scenario's table [compare] when left out.
    seeds
        Runs of each scheme, with consecutive seeds.
    jobs
        Processes at the same time.
    engine
        compiled or reference.
    out
        Folder for runs.csv, table.csv, scenario.toml and compare.png.
    json, csv
        Print the table in this form.
    """
    chosen = scenario_from(scenario, options or ScenarioOptions())
    names, replicates = _asked(chosen, schemes, seeds)
    for name in names:
        find(name)
    chosen = chosen.replace(compare=Comparison(schemes=names, seeds=replicates))
    with Progress(console=console(), transient=True, disable=not console().is_terminal) as bar:
        task = bar.add_task("comparing", total=len(names) * replicates)
        compared = compare_schemes(
            chosen,
            schemes=names,
            seeds=replicates,
            engine=engine,
            jobs=jobs,
            done=lambda ended: bar.advance(task, ended),
        )
    if out is not None:
        _save(compared, chosen, out)
    table = compared.table()
    if json or csv:
        print_table(_records(table), as_json=json, as_csv=csv)
        return
    print_table(_wide(table), title=f"{chosen.name}: mean ± 95% half-width over {replicates} seeds")
    console().print(_totals_line(compared))


def _asked(scenario: Scenario, schemes: str | None, seeds: int | None) -> tuple[tuple[str, ...], int]:
    written = scenario.compare
    if schemes is None and written is None:
        raise ParameterError("--schemes is missing: name them, as in --schemes ecmp,rps,caps")
    default = written or Comparison(schemes=())
    names = default.schemes if schemes is None else tuple(part.strip() for part in schemes.split(","))
    replicates = default.seeds if seeds is None else seeds
    require(replicates >= 1, f"--seeds {replicates}, but an interval needs at least 1 run, better 5")
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
    with whole_folder(out, made_of=_FILES) as folder:
        compared.runs.to_csv(folder / "runs.csv", index=False)
        compared.table(FIGURES).to_csv(folder / "table.csv", index=False)
        (folder / "scenario.toml").write_text(scenario.to_toml(), encoding="utf-8")
        save_figure(draw(compared), folder / "compare.png")


def schemes(*, json: Flag = False, csv: Flag = False) -> None:
    """List the schemes that can be simulated, and what each is made of."""
    rows = [
        {
            "scheme": name,
            "transport": scheme.transport.name,
            "balancer": scheme.balancer.name,
            "coding": scheme.coding.name,
            "queue": scheme.queue.name,
            "copies of short flows": scheme.replication.copies_of_short,
            "source": scheme.cite,
            "summary": scheme.summary,
        }
        for name, scheme in all_schemes().items()
    ]
    print_table(rows, title="schemes", as_json=json, as_csv=csv)
