"""Part of the tour: the M/D/1 wait at a port, closed form against simulated packets."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from capsmodel.cli.shared.table import Column
from capsmodel.cli.tour.section import Advance, Section, Station
from capsmodel.experiments.agreement import agreement
from capsmodel.experiments.statistics.intervals import student_interval
from capsmodel.experiments.sweep import Task, all_cores, gather, one_by_one
from capsmodel.papers.measurements.means import mean_in_row
from capsmodel.papers.measurements.single_port import port_waits, service_distribution, sufficient_packets
from capsmodel.plotting import new_figure
from capsmodel.queueing.mg1 import mg1_mean_wait

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAYLOAD_BYTES, SEED, LOADS = 1460, 11, (0.3, 0.5, 0.7, 0.8)
DETECT, QUICK_DETECT = 0.1, 0.5
"""Relative error of the model that the test must detect: it determines the number of packets for each load."""


def _model_us(load: float) -> float:
    service = service_distribution((PAYLOAD_BYTES,))
    wait_s = mg1_mean_wait(load, mean_service=service.mean, second_moment_service=service.second_moment)
    return float(wait_s) * 1e6


def _task(load: float, detect_ratio: float) -> Task:
    packets = sufficient_packets((PAYLOAD_BYTES,), load=load, detect_ratio=detect_ratio)
    return Task(port_waits, payload_bytes=(PAYLOAD_BYTES,), load=load, packets=packets, seed=SEED)


def _row(measured: Mapping[Any, Any], detect_ratio: float) -> dict[str, Any]:
    load, packets = float(measured["load"]), int(measured["packets"])
    mean = mean_in_row(measured, "wait_s")
    model = _model_us(load)
    interval = student_interval(mean.mean, mean.standard_error, mean.degrees_of_freedom, 0.95, packets)
    verdict = agreement(model / 1e6, mean, detect=detect_ratio * model / 1e6)
    return {
        "load": load,
        "packets": packets,
        "model_us": model,
        "simulated_us": mean.mean * 1e6,
        "simulated_half_width_us": interval.half_width * 1e6,
        "p_value": verdict.p_value,
        "verdict": verdict.verdict,
    }


def _draw(rows: list[dict[str, Any]]) -> "Figure":
    figure = new_figure(width_in=6.4, height_in=3.6)
    axes = figure.add_subplot()
    loads = [percent / 100 for percent in range(5, 86)]
    axes.plot(loads, [_model_us(load) for load in loads], label="M/D/1, closed form")
    measured, errors = [row["simulated_us"] for row in rows], [row["simulated_half_width_us"] for row in rows]
    axes.errorbar(LOADS, measured, yerr=errors, fmt="o", capsize=3, label="simulated packets, 95% interval")
    axes.set(xlabel="load of the port", ylabel="mean wait (µs)", ylim=(0, None))
    axes.legend(frameon=False)
    return figure


def _visit(quick: bool, advance: Advance) -> Section:
    detect_ratio = QUICK_DETECT if quick else DETECT
    tasks = [_task(load, detect_ratio) for load in reversed(LOADS)]  # the largest load takes the longest: it begins

    def done(part: Sequence[Task]) -> None:
        advance(len(part) / len(tasks))

    measured = gather(tasks, executor=one_by_one if quick else all_cores(), done=done).sort_values("load")
    rows = [_row(row.to_dict(), detect_ratio) for _, row in measured.iterrows()]
    agreed = sum(row["verdict"] == "agrees" for row in rows)
    return Section(
        title="Do queueing theory and simulator agree?",
        reading="The line is the mean wait of a packet at a 1 Gbit/s port by queueing theory (M/D/1: packets of one "
        "size that arrive at random, one after the other), on which the formulas of RepFlow rest; the dots are mean "
        "waits in the simulator. They should lie on the line.",
        finding=f"At {agreed} of {len(rows)} loads they agree. The test is two-sided, and the number of packets is "
        f"what theory requires to detect an error of {detect_ratio:.0%}; it grows with the load. The p-value is the "
        "probability of a difference at least as large if theory is right.",
        commands=(
            'python -c "from capsmodel.papers.measurements.single_port import port_waits; '
            f'print(port_waits(({PAYLOAD_BYTES},), load={LOADS[0]}, packets={rows[0]["packets"]}, seed={SEED}))"',
        ),
        columns=(
            Column("load", "load"),
            Column("packets", "packets"),
            Column("model_us", "theory (µs)"),
            Column("simulated_us", "simulated (µs)", error="simulated_half_width_us"),
            Column("p_value", "p-value"),
            Column("verdict", "verdict"),
        ),
        rows=rows,
        figures={"port_wait": _draw(rows)},
    )


STATION = Station("port_wait", "model against simulation", _visit)
