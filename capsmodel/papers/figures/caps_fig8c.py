"""CAPS Fig. 8(c): share of units that decode from unblocked packets, simulated, over the size of the unit.

Not stated: the plotted k, r, and the runs. Stated: 10 paths, 3 long flows. Chosen: a packet is blocked when it crosses
the path of a long flow, each on a path of its own; r by the ceiling rule for p_B = 3/10, not measured; k = 1 to 32 and
then every fourth to 64; 3600 units or more for each; a code of which any k packets decode. Line: Eq. 2. The paper
prints no value, only that p_S falls monotonically.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.redundancy import repair_packets
from capsmodel.experiments.words import STATEMENT, all_of, below, kendall, word_on
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures import _units as units
from capsmodel.papers.verdicts import Verdict, of_sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from capsmodel.experiments.sweep import Task
    from capsmodel.papers.claim_list import PublishedClaim

N_PATHS, LONG_FLOWS, UNITS = 10, 3, 3600
PROB = LONG_FLOWS / N_PATHS


def tasks(*, quick: bool = False) -> list["Task"]:
    """Return a task for each k; `quick` takes nine of them and fewer units."""
    sizes = (1, 2, 3, 4, 5, 8, 16, 32, 64) if quick else (*range(1, 33), *range(36, 65, 4))
    return [
        units.decoding_task(
            k, r=int(repair_packets(k, blocking_prob=PROB)), n_paths=N_PATHS, long_flows=LONG_FLOWS,
            units=400 if quick else UNITS,
        )
        for k in sizes
    ]  # fmt: skip


def table(rows: DataFrame) -> DataFrame:
    """Return the simulated p_S with its interval and that of Eq. 2."""
    formula = decode_prob(rows["k"].to_numpy(), r=rows["r"].to_numpy(), blocking_prob=PROB)
    return rows[["k", "r"]].join(units.decode_shares(rows)).assign(formula_prob=formula)


def draw(frame: DataFrame) -> "Figure":
    """Draw p_S over k."""
    figure, (axes,) = drawing.panels("CAPS Fig. 8(c): units that decode, simulated, 10 paths, 3 long flows")
    axes.plot(frame["k"], frame["formula_prob"], color=drawing.COLOURS[1], label="Eq. 2, r rounded up")
    drawing.error_bars(axes, frame, x="k", y="decode_prob", color=drawing.COLOURS[0], label="simulated, 99.5% interval")
    drawing.paper_arrow(axes, (0.42, 0.72), (0.92, 0.42), "paper: falls monotonically")
    axes.set(xlabel="source packets in a unit k", ylabel="decoding probability $p_S$", xlim=(0, 65))
    return drawing.finish(figure, [axes])


def judge(claim: "PublishedClaim", frame: DataFrame) -> Verdict:
    """Judge whether p_S falls and never rises; the step tested for a rise is the one where Eq. 2 rises most."""
    ordered = frame.sort_values("k")
    shares, k = ordered["decode_prob"].to_numpy(), ordered["k"].to_numpy()
    falls = all_of(kendall(shares) < 0, below(units.share_difference(ordered.iloc[-1], ordered.iloc[0]), 0))
    step = int(np.diff(ordered["formula_prob"]).argmax())
    rise = units.share_difference(ordered.iloc[step + 1], ordered.iloc[step])
    word = word_on(STATEMENT, [falls, below(rise, 0)])
    reason = (
        f"from {shares[0]:.2f} at k = {k[0]} to {shares[-1]:.2f} at {k[-1]}; with whole r Eq. 2 rises from k = "
        f"{k[step]} to {k[step + 1]}, by the value here; the plotted k are not stated, and with few "
        "of them the rise does not show"
    )
    verdict = Verdict(claim.id, (rise.value,), word, reason, (rise.low, rise.high), "difference")
    return of_sample(verdict, f"{UNITS} units")


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
