"""RepFlow Table I: short flows beside one long flow, sent once and twice over two paths.

Not stated: how far apart short flows start, buffers, packet sizes, the initial window, whether a completion time holds
the handshake, how many flows there are, and the replica's start. Chosen: flows start as a Poisson process, half a
second apart on average, so that two of them seldom overlap; 50 packets at every port (Section VI), hosts included, as
Mininet's links have; packets of 1500 B, an initial window of ten and a least timeout of 200 ms as in Linux of that
time; handshake included, until the receiver has all bytes; 1000 flows in each of ten runs; both copies start together
and hash independently; ratios are geometric means over runs. Each of the four links of a path has 1 ms, as the caption
says. The verdicts depend on the buffer size, which was noticed afterwards: 1000 packets, the default of a Linux
interface, are drawn too and not judged.
"""

from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from capsim.study.relations import reduction_pct
from capsmodel.checks import FloatArray
from capsmodel.experiments.printed import reading_error
from capsmodel.experiments.statistics.intervals import Interval, mean_interval, paired_ratio
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import LEVEL, SIZE, VerdictWord, above, has_size, within, word_on
from capsmodel.papers.claim_list import PublishedClaim, read_claims
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures._points import CONFIDENCE
from capsmodel.papers.measurements.behind_long_flow import behind_long_flow
from capsmodel.papers.verdicts import Verdict, cell, of_sample, printed_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Name in the claims, scheme of the table, and setting.
_SCENARIOS: dict[str, tuple[str, dict[str, Any]]] = {
    "none": ("without a long flow", {"long_flow": False, "copies": 1}),
    "long": ("with a long flow", {"long_flow": True, "copies": 1}),
    "repl": ("with a long flow and replication", {"long_flow": True, "copies": 2}),
}
# Judged, and drawn beside.
_BUFFERS_PACKETS = (50, 1000)
_COLUMNS = {"mean": "mean_fct_s", "p99": "p99_fct_s"}

_ALONE = "four links of 1 ms, a handshake and ten packets take 15.17 ms without any queue, more than is printed"
_BESIDE = {
    "mean": "buffers are not stated for Table I, nor spacing and initial window; timeouts make most of the mean; ",
    "p99": "a lost handshake waits 1 s, and more if lost again; the table's tails hold few of them or none; ",
}
_OVER_HALF = "in one case of four both copies hash to the full path, and twice as many packets overflow it"


def tasks(*, quick: bool = False) -> list[Task]:
    """Return one task for each buffer, scenario and seed."""
    flows, runs = (100, 2) if quick else (1000, 10)
    return [
        Task(behind_long_flow, **setting, short_flows=flows, buffer_packets=buffers, seed=seed)
        for buffers in _BUFFERS_PACKETS
        for _, setting in _SCENARIOS.values()
        for seed in range(runs)
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return mean and 99th percentile of each run; the n-th runs of all scenarios have the same short flows."""
    name_of = {(setting["long_flow"], setting["copies"]): name for name, setting in _SCENARIOS.values()}
    schemes = [name_of[key] for key in zip(rows["long_flow"], rows["copies"], strict=True)]
    columns = ("buffer_packets", *_COLUMNS.values(), "timed_out_ratio")
    return DataFrame({"scheme": schemes, **{column: rows[column] for column in columns}})


def draw(frame: DataFrame) -> "Figure":
    """Draw mean and 99th percentile of the three scenarios with 95% intervals over runs."""
    figure, axes = drawing.panels("RepFlow Table I: short flows beside one long flow", len(_COLUMNS))
    names = ["no long flow", "long flow", "long flow,\nreplication"]
    places = range(len(_SCENARIOS))
    for panel, (figure_of, column), label in zip(axes, _COLUMNS.items(), ("mean", "99th percentile"), strict=True):
        for buffers, shift, colour in zip(_BUFFERS_PACKETS, (-0.08, 0.08), drawing.COLOURS, strict=False):
            found = drawing.bars(mean_interval(_runs(frame, key, column, buffers)) for key in _SCENARIOS)
            style: dict[str, Any] = {"fmt": "o", "capsize": 3, "color": colour, "mfc": colour if shift < 0 else "none"}
            at = [place + shift for place in places]
            panel.errorbar(at, *found, label=f"{buffers} packets a port", **style)
        drawing.paper_points(
            panel, list(places), [cell(f"repflow-t1-{key}-{figure_of}") for key in _SCENARIOS], "paper"
        )
        panel.set(xlabel="scenario", ylabel=f"completion time, {label} (s)", yscale="log", xlim=(-0.5, 2.5))
        panel.set_xticks(list(places), names)
    return drawing.finish(figure, axes, loc="upper left")


def _runs(frame: DataFrame, key: str, column: str, buffers: int = _BUFFERS_PACKETS[0]) -> FloatArray:
    rows = (frame["scheme"] == _SCENARIOS[key][0]) & (frame["buffer_packets"] == buffers)
    return frame.loc[rows, column].to_numpy()


def _verdict(claim: PublishedClaim, found: Interval, word: VerdictWord, reason: str) -> Verdict:
    return of_sample(Verdict(claim.id, (found.value,), word, reason, (found.low, found.high)), f"{found.samples} runs")


def absolute_time(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge a completion time; what deeper buffers give goes into the reason."""
    _, _, key, figure_of = claim.id.split("-")
    found, deep = (
        mean_interval(_runs(frame, key, _COLUMNS[figure_of], buffers), confidence=CONFIDENCE)
        for buffers in _BUFFERS_PACKETS
    )
    word = word_on(LEVEL, [has_size(found, float(claim.low), reading_error(claim.low))])
    small, large = _BUFFERS_PACKETS
    beside = f"{found.value:.3f} s with {small} packets a port, {deep.value:.3f} s with {large}"
    return _verdict(claim, found, word, _ALONE if key == "none" else _BESIDE[figure_of] + beside)


def ten_times_worse(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge "ten times worse" by the table that it sums up: the ratio of its means, of each run."""
    sides = _runs(frame, "long", "mean_fct_s"), _runs(frame, "none", "mean_fct_s")
    found = paired_ratio(*sides, confidence=CONFIDENCE)
    ids = ("repflow-t1-long-mean", "repflow-t1-none-mean")
    printed = cell(ids[0]) / cell(ids[1])
    allowed = printed * sum(reading_error(read_claims()[name].low) / cell(name) for name in ids)
    word = word_on(SIZE, [has_size(found, printed, allowed)], [above(found, 1)])
    reason = f'{found.value:.1f} times; "ten" sums up the table, whose own means give {printed:.1f} and are judged'
    return _verdict(claim, found, word, reason)


def over_half(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge a reduction of at least so much, by the runs on the same flows."""
    both = "repl", "long"
    column = _COLUMNS["mean" if claim.id.endswith("m") else "p99"]
    found, deep = (
        reduction_pct(paired_ratio(*(_runs(frame, key, column, buffers) for key in both), confidence=CONFIDENCE))
        for buffers in _BUFFERS_PACKETS
    )
    word = word_on(SIZE, [within(found, *printed_range(claim))], [above(found, 0), above(deep, 0)])
    return _verdict(claim, found, word, f"{_OVER_HALF}; with 1000 packets a port {deep.value:.0f}%")


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
