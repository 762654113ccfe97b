"""CAPS Fig. 6(c): share of units of 10 that decode from unblocked packets, simulated, over r, 40 paths.

Not stated: what counts as blocked, the numbers of long flows, the range of r, and the runs. Chosen: a packet is blocked
when it crosses the path of a long flow; 1 to 4 long flows (4 are those of Section VI-A), each on a path of its own; r
from 0 to 10 as in our Fig. 6(b), given and not measured; 7200 units or more for each point, packets sprayed at random;
a code of which any 10 packets decode. Lines: Eq. 2. Printed is one value of Fig. 6(b), "almost 1" for 2 long flows.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame

from capsmodel.coding.decoding import decode_prob
from capsmodel.experiments.words import STATEMENT, Holds, above, all_of, kendall, word_on
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures import _units as units
from capsmodel.papers.verdicts import Verdict, of_sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from capsmodel.experiments.sweep import Task
    from capsmodel.papers.claim_list import PublishedClaim

K, N_PATHS, UNITS = 10, 40, 7200


def tasks(*, quick: bool = False) -> list["Task"]:
    """Return a task for each number of long flows and each r; `quick` sends fewer units and takes three r."""
    sizes, count = ((0, 2, 10), 600) if quick else (range(11), UNITS)
    return [
        units.decoding_task(K, r=r, n_paths=N_PATHS, long_flows=busy, units=count)
        for busy in (1, 2, 3, 4)
        for r in sizes
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return the simulated p_S with its interval and that of Eq. 2."""
    probs = rows["long_flows"] / N_PATHS
    frame = rows[["k", "r"]].assign(long_flow_paths=rows["long_flows"], blocking_prob=probs)
    formula = decode_prob(K, r=rows["r"].to_numpy(), blocking_prob=probs.to_numpy())
    return frame.join(units.decode_shares(rows)).assign(formula_prob=formula)


def draw(frame: DataFrame) -> "Figure":
    """Draw p_S over r for each number of long flows."""
    figure, (axes,) = drawing.panels("CAPS Fig. 6(c): units that decode, simulated, k = 10, 40 paths")
    for colour, (busy, rows) in zip(drawing.COLOURS, frame.groupby("long_flow_paths"), strict=False):
        axes.plot(rows["r"], rows["formula_prob"], color=colour, linewidth=1, label=f"Eq. 2, $n_L$ = {busy}")
        drawing.error_bars(axes, rows, x="r", y="decode_prob", color=colour, label=f"simulated, $n_L$ = {busy}")
    units.paper_almost_one(axes)
    axes.set(xlabel="repair packets r", ylabel="decoding probability $p_S$")
    return drawing.finish(figure, [axes], loc="lower right", ncols=2)


def _rises(rows: DataFrame) -> Holds:
    """Return whether p_S rises from the first row to the last: its trend, and its ends beyond noise."""
    gain = units.share_difference(rows.iloc[-1], rows.iloc[0])
    return all_of(kendall(rows["decode_prob"].to_numpy()) > 0, above(gain, 0))


def judge(claim: "PublishedClaim", frame: DataFrame) -> Verdict:
    """Judge whether p_S follows the formula: it rises with r for each n_L and falls with n_L at r = 0, beyond noise."""
    ordered = frame.sort_values(["long_flow_paths", "r"])
    curves = [rows for _, rows in ordered.groupby("long_flow_paths")]
    by_long_flows = ordered[ordered["r"] == 0].iloc[::-1]  # p_S rises as n_L falls
    far = float((frame["decode_prob"] - frame["formula_prob"]).abs().max())
    point = frame.query("long_flow_paths == 2 and r == 2").iloc[0]
    reason = (
        f"has to rise with r for each n_L, and to fall with n_L; at most {far:.2g} from Eq. 2 everywhere; value at "
        "n_L = 2, r = 2"
    )
    verdict = Verdict(
        claim.id, (float(point["decode_prob"]),), word_on(STATEMENT, map(_rises, [*curves, by_long_flows])), reason,
        (float(point["decode_low_prob"]), float(point["decode_high_prob"])),
    )  # fmt: skip
    return of_sample(verdict, f"{UNITS} units")


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
