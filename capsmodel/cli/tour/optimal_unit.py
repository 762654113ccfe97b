"""Part of the tour: the optimal coding unit in the setting of CAPS, section VI-D."""

from typing import TYPE_CHECKING, Any

from capsmodel.cli.shared.table import Column
from capsmodel.cli.tour.section import Advance, Section, Station
from capsmodel.coding.caps_setting import PAPER_PROBS, SETTING, WINDOW_PACKETS
from capsmodel.coding.optimal_unit import delay_curve, optimal_coding_unit
from capsmodel.coding.unit_parameters import Objective
from capsmodel.papers.closed_forms.caps import PAPER_UNITS
from capsmodel.plotting import look, plot_delay_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES: dict[Objective, str] = {
    "eq4": "CAPS Eq. 4 as printed",
    "with_redundancy_cost": "with the time to send repair packets",
}


def _row(prob: float, printed: int) -> dict[str, Any]:
    row: dict[str, Any] = {"blocking_prob": prob, "k_printed": printed}
    for objective in _TITLES:
        best = optimal_coding_unit(WINDOW_PACKETS, blocking_prob=prob, objective=objective, **SETTING)
        row |= {
            f"k_{objective}": int(best.k),
            f"r_{objective}": int(best.r),
            f"delay_{objective}_ms": best.delay_s * 1e3,
        }
        row[f"near_{objective}"] = f"{int(best.near_k_min)}–{int(best.near_k_max)}"
    row["uncoded_ms"] = best.uncoded_delay_s * 1e3
    return row


def _figure(objective: Objective) -> "Figure":
    """Return the delay over k for each blocking probability, with the printed k marked on its curve's colour."""
    curves = [delay_curve(WINDOW_PACKETS, blocking_prob=p, objective=objective, **SETTING) for p in PAPER_PROBS]
    figure = plot_delay_curves(curves, PAPER_PROBS, title=_TITLES[objective])
    (axes,) = figure.axes
    for place, printed in enumerate(PAPER_UNITS):
        label = "k printed in CAPS" if place == 0 else None
        axes.axvline(printed, color=look(place)["color"], linestyle=":", label=label)
    axes.legend(frameon=False)
    return figure


def _visit(quick: bool, advance: Advance) -> Section:
    del quick, advance  # closed forms: done at once
    return Section(
        title="How many packets should be coded together?",
        reading="A sender takes k packets of a flow, computes r repair packets from them, and sends this coding unit "
        "of k + r packets over random paths; the receiver has all of it as soon as any k of them are there. A packet "
        "is blocked if it meets a path with a long flow, which has the blocking probability p_B, and then takes 3 ms "
        "in place of 0.1 ms. Each curve is the mean time in ms until a window of 64 packets is decoded, over k; the "
        "dot is its minimum, the dotted line of the same colour the k that the paper prints for it. Where the curve "
        "is flat, k matters little.",
        finding="CAPS (coding-based adaptive packet spraying) prints k = 29, 31, 33, 40 as the best. Its Eq. 4 as "
        "printed has its minimum elsewhere; with the time to send the repair packets added, our variant, the printed "
        "values lie within 1% of the minimum. Simulated packets agree with neither to the last acknowledgement: the "
        "second command shows it.",
        commands=(
            "capsmodel optimal-k 64",
            "capsmodel optimal-k 64 --simulate",
            "capsmodel optimal-k 64 --objective eq4",
        ),
        columns=(
            Column("blocking_prob", "blocking probability p_B"),
            Column("k_printed", "k printed in CAPS"),
            Column("k_eq4", "best k by Eq. 4"),
            Column("k_with_redundancy_cost", "best k with the time of repair packets"),
            Column("near_with_redundancy_cost", "k within 1% of it"),
            Column("r_with_redundancy_cost", "its r"),
            Column("delay_with_redundancy_cost_ms", "its delay (ms)"),
            Column("uncoded_ms", "delay without coding (ms)"),
        ),
        rows=[_row(prob, printed) for prob, printed in zip(PAPER_PROBS, PAPER_UNITS, strict=True)],
        figures={f"delay_{objective}": _figure(objective) for objective in _TITLES},
    )


STATION = Station("coding_unit", "optimal coding unit", _visit)
