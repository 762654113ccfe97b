"""CAPS Fig. 8(d): mean decoding delay of a window of 64 packets over the size of the unit, simulated.

Not stated: the window, the plotted k, r, over what the decoding delay is averaged, and the runs. Stated: 10 paths, 3
long flows. Chosen: the window of Section VI-D, which no unit exceeds; each long flow on its own path, with RTT_L = 3
ms; 1000 windows one by one for each k; r by the ceiling rule for p_B = 3/10 (left) and, since it explains the printed
k, as the objective with redundancy cost prescribes (right). The delay is measured in two ways: until the last
acknowledgement, as in Eq. 4, and as the mean over packets until their delivery in order. The claims are judged by the
first. Lines: Eq. 4, and the objective with redundancy cost. p_S at the same k and r is counted over 2000 units. Printed
is k = 33, in Section VI-D.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pandas import DataFrame
from scipy import special

from capsmodel.coding.caps_setting import SETTING, WINDOW_PACKETS
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.optimal_unit import delay_curve
from capsmodel.coding.redundancy import repair_packets
from capsmodel.coding.unit_parameters import Objective
from capsmodel.coding.window_delay import window_delay_s
from capsmodel.experiments.statistics.intervals import Interval, MeanInterval, student_interval, wilson_interval
from capsmodel.experiments.words import SIGNIFICANTLY, STATEMENT, Holds, VerdictWord, within, word_on
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures import _units as units
from capsmodel.papers.figures._points import CONFIDENCE, Estimate, word_on_points
from capsmodel.papers.verdicts import Verdict, cell, of_sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from capsmodel.experiments.sweep import Task
    from capsmodel.papers.claim_list import PublishedClaim

N_PATHS, LONG_FLOWS, WINDOWS = 10, 3, 1000
PROB = LONG_FLOWS / N_PATHS
EQ4: Objective = "eq4"
COST: Objective = "with_redundancy_cost"
_TITLES: dict[str, str] = {
    EQ4: "r by the ceiling rule; line: Eq. 4",
    COST: "r and line by the objective with redundancy cost",
}
_READINGS = {"window_delay": "to the last ACK", "packet_delay": "mean over packets"}


def _repair(form: Objective, k: int) -> int:
    if form == EQ4:
        return int(repair_packets(k, blocking_prob=PROB))
    return int(delay_curve(WINDOW_PACKETS, blocking_prob=PROB, **SETTING).r[k - 1])


def tasks(*, quick: bool = False) -> list["Task"]:
    """Return for each rule of r and each k a task for the delays and one for p_S; `quick` takes six k."""
    sizes = (1, 8, 16, 32, 48, 64) if quick else (1, 2, 3, 4, 6, *range(8, 61, 4), 61, 62, 64)
    windows, sent = (100, 200) if quick else (WINDOWS, 2 * WINDOWS)
    where = {"n_paths": N_PATHS, "long_flows": LONG_FLOWS}
    points = [(k, _repair(form, k)) for form in (EQ4, COST) for k in sizes]
    delays = [units.delay_task(k, r=r, windows=windows, **where) for k, r in points]
    return delays + [units.decoding_task(k, r=r, units=sent, **where) for k, r in points]


def table(rows: DataFrame) -> DataFrame:
    """Return both delays and p_S with their intervals, and what the formulas say, for each rule of r and each k."""
    sizes = rows["k"].drop_duplicates().tolist()
    return DataFrame([_point(rows, form, k) for form in (EQ4, COST) for k in sizes])


def _point(rows: DataFrame, form: Objective, k: int) -> dict[str, Any]:
    r = _repair(form, k)
    own = rows[(rows["k"] == k) & (rows["r"] == r)]
    delays, counts = own[own["packet_delay_s"].notna()], own[own["trials"].notna()]
    point: dict[str, Any] = {"form": form, "k": k, "r": r}
    point |= {f"{name}{end}_s": delays[f"{name}{end}_s"].item() for name in _READINGS for end in ("", "_low", "_high")}
    point |= {str(column): share.item() for column, share in units.decode_shares(counts).items()}
    model = window_delay_s(k, r=r, window_packets=WINDOW_PACKETS, blocking_prob=PROB, objective=form, **SETTING)
    point["units"] = int(counts["trials"].item())
    return point | {"formula_delay_s": model, "formula_prob": decode_prob(k, r=r, blocking_prob=PROB)}


def draw(frame: DataFrame) -> "Figure":
    """Draw both readings of the delay over k, a panel for each rule of r."""
    figure, panels = drawing.panels("CAPS Fig. 8(d): window delay, simulated, 10 paths, 3 long flows, w = 64", 2)
    for axes, (form, rows) in zip(panels, frame.groupby("form", sort=False), strict=True):
        axes.plot(rows["k"], rows["formula_delay_s"] * 1e3, color="0.4", label="formula")
        for colour, (name, reading) in zip(drawing.COLOURS, _READINGS.items(), strict=False):
            drawing.error_bars(axes, rows, x="k", y=f"{name}_s", scale=1e3, color=colour, label=f"simulated, {reading}")
        drawing.paper_place(axes, cell("caps-optk-0.3"), "paper, Section VI-D: optimal k")
        axes.set(xlabel="source packets in a unit k", ylabel="delay, ms", xlim=(0, 65), ylim=(0, 4.8))
        axes.set_title(_TITLES[str(form)], fontsize="medium")
    return drawing.finish(figure, panels)


def _fastest(rows: DataFrame, name: str) -> list[int]:
    """Return the k of the least delay, and all k whose interval meets its interval."""
    columns = ("k", f"{name}_s", f"{name}_low_s", f"{name}_high_s")
    k, delay_s, low_s, high_s = (rows[column].to_numpy() for column in columns)
    return [int(k[delay_s.argmin()]), *map(int, k[low_s <= high_s[delay_s.argmin()]])]


def _inside(places: list[int], ends: set[int]) -> Holds:
    """Return whether the least delay lies between the ends of the sweep, from all places where it may lie."""
    at_ends = [place in ends for place in places]
    return True if not any(at_ends) else False if all(at_ends) else None


def judge_shape(claim: "PublishedClaim", frame: DataFrame) -> Verdict:
    """Judge whether both ends are slower than the middle, to the last ACK and with r by the paper's own rule."""
    ends = {int(frame["k"].min()), int(frame["k"].max())}
    found = {(form, name): _fastest(rows, name) for form, rows in frame.groupby("form") for name in _READINGS}
    inside = {reading: _inside(places, ends) for reading, places in found.items()}
    holds = [
        f"{_READINGS[name]}, {'few' if form == EQ4 else 'many'} repair packets (k = {found[form, name][0]})"
        for (form, name), one in inside.items()
        if one
    ]
    best, *near = found[EQ4, "window_delay"]
    reason = "r by the ceiling rule, to the last ACK: fastest k, and no unit exceeds the window; inside only for "
    word: VerdictWord = word_on(STATEMENT, [inside[EQ4, "window_delay"]])
    if word == "fails" and not all(one is False for one in inside.values()):
        word = "depends" if any(inside.values()) else "open"
    reason += "; ".join(holds) or "none"
    interval = float(min(near)), float(max(near))
    verdict = Verdict(claim.id, (float(best),), word, reason, interval, "place of the least")
    return of_sample(verdict, f"{WINDOWS} windows")


