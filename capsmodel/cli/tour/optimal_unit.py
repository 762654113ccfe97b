"""Part of the tour: the optimal coding unit in the setting of CAPS, section VI-D."""

from typing import Any, Literal

from capsmodel.cli.tour.section import Advance, Column, Section, Station
from capsmodel.coding.optimal_unit import delay_curve, optimal_coding_unit
from capsmodel.papers.closed_forms.caps import PAPER_PROBS, PAPER_UNITS, SETTING, WINDOW_PACKETS
from capsmodel.plotting import plot_delay_curves

_OBJECTIVES: dict[Literal["eq4", "with_redundancy_cost"], str] = {
    "eq4": "delay_eq4",
    "with_redundancy_cost": "delay_with_redundancy_cost",
}
_TITLES = {"eq4": "CAPS Eq. 4 as printed", "with_redundancy_cost": "with the time to send repair packets"}


def _row(prob: float, printed: int) -> dict[str, Any]:
    row: dict[str, Any] = {"blocking_prob": prob, "k_printed": printed}
    for objective in _OBJECTIVES:
        best = optimal_coding_unit(WINDOW_PACKETS, blocking_prob=prob, objective=objective, **SETTING)
        row |= {
            f"k_{objective}": int(best.k),
            f"r_{objective}": int(best.r),
            f"delay_{objective}_ms": best.delay_s * 1e3,
        }
        row[f"near_{objective}"] = f"{int(best.near_k_min)}–{int(best.near_k_max)}"
    row["uncoded_ms"] = best.uncoded_delay_s * 1e3
    return row


def _visit(quick: bool, advance: Advance) -> Section:
    del quick, advance  # closed forms: done at once
    figures = {
        name: plot_delay_curves(
            [delay_curve(WINDOW_PACKETS, blocking_prob=p, objective=objective, **SETTING) for p in PAPER_PROBS],
            PAPER_PROBS,
            title=_TITLES[objective],
        )
        for objective, name in _OBJECTIVES.items()
    }
    return Section(
        title="How many packets should be coded together?",
        reading="Each curve is the mean time in ms until a window of 64 packets is decoded, over the number k of "
        "source packets in a coding unit; the dot is its minimum. Where the curve is flat, k matters little.",
        finding="CAPS (coding-based adaptive packet spraying) prints k = 29, 31, 33, 40. Its Eq. 4 as "
        "printed has its minimum elsewhere; with the time to send the repair packets added, our reading, the printed "
        "values lie within 1% of the minimum.",
        command="capsmodel optimal-k 64 --objective eq4; capsmodel optimal-k 64",
        columns=(
            Column("blocking_prob", "blocking probability"),
            Column("k_printed", "k printed in CAPS"),
            Column("k_eq4", "k, Eq. 4"),
            Column("k_with_redundancy_cost", "k, with repair"),
            Column("near_with_redundancy_cost", "k within 1% of it"),
            Column("r_with_redundancy_cost", "r, with repair"),
            Column("delay_with_redundancy_cost_ms", "delay, with repair (ms)"),
            Column("uncoded_ms", "delay, uncoded (ms)"),
        ),
        rows=[_row(prob, printed) for prob, printed in zip(PAPER_PROBS, PAPER_UNITS, strict=True)],
        figures=figures,
    )


STATION = Station("coding_unit", "optimal coding unit", _visit)
