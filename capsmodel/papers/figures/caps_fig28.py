"""CAPS Fig. 28 and 29(b): CAPS beside strict priority, short flows with three long ones over 12 paths.

Not stated: TCP, timers, who receives, start times, sizes of the long flows, how a buffer is shared between the two
priorities, the number of runs. Chosen: the preset ``caps-fig1`` with 12 paths and 3 long flows of 14.6 MB, short ones
of 15 to 100 KB, each to a receiver of its own; 20 to 180 of them that start within 0.1 ms; 20 runs for each number, all
schemes on the same flows. Judged with long flows pushed out of a full buffer by short ones; one buffer shared by both
priorities is drawn dotted and counts for the direction. "Much" means by a factor of two. Shares of lost packets are of
data and acknowledgements of short flows over their data packets; where no scheme loses any, nothing is compared.
The readings of CAPS other than the default one are named in the reasons but do not decide the verdicts.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pandas import DataFrame

from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.experiments.sweep import Task
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _caps_schemes as shared
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.index import Claim
from capsmodel.papers.measurements.caps_comparison import SHARED_BUFFER, beside_long_flows
from capsmodel.papers.measurements.head_of_line import FCT_QUANTILES_PCT
from capsmodel.papers.verdicts import MUCH, Verdict, above, verdict_word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("ecmp", "rps", "caps", "ecmp_pq", "rps_pq")
QUANTILES = [f"fct_p{pct:02}_s" for pct in FCT_QUANTILES_PCT]
COLUMNS = {
    "loss": "lost_ratio",
    "reorder_ratio": "reordered_ratio",
    "afct_short": "mean_fct_s",
    "long_goodput": "throughput_bps",
}
COUNTED = ("lost_ratio", "reordered_ratio")
"""Columns that can be 0, compared by differences."""
CDF_FLOWS = 120


def tasks(*, quick: bool = False) -> list[Task]:
    """Return a task for each number of short flows and scheme, of 20 runs; of 2 and two numbers when `quick`."""
    numbers, runs = ((60, CDF_FLOWS), 2) if quick else ((20, 60, CDF_FLOWS, 180), 20)
    return [
        Task(beside_long_flows, form=form, short_flows=count, runs=runs, seed=1)
        for count in numbers
        for form in (*SCHEMES, *SHARED_BUFFER.values(), *shared.READINGS)
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return what each run gives; `flows` is the number of short flows."""
    found = rows.rename(columns={"form": "scheme", "short_flows": "flows"})
    others = ("timeouts", "timed_out_ratio", "repair_ratio")
    return found[["flows", "scheme", "seed", *COLUMNS.values(), *others, *QUANTILES]]


def _comparison(column: str) -> tuple[Callable[..., shared.Compared], str, float]:
    """Return how schemes are compared in a column, the word for it, and the value for two equal schemes."""
    return (shared.differences, "minus", 0) if column in COUNTED else (shared.ratios, "over", 1)


def _over_baselines(
    claim: Claim, runs: shared.Runs, column: str, *, at: str, brief: bool = False, size: float | None = None
) -> Verdict:
    """Judge an order; priority with one buffer for all counts for the direction."""
    compare, word, equal = _comparison(column)
    subject, baselines = claim.subject_scheme.lower(), shared.named(claim.baseline_scheme)
    found = compare(runs, subject, baselines)
    other = compare(runs, SHARED_BUFFER.get(subject, subject), [SHARED_BUFFER.get(name, name) for name in baselines])
    reason = f"{subject}, {at}, {word} {shared.values_text(found, brief=brief)}"
    if other.keys() - found.keys() or subject in SHARED_BUFFER:
        reason += f"; priority with one buffer for all: {word} {shared.values_text(other, brief=True)}"
    for reading in shared.READINGS if subject == "caps" else ():
        reason += f"; {reading}: {word} {shared.values_text(compare(runs, reading, baselines), brief=True)}"
    other_settings = {(f"{name}, one buffer", place): one for (name, place), one in other.items()}
    return shared.judge_order(claim, found, equal=equal, size=size, other_settings=other_settings, reason=reason)


def _runs(frame: DataFrame, claim: Claim) -> shared.Runs:
    return shared.runs_by_place(frame, COLUMNS[claim.metric], sweep="flows")