@dataclass(frozen=True, kw_only=True)
class _DecodedShare:
    """Units that could be decoded, of so many sent, over the probability of the formula."""

    decoded: int
    units: int
    formula_prob: float

    def at(self, confidence: float) -> Interval:
        """Return the share over the formula with its interval."""
        found = wilson_interval(self.decoded, trials=self.units, confidence=confidence)
        value, low, high = (one / self.formula_prob for one in (found.value, found.low, found.high))
        return Interval(value=value, low=low, high=high, confidence=confidence, samples=self.units)


def _shares(rows: DataFrame) -> list[_DecodedShare]:
    """Return p_S over its formula for each k."""
    counts = zip(rows["decode_prob"], rows["units"], rows["formula_prob"], strict=True)
    return [_DecodedShare(decoded=round(prob * n), units=n, formula_prob=formula) for prob, n, formula in counts]


_MEASURED_AT = 0.95
"""Confidence of the intervals that a run has measured."""


def _delays(rows: DataFrame, name: str) -> list[MeanInterval]:
    """Return a measured delay over its formula, with its interval, for each k."""
    measured_at = float(special.stdtrit(WINDOWS - 1, (1 + _MEASURED_AT) / 2))
    ends = zip(rows[f"{name}_s"], rows[f"{name}_high_s"], rows["formula_delay_s"], strict=True)
    return [
        student_interval(value / formula, (high - value) / measured_at / formula, WINDOWS - 1, CONFIDENCE, WINDOWS)
        for value, high, formula in ends
    ]


def _spanned(points: Sequence[Estimate]) -> str:
    values = [one.at(CONFIDENCE).value for one in points]
    return f"{min(values):.2f} to {max(values):.2f}"


def judge_match(claim: "PublishedClaim", frame: DataFrame) -> Verdict:
    """Judge whether both quantities are close to their formulas at every k, r by the ceiling rule."""
    rows = frame[frame["form"] == EQ4]
    shares, delays = _shares(rows), _delays(rows, "window_delay")
    word = word_on_points(STATEMENT, [*shares, *delays], lambda one: within(one, *SIGNIFICANTLY))
    over_packets = _spanned(_delays(rows, "packet_delay"))
    reason = (
        f"simulated over formula: p_S {_spanned(shares)}, d_w to the last ACK is the value: Eq. 4 leaves out "
        f"the time to send; the average is not defined, the mean over packets has {over_packets}"
    )
    ends = min(one.value for one in delays), max(one.value for one in delays)
    return of_sample(Verdict(claim.id, ends, word, reason, quantity="ratio"), f"{WINDOWS} windows")


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
