"""What ``capsmodel reproduce --list`` and ``--costs`` print: what can be reproduced, and what it costs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from capsmodel.cli._output import Output, print_table
from capsmodel.cli._table import Column
from capsmodel.papers.computed_experiments import computed_experiments
from capsmodel.papers.experiments import published_experiment, published_experiments
from capsmodel.papers.figures import published_figures
from capsmodel.papers.index import read_costs, read_ledger

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
