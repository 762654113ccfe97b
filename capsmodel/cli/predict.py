"""``capsmodel predict``: completion times of schemes on a fabric in closed form, and packets beside them."""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from capsim import Scenario, with_settings
from capsim import scheme as find
from capsim.protocols.registry import named_schemes
from capsim.results.prediction import QUANTITIES, predicted, simulated
from capsim.scenario.model_inputs import ModelInputs, model_inputs
from capsim.scenario.profile import filled, rate_remarks
from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.options import Flag, Loads
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, caution, explain, print_table, say
from capsmodel.cli.shared.scenario import RUN, SCENARIO, Engine, ScenarioOptions, profile_lines, scenario_from
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import number
from capsmodel.plotting import check_figure_path, legend_below, look, save_figure
from capsmodel.prediction.completion import COMPARED_LOAD, LONG_BYTES, Prediction

Rows = list[dict[str, Any]]

_LOADS = (0.2, 0.4, 0.6)
_US = 1e6
_HALF_WIDTH = "10%"  # of the mean slowdown of flows above 100 KB, from which the number of flows follows
_DRAWN_LOADS = np.linspace(0.05, COMPARED_LOAD, 14)
_HEADS = {
    "short_mean_s": ("short flows, mean, us", _US),
    "short_p99_s": ("short flows, 99th perc., us", _US),
    "long_mean_slowdown": ("long flows, mean slowdown", 1.0),
    "long_p99_slowdown": ("long flows, 99th perc.", 1.0),
}


