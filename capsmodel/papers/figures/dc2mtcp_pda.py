"""DC2-MTCP Section V: work of preemptive decoding over the share of coded packets.

Not stated: the size of the window, which packets a coded packet combines, whether zero coefficients are skipped.
Chosen: 100 to 1000 originals, the last 15 packets (the paper's C_max), as many originals lost as coded packets come;
work is counted in rows looked at, the paper's measure, and in row operations carried out, where zero coefficients are
skipped.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame, concat

from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import ROUNDING, STATEMENT, word_on
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.measurements.decoding_work import decoding_work
from capsmodel.papers.verdicts import Computed, Verdict, computed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MIXED_PACKETS = 15
MEASURES = {"rows_examined": "rows looked at", "row_operations": "row operations carried out"}
_SIZES = ((100, (1, 2, 4, 8)), (400, (2, 6, 12, 18, 30)), (1000, (5, 10, 20, 40)))


def tasks(*, quick: bool = False) -> list[Task]:
    """Return one window for each size and number of coded packets; three times as many, with other losses, in full."""
    payloads = (
        {"originals": originals, "coded": coded, "mixed_packets": MIXED_PACKETS, "seed": seed}
        for originals, several in _SIZES
        for coded in several
        for seed in range(1 if quick else 3)
    )
    return [Task(decoding_work, **payload) for payload in payloads]


def table(rows: DataFrame) -> DataFrame:
    """Return the work of preemptive decoding over that of Gauss-Jordan, in both measures, the mean of all windows."""
    work = rows.set_index(["originals", "coded", "seed", "algorithm"])[list(MEASURES)].unstack("algorithm")
    shares = [
        (work[measure]["preemptive"] / work[measure]["Gauss-Jordan"])
        .groupby(["originals", "coded"]).mean().rename("work_ratio").reset_index().assign(form=label)
        for measure, label in MEASURES.items()
    ]  # fmt: skip
    names = {"originals": "original_packets", "coded": "coded_packets"}
    frame: DataFrame = concat(shares, ignore_index=True).rename(columns=names)
    return frame.assign(coded_original_ratio=frame["coded_packets"] / frame["original_packets"])


def draw(frame: DataFrame) -> "Figure":
    """Draw the share of work that is left over the share of coded packets."""
    figure, (axes,) = drawing.panels("DC2-MTCP Section V: work left by preemptive decoding")
    for (form, rows), colour, marker in zip(frame.groupby("form", sort=False), drawing.COLOURS, "os", strict=False):
        axes.plot(rows["coded_original_ratio"], rows["work_ratio"], marker, mfc="none", color=colour, label=form)
    shares = drawing.grid(1e-3, 0.085, steps=100, quick=False)
    axes.plot(shares, shares / (1 + shares), color="0.6", lw=1, zorder=0, label="l / (m + l)")
    limit = 1 - drawing.claimed("dc2mtcp-s5-pda")[0] / 100
    axes.plot(
        [0, limit], [limit, limit], "--", color="black", gid=drawing.PUBLISHED, label="paper: at most, below 0.05"
    )
    axes.set(xlabel="coded over original packets l/m", ylabel="work of PDA over Gauss-Jordan", yscale="log")
    return drawing.finish(figure, [axes], loc="upper center", bbox_to_anchor=(0.5, 0.93))


def _left(frame: DataFrame) -> DataFrame:
    return frame[frame["form"] == MEASURES["rows_examined"]]


_REASON = "rows looked at, the paper's measure; a decoder that skips zero coefficients does the same row operations"


def saves_most_of_the_work(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge dc2mtcp-s5-pda: wherever l < 0.05 m, more than 95% is saved."""
    left = _left(frame).query("coded_original_ratio < 0.05")["work_ratio"].to_numpy()
    return computed(claim, Computed(100 * (1 - left), f"{_REASON}; the least saved where l/m is below 0.05"))


def work_is_at_most_the_coding_ratio(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge dc2mtcp-s1-eps: the work left is at most l/m."""
    found = _left(frame)
    ratios = (found["work_ratio"] / found["coded_original_ratio"]).to_numpy()
    word = word_on(STATEMENT, ratios <= 1 + ROUNDING)
    return Verdict(claim.id, (float(ratios.max()),), word, f"{_REASON}; largest work over l/m")


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