def judge_order(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether a scheme has more, or less, than each other one at each number of short flows."""
    runs = _runs(frame, claim)
    return _over_baselines(claim, runs, COLUMNS[claim.metric], at=f"{', '.join(runs)} short flows")


def judge_quantiles(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether the quantiles of the completion time are much smaller than those of each other scheme."""
    rows = frame[frame["flows"] == CDF_FLOWS]
    by_quantile = {
        f"{pct}%": rows.pivot(index="seed", columns="scheme", values=column)
        for pct, column in zip(FCT_QUANTILES_PCT, QUANTILES, strict=True)
    }
    at = f"{len(QUANTILES)} quantiles at {CDF_FLOWS} short flows"
    return _over_baselines(claim, by_quantile, "mean_fct_s", at=at, brief=True, size=MUCH[0])


def judge_rise(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether each scheme loses a larger share the more short flows there are."""
    runs = _runs(frame, claim)
    rising = {name: shared.rises(runs, name) for name in SCHEMES}
    found = {(name, "all"): last for name, (_, last) in rising.items()}
    word = verdict_word(one for one, _ in rising.values())
    return shared.of_points(
        claim, found, word, f"{', '.join(runs)} short flows, last minus first: {shared.values_text(found)}"
    )


def _shares(claim: Claim, frame: DataFrame) -> shared.Compared:
    name = claim.subject_scheme.lower()
    return {(name, place): mean_interval(wide[name]) for place, wide in _runs(frame, claim).items()}


def judge_none(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether a scheme never reorders: not one packet in any run."""
    found = _shares(claim, frame)
    word = verdict_word(one.value == 0 for one in found.values())
    return shared.of_points(claim, found, word, "share of packets overtaken by one sent later, of all runs")


def judge_some(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether a scheme reorders at each number of short flows."""
    found = _shares(claim, frame)
    word = verdict_word(above(one, 0) for one in found.values())
    return shared.of_points(
        claim, found, word, f"share of packets overtaken by one sent later: {shared.values_text(found)}"
    )


def judge_closeness(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether a scheme is close to another one at each number of short flows."""
    runs = _runs(frame, claim)
    found = shared.ratios(runs, claim.subject_scheme.lower(), shared.named(claim.baseline_scheme))
    return shared.judge_closeness(claim, found, f"{', '.join(runs)} short flows, over {shared.values_text(found)}")


JUDGES: dict[str, Callable[[Claim, DataFrame], Verdict]] = {
    "caps-f28a-n": judge_rise,
    **{f"caps-f28{name}": judge_order for name in ("a-ecmp", "a-rps", "b-rps", "c-ecmp", "c-rps", "c-caps")},
    **{f"caps-f28b-{name}": judge_none for name in ("ecmp", "ecmp_pq")},
    **{f"caps-f28b-{name}": judge_some for name in ("rps_pq", "caps")},
    "caps-f28d": judge_quantiles,
    **{f"caps-f29b-{name}": judge_order for name in ("ecmp", "rps", "worst")},
    "caps-f29b-caps": judge_closeness,
}


def draw(frame: DataFrame) -> "Figure":
    """Draw completion times, losses and throughput of long flows over the number of short ones."""
    figure, panels = drawing.panels("CAPS Fig. 28 and 29(b): three long flows on 12 paths", 3)
    figure.set_figheight(6.4)
    for axes, column, scale in zip(
        panels, ("mean_fct_s", "lost_ratio", "throughput_bps"), (1e3, 100, 1e-6), strict=True
    ):
        shared.over_sweep(axes, frame, column, scale, sweep="flows", schemes=SCHEMES)
        one_buffer = [SHARED_BUFFER.get(name, "") for name in SCHEMES]
        shared.over_sweep(axes, frame, column, scale, sweep="flows", schemes=one_buffer, style="o:")
        axes.set(xlabel="short flows")
    left, middle, right = panels
    drawing.paper_arrow(left, (0.4, 0.2), (0.4, 0.04), "paper: CAPS below all others")
    left.set(ylabel="mean FCT of short flows, ms", yscale="log")
    middle.set(ylabel="lost packets of short flows, %", ylim=(0, None))
    right.set(ylabel="throughput of long flows, Mbit/s", ylim=(0, None))
    return drawing.finish(figure, panels, tuple(JUDGES))


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw, judges=JUDGES)
