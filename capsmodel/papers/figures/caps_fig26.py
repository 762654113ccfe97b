"""CAPS Fig. 26: incast of short flows without long ones, for several schemes and readings of CAPS.

Not stated: TCP, timers, how many hosts and leaves there are, which buffer belongs to which panel, whose timeouts are
counted, the number of runs. Chosen: the preset ``caps-incast``, 20 to 180 senders to one receiver at the same instant,
40 paths; 20 runs for each number, all schemes on the same flows. Judged at 256 packets a port, Section III's buffer; at
100, the other one of the paper, for the direction. Timeouts are those of all connections, RepFlow's second copies
included. Freeway is not simulated: the paper says that it equals ECMP when there are no long flows. The readings of
CAPS other than the default one are drawn and named in the reasons but do not decide the verdicts. Loss and overhead as
shares of all traffic of a data centre are not judged: there is no other traffic here.
"""

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

from pandas import DataFrame

from capsmodel.experiments.statistics.intervals import paired_difference
from capsmodel.experiments.sweep import Task
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _caps_schemes as shared
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.index import Claim
from capsmodel.papers.measurements.caps_comparison import incast
from capsmodel.papers.verdicts import Verdict, verdict_word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("ecmp", "rps", "repflow", "caps")
BUFFER_PACKETS, OTHER_BUFFER_PACKETS = 256, 100
THRESHOLD_SENDERS = 100
"""Number of senders up to which the paper claims CAPS to be best."""
COLUMNS = {"timeouts": "timeouts", "goodput": "goodput_bps", "afct_short": "mean_fct_s"}


def tasks(*, quick: bool = False) -> list[Task]:
    """Return a task for each number of senders, buffer and scheme, of 20 runs; of 2 and fewer senders when `quick`."""
    senders, runs = ((20, 60), 2) if quick else ((20, 60, 100, 140, 180), 20)
    return [
        Task(incast, form=form, senders=count, buffer_packets=packets, runs=runs, seed=1)
        for count, packets in product(senders, (BUFFER_PACKETS, OTHER_BUFFER_PACKETS))
        for form in (*SCHEMES, *shared.READINGS)
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return what each run gives; `flows` is the number of senders, `repair_ratio` r/k."""
    found = rows.rename(columns={"form": "scheme", "senders": "flows"})
    counts = ("winner_timeouts", "timed_out_ratio", "repair_ratio", "lost_ratio")
    return found[["flows", "buffer_packets", "scheme", "seed", *COLUMNS.values(), *counts]]


def _runs(frame: DataFrame, column: str, conditions: str, buffer_packets: int = BUFFER_PACKETS) -> shared.Runs:
    """Return the runs of a column by the number of senders, of those that the conditions of a claim allow."""
    rows = frame[frame["buffer_packets"] == buffer_packets]
    if conditions.startswith("up to"):
        rows = rows[rows["flows"] <= THRESHOLD_SENDERS]
    elif conditions.startswith("more than"):
        rows = rows[rows["flows"] > THRESHOLD_SENDERS]
    return shared.runs_by_place(rows, column, sweep="flows")


def judge_order(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether a scheme has more, or less, than each other one; without long flows Freeway is ECMP."""
    subject, column = claim.subject_scheme.lower(), COLUMNS[claim.metric]
    baselines = [name for name in shared.named(claim.baseline_scheme) if name in SCHEMES]
    baselines = baselines or [name for name in SCHEMES if name != subject]
    compare = shared.differences if column == "timeouts" else shared.ratios
    runs = _runs(frame, column, claim.conditions)
    found = compare(runs, subject, baselines)
    other = compare(_runs(frame, column, claim.conditions, OTHER_BUFFER_PACKETS), subject, baselines)
    word = "minus" if column == "timeouts" else "over"
    reason = f"{subject}, {', '.join(runs)} senders, {word} {shared.values_text(found)}"
    for reading in shared.READINGS if subject == "caps" else ():
        reason += f"; {reading}: {word} {shared.values_text(compare(runs, reading, baselines), brief=True)}"
    reason += f"; with {OTHER_BUFFER_PACKETS} packets a port {word} {shared.values_text(other, brief=True)}"
    other_settings = {(f"{name}, {OTHER_BUFFER_PACKETS}", at): one for (name, at), one in other.items()}
    return shared.judge_order(
        claim, found, equal=0 if word == "minus" else 1, other_settings=other_settings, reason=reason
    )


def judge_redundancy(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether the ratio r/k of CAPS rises with the number of senders."""
    rising, last = shared.rises(_runs(frame, "repair_ratio", ""), "caps")
    other, _ = shared.rises(_runs(frame, "repair_ratio", "", OTHER_BUFFER_PACKETS), "caps")
    means = [wide["caps"].mean() for wide in _runs(frame, "repair_ratio", "").values()]
    reason = (
        f"r/k {', '.join(f'{mean:.3g}' for mean in means)} over the number of senders; last minus first is the value; "
        "each flow measures p_B itself, by RTTs that are large compared with its own average"
    )
    found = {("caps", "all"): last}
    return shared.of_points(claim, found, verdict_word([rising], [rising, other]), reason)


def judge_buffer(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether each scheme loses a larger share with the smaller buffer."""
    large, small = (_runs(frame, "lost_ratio", "", packets) for packets in (BUFFER_PACKETS, OTHER_BUFFER_PACKETS))
    found: shared.Compared = {
        (name, place): paired_difference(small[place][name], large[place][name])
        for name, place in ((name, place) for name in SCHEMES for place in large)
    }
    reason = (
        f"lost over sent packets, {OTHER_BUFFER_PACKETS} minus {BUFFER_PACKETS} packets: {shared.values_text(found)}"
    )
    return shared.judge_order(claim, found, equal=0, reason=reason)


JUDGES: dict[str, Callable[[Claim, DataFrame], Verdict]] = {
    "caps-f26a-n": judge_redundancy,
    **{f"caps-f26{name}": judge_order for name in ("c-caps", "c-caps2", "c-repflow", "c-rps", "d", "e", "e2")},
    "caps-f26-buffer": judge_buffer,
}


def draw(frame: DataFrame) -> "Figure":
    """Draw timeouts and completion times over the number of senders, and the timeouts of the readings of CAPS."""
    figure, panels = drawing.panels("CAPS Fig. 26: incast of short flows, 256 packets a port", 3)
    rows = frame[frame["buffer_packets"] == BUFFER_PACKETS]
    left, middle, right = panels
    shared.over_sweep(left, rows, "timeouts", 1, sweep="flows", schemes=SCHEMES)
    shared.over_sweep(middle, rows, "mean_fct_s", 1e3, sweep="flows", schemes=SCHEMES)
    shared.over_sweep(right, rows, "timeouts", 1, sweep="flows", schemes=("caps", *shared.READINGS))
    for axes, label in zip(panels, ("timeouts a run", "mean completion time, ms", "timeouts a run"), strict=True):
        drawing.paper_place(axes, THRESHOLD_SENDERS, "paper: CAPS best up to here")
        axes.set(xlabel="senders", ylabel=label, ylim=(0, None))
    return drawing.finish(figure, panels, tuple(JUDGES))


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw, judges=JUDGES)