def predict(
    scenario: Annotated[str | None, Parameter(group=SCENARIO)] = None,
    *,
    schemes: Annotated[str | None, Parameter(group=RUN)] = None,
    loads: Annotated[Loads | None, Parameter(group=RUN, show_default=False)] = None,
    check: Annotated[Loads, Parameter(group=RUN, show_default=False)] = (),
    engine: Annotated[Engine, Parameter(group=RUN)] = "compiled",
    options: ScenarioOptions | None = None,
    terms: Annotated[Flag, Parameter(name="--explain", group=OUTPUT)] = False,
    latex: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Print completion times of short flows and slowdowns of long ones (above 1 MB), in closed form.

    They are of the steady state of Poisson traffic between random pairs, whatever the number of flows.

    Parameters
    ----------
    scenario
        TOML file or preset; without it flags describe fabric and traffic.
    schemes
        Names, as in uet,dctcp,rps+dctcp (that of the scenario).
    loads
        Loads, separated by commas (0.2,0.4,0.6, or --load).
    check
        Loads at which packets are simulated beside it, from the steady state; --flows, or as many as give the mean
        slowdown of flows above 100 KB within 10%.
    engine
        Of the packets: compiled (fast) or reference (SimPy).
    terms
        Print what the means are the sum of.
    latex
        Print the table as LaTeX.
    plot
        File for a picture over the load (.pdf, .png or .svg), without bounds.
    """
    require(not (latex and not output.is_text), "--latex and --json or --csv exclude each other: give one")
    if plot is not None:
        check_figure_path(plot)
    given = options or ScenarioOptions()
    chosen = scenario_from(scenario, given)
    names = named_schemes(tuple(part.strip() for part in (schemes or chosen.scheme).split(",")))
    inputs = {name: model_inputs(chosen, scheme=name) for name in names}
    chosen_loads = _chosen_loads(given.load, loads)
    predictions = {name: one.predict(chosen_loads, **_thresholds(chosen)) for name, one in inputs.items()}
    rows = _rows(predictions, chosen_loads)
    caution(*rate_remarks((chosen, find(name)) for name in names), *_beyond(chosen_loads))
    for load, name in product(check, names):
        _add_packets(rows, chosen, name, load, given.flows, engine)
    if latex:
        say(_latex(rows))
    elif output.is_text:
        _print(chosen, names, predictions, rows, terms=terms)
    else:
        print_table(_term_rows(predictions, chosen_loads) if terms else rows, output=output)
    if plot is not None:
        _draw(inputs, rows, chosen, plot)


def _thresholds(scenario: Scenario) -> dict[str, float]:
    return {"short_bytes": scenario.short_bytes, "long_bytes": LONG_BYTES}


def _chosen_loads(load: float | None, loads: Loads | None) -> Loads:
    if load is not None and loads is not None:
        raise ParameterError("--load and --loads ask for the same: give one of the two")
    return loads or ((load,) if load is not None else _LOADS)


def _beyond(loads: Iterable[float]) -> list[str]:
    above = [f"{load:g}" for load in loads if load > COMPARED_LOAD]
    return [f"load {', '.join(above)}: beyond {COMPARED_LOAD:g}, up to which packets were compared"] if above else []


def _rows(predictions: dict[str, Prediction], loads: Sequence[float]) -> Rows:
    rows: Rows = []
    for name, one in predictions.items():
        values = predicted(one)
        for position, load in enumerate(loads):
            of_load = {key: float(each[position]) for key, each in values.items()}
            basis = {f"{kind}_rests_on": word for kind, word in one.rests_on.items()}
            rows.append({"scheme": name, "load": load, **of_load, **basis})
    return [row | {f"simulated_{key}": np.nan for key in QUANTITIES} | {"simulated_flows": 0} for row in rows]


def _add_packets(
    rows: Rows,
    scenario: Scenario,
    scheme: str,
    load: float,
    flows: int | str | None,
    engine: Engine,
) -> None:
    """Simulate a scheme at a load, and put what its flows show beside what is predicted."""
    from capsim import simulate  # engines and tables take longer to load than formulas to answer

    row = next((row for row in rows if row["scheme"] == scheme and row["load"] == load), None)
    if row is None:
        raise ParameterError(f"--check {load:g} is none of the loads that are predicted: add it to --loads")
    traffic = {
        "load": load,
        "load_of": "host-links",
        "flows": flows or _HALF_WIDTH,
        "exact_load": True,
        "start": "steady",
    }
    run = with_settings(scenario, {f"traffic.{key}": value for key, value in traffic.items()})
    result = simulate(run, scheme=scheme, engine=engine)
    values = simulated(result.flows, short_bytes=scenario.short_bytes)
    row.update(
        {f"simulated_{key}": value for key, value in values.items()}
        | {"simulated_flows": int(result.flows["counted"].sum())}
    )


def _shown(row: dict[str, Any], key: str) -> str:
    """Return a value as people see it: a bound begins with >."""
    _, factor = _HEADS[key]
    text = f"{row[key] * factor:.3g}" if np.isfinite(row[key]) else number(row[key])
    return f"> {text}" if _is_bound(row, key) and text != "-" else text


def _is_bound(row: dict[str, Any], key: str) -> bool:
    return bool(row[f"{key.partition('_')[0]}_rests_on"] == "bound")


def _print(
    scenario: Scenario, names: Sequence[str], predictions: dict[str, Prediction], rows: Rows, *, terms: bool
) -> None:
    explain(*profile_lines(filled(scenario, find(name)) for name in names))
    shown = [
        {"scheme": row["scheme"], "load": row["load"], **{key: _shown(row, key) for key in QUANTITIES}} for row in rows
    ]
    basis = [{"basis": f"{row['short_rests_on']}; {row['long_rests_on']}"} for row in rows]
    columns = [Column("scheme", "scheme"), Column("load", "load")]
    columns += [Column(key, head, right=True) for key, (head, _) in _HEADS.items()]
    columns.append(Column("basis", "rests on (short; long)"))
    print_table(
        [row | each for row, each in zip(shown, basis, strict=True)],
        columns=columns,
        title="Completion times, predicted; long flows are above 1 MB",
    )
    if any(row["short_rests_on"] == "bound" for row in rows):
        explain("> is a bound: windows that only losses cut have timeouts. Marks or delays cut those of dctcp and uet.")
    if terms:
        say("")
        _print_terms(predictions, [row["load"] for row in rows if row["scheme"] == names[0]])
    compared = [row for row in rows if row["simulated_flows"]]
    if compared:
        say("")
        _print_packets(compared)


def _print_packets(rows: Rows) -> None:
    """Print packets beside the formula."""
    table = [
        {
            "scheme": row["scheme"],
            "load": row["load"],
            "flows": row["simulated_flows"],
            "quantity": QUANTITIES[key],
            "formula": _shown(row, key),
            "packets": f"{row[f'simulated_{key}'] * _HEADS[key][1]:.3g}",
            "ratio": np.nan if _is_bound(row, key) else row[key] / row[f"simulated_{key}"],
        }
        for row in rows
        for key in QUANTITIES
        if np.isfinite(row[f"simulated_{key}"])
    ]
    heads = ["scheme", "load", "flows", "quantity", "formula", "packets", "ratio"]
    columns = [Column(key, key, right=key in ("formula", "packets")) for key in heads]
    print_table(table, columns=columns, title="Packets beside it: us, slowdowns")


def _term_rows(predictions: dict[str, Prediction], loads: Sequence[float]) -> Rows:
    """Return a row for each term of each mean: seconds of short flows, slowdowns of long ones."""
    return [
        {"scheme": name, "load": load, "flows": kind, "term": term, "value": float(np.asarray(values)[position])}
        for name, one in predictions.items()
        for position, load in enumerate(loads)
        for kind, terms in one.terms.items()
        for term, values in terms.items()
    ]


def _print_terms(predictions: dict[str, Prediction], loads: Sequence[float]) -> None:
    for kind, unit, factor in (
        ("short", "us of the mean of short flows", _US),
        ("long", "slowdown of long flows", 1.0),
    ):
        names = next(iter(predictions.values())).terms[kind]
        table: Rows = [
            {"scheme": name, "load": load}
            | {term: f"{float(np.asarray(each)[at]) * factor:.3g}" for term, each in one.terms[kind].items()}
            for name, one in predictions.items()
            for at, load in enumerate(loads)
        ]
        columns = [
            Column("scheme", "scheme"),
            Column("load", "load"),
            *(Column(term, term, right=True) for term in names),
        ]
        print_table(table, columns=columns, title=f"Terms, {unit}")


def _latex(rows: Rows) -> str:
    """Return the table as LaTeX."""
    from capsim.study.plot import latex_table

    heads = ["scheme", "load", *(head for head, _ in _HEADS.values())]
    cells = [[_shown(row, key).replace(">", "$>$") for key in QUANTITIES] for row in rows]
    return latex_table(heads, [((row["scheme"], row["load"]), each) for row, each in zip(rows, cells, strict=True)])


def _draw(inputs: dict[str, ModelInputs], rows: Rows, scenario: Scenario, file: Path) -> None:
    """Draw what is no bound over the load, and packets as points."""
    from capsmodel.calculator import plot_predictions

    loads = {name: _DRAWN_LOADS[_DRAWN_LOADS * _most_load(one) < 0.95] for name, one in inputs.items()}
    curves = {name: one.predict(loads[name], **_thresholds(scenario)) for name, one in inputs.items()}
    figure = plot_predictions(curves)
    for position, (name, curve) in enumerate(curves.items()):
        seen = [row for row in rows if row["scheme"] == name and row["simulated_flows"]]
        for panel, key in zip(figure.axes, ("short_mean_s", "short_p99_s", "long_mean_slowdown"), strict=True):
            points = [(row["load"], row[f"simulated_{key}"] * _HEADS[key][1]) for row in seen]
            if points and curve.rests_on[key.partition("_")[0]] != "bound":
                panel.plot(*zip(*points, strict=True), **look(position) | {"linestyle": ""})
    legend_below(figure)
    save_figure(figure, file)


def _most_load(inputs: ModelInputs) -> float:
    """Return the load of the fullest layer for a load of 1 of the links of hosts, headers included."""
    ratios = [inputs.fabric.load_ratio(layer) for layer in inputs.fabric.layers]
    return max(1.0, *ratios) * inputs.scheme.wire_ratio
