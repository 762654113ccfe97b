"""``capsmodel choose-unit``: the units that keep a target, what each costs, and what that assumes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from cyclopts import Parameter

from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.losses import LOSSES, LossOptions, Lost
from capsmodel.cli.shared.options import MaybeCount, MaybeProbability, MaybeTime, Rate, Size, path_pair
from capsmodel.cli.shared.output import Output, explain, print_table, say
from capsmodel.cli.shared.table import Column
from capsmodel.coding.caps_setting import SETTING, WINDOW_PACKETS
from capsmodel.coding.paths.delays import PathDelay
from capsmodel.coding.paths.estimates import failure_elasticity, predictive_repair_packets, residual_loss_prob
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.paths.retransmission import (
    break_even_round_trip_s,
    hybrid_failure_prob,
    repair_packets_hybrid,
    sendings_within,
    sent_per_source_packet,
)
from capsmodel.coding.paths.unit_choice import (
    Code,
    UnitCorners,
    repair_of_sizes,
    unit_corners,
    unit_failure_prob,
)
from capsmodel.coding.redundancy import repair_packets_for
from capsmodel.experiments.number_texts import number, quantity
from capsmodel.units import serialisation_s

_SUPPOSED_RUN = 2.0
_SUPPOSED_ERROR = 1.5
_MOST_SENDINGS = 8


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is asked of a unit.

    Parameters
    ----------
    failure_prob
        Largest probability that a unit fails, such as 1e-6; it is needed.
    k
        Units of k source packets only.
    code
        Code of a unit; ldpc's is measured.
    deadline
        Time from a unit's first packet to when it must be decoded, as 300us.
    rtt
        With --deadline: round-trip time of empty paths; a packet takes half of it.
    retransmit
        Time from sending a packet to sending it again; --deadline limits how often.
    rate
        Rate at which packets are sent, over all paths together.
    packet_size
        Size of a packet.
    """

    failure_prob: MaybeProbability = None
    k: MaybeCount = None
    code: Literal["rs", "rlnc", "ldpc"] = "rs"
    deadline: MaybeTime = None
    rtt: MaybeTime = None
    retransmit: MaybeTime = None
    rate: Rate = SETTING["rate_bps"]
    packet_size: Size = SETTING["packet_bytes"]


NO_WISH = Wish()


@Parameter(name="*", group=LOSSES)
@dataclass(frozen=True, kw_only=True)
class OneLoss:
    """The loss of all packets, or the paths that lose all.

    Parameters
    ----------
    blocking_prob
        Probability that a packet is lost.
    lost
        In place of it: packets counted as lost of those sent, as 12/1000.
    paths
        Equal paths, in place of it.
    blocked_paths
        So many of them, any, lose all packets of a unit.
    """

    blocking_prob: MaybeProbability = None
    lost: Lost = None
    paths: MaybeCount = None
    blocked_paths: MaybeCount = None


NO_LOSS = OneLoss()


@dataclass(frozen=True)
class Question:
    """A wish, with what it rests on."""

    failure_prob: float
    wish: Wish
    lost: tuple[int, int] | None
    losses: PathLosses
    words: str
    max_k: int

    @property
    def code(self) -> Code:
        """The code whose failures are known by a formula."""
        return "rlnc" if self.wish.code == "rlnc" else "rs"

    @property
    def packet_s(self) -> float:
        """Time to send a packet, s."""
        return float(serialisation_s(self.wish.packet_size, rate_bps=self.wish.rate))

    def costs(self, k: int, r: int, failure_prob: float) -> dict[str, Any]:
        """Return how long a unit takes to send, and how often one fails when they are sent without a pause."""
        send_s = (k + r) * self.packet_s
        return {"failure_interval_s": send_s / failure_prob if failure_prob else float("inf"), "send_s": send_s}

    def title(self, request: str) -> str:
        """Return what the table answers."""
        sent = f"{quantity('rate_bps', self.wish.rate)}, packets of {self.wish.packet_size}B"
        in_time = f", in {quantity('deadline_s', self.wish.deadline)}" if self.wish.deadline else ""
        return f"{request} that fail{in_time} with at most {self.failure_prob:g}: {self.words}; {sent}"


def question(max_k: int | None, *, one: OneLoss, options: LossOptions, wish: Wish) -> Question:
    """Return what is asked, checked."""
    if wish.failure_prob is None:
        raise ParameterError("which failures may a unit have? Give --failure-prob, such as 1e-6")
    alone = wish.code == "rs" or (one.lost is None and wish.retransmit is None)
    require(alone, "--code counts for the code alone: leave it out with --lost and --retransmit")
    require(one.lost is None or wish.deadline is None, "--lost says nothing of delays: leave out --deadline")
    most = (wish.k or WINDOW_PACKETS) if max_k is None else max_k
    require(wish.k is None or 1 <= wish.k <= most, f"--k = {wish.k}, but a unit has 1 to {most} source packets")
    require(wish.rtt is None or wish.deadline is not None, "--rtt needs --deadline: give both or neither")
    holds = wish.rtt is None or options.path_file is None
    require(holds, "--path-file holds the delays: write half of --rtt as delay_us there")
    packet_s = float(serialisation_s(wish.packet_size, rate_bps=wish.rate))
    times: dict[str, Any] = {"packet_s": packet_s} if options.burst and options.burst.time_s else {}
    if wish.deadline is not None and wish.retransmit is None:
        times |= {"packet_s": packet_s, "deadline_s": wish.deadline}
        if options.spread != "in-turn":
            times["delay_per"] = "packet"
    if wish.rtt is not None:
        times["delay"] = PathDelay(wish.rtt / 2)
    prob = one.blocking_prob if one.lost is None else _counted_loss(one.lost, one, options)
    paths = path_pair(one.paths, one.blocked_paths)
    losses = options.losses(() if prob is None else (prob,), paths, **times)
    return Question(wish.failure_prob, wish, one.lost, losses, options.words(losses), most)


def _counted_loss(counted: tuple[int, int], one: OneLoss, options: LossOptions) -> float:
    """Return the share of lost packets, beside which no other losses may be given."""
    lone = replace(one, lost=None) == NO_LOSS and not options.given
    require(lone, "--lost is the loss of equal, independent packets: leave out other losses")
    lost, sent = counted
    require(0 < lost < sent, f"--lost {lost}/{sent}: some packets must be lost, and some must not")
    return lost / sent


def print_choice(request: Question, *, plot: Path | None, output: Output) -> None:
    """Print the answer."""
    if request.lost is not None:
        _print_counted(request, output)
    elif request.wish.retransmit is not None:
        _print_sendings(request, output)
    elif request.wish.k is not None:
        _print_one(request, output)
    else:
        _print_corners(request, plot, output)
        return
    require(plot is None, "--plot draws the units of all sizes: leave out --k, --retransmit and --lost")


def chosen_unit(request: Question) -> tuple[int, int]:
    """Return k and r of the unit that answers a question and can be simulated: each packet is sent once."""
    wish = request.wish
    others = {
        "--code": wish.code != "rs",
        "--retransmit": wish.retransmit is not None,
        "--lost": request.lost is not None,
    }
    for option, given in others.items():
        require(not given, f"{option} is not simulated: leave it out with --simulate")
    if wish.k is not None:
        return wish.k, int(repair_packets_for(wish.k, losses=request.losses, failure_prob=request.failure_prob))
    corners = unit_corners(request.losses, failure_prob=request.failure_prob, max_k=request.max_k)
    return int(corners.k[corners.best]), int(corners.r[corners.best])


_COST_COLUMNS = (
    Column("failure_interval_s", "one failure in, s"),
    Column("send_s", "sent in, us", factor=1e6),
)
_CORNERS = (
    Column("r", "r, repair packets"),
    Column("k", "largest k"),
    Column("repair_share", "r/n, %", factor=100),
    Column("failure_prob", "fails, mean"),
    Column("worst_failure_prob", "fails, worst first path"),
    *_COST_COLUMNS,
)


def _print_corners(request: Question, plot: Path | None, output: Output) -> None:
    corners = unit_corners(request.losses, failure_prob=request.failure_prob, max_k=request.max_k, code=request.code)
    columns = zip(
        *(values.tolist() for values in (corners.r, corners.k, corners.share)),
        *(values.tolist() for values in (corners.failure_prob, corners.worst_failure_prob)),
        strict=True,
    )
    rows = [
        {"r": r, "k": k, "repair_share": share, "failure_prob": mean, "worst_failure_prob": worst}
        | request.costs(k, r, mean)
        for r, k, share, mean, worst in columns
    ]
    print_table(rows, columns=_CORNERS, title=request.title("Largest units"), output=output)
    best = rows[corners.best]
    if output.is_text:
        _explain(request, best["k"], best["r"], best["failure_prob"], best["worst_failure_prob"], corners=corners)
    if plot is not None:
        from capsmodel.plotting import plot_corners, save_figure

        save_figure(plot_corners(corners, title=request.title("Units")), plot)
        if output.is_text:
            say(f"wrote {plot}")


_ONE = (
    Column("k", "k, source packets"),
    Column("r", "r, repair packets"),
    Column("repair_share", "r/n, %", factor=100),
    Column("failure_prob", "fails, mean"),
    Column("worst_failure_prob", "fails, worst first path"),
    Column("residual_loss_prob", "source packets lost in the end"),
    Column("elasticity", "elasticity to the loss"),
    *_COST_COLUMNS,
)


def _print_one(request: Question, output: Output) -> None:
    k = request.wish.k or 1
    sizes = repair_of_sizes(request.losses, failure_prob=request.failure_prob, max_k=k, least_k=k, code=request.code)
    r = int(sizes.r[0])
    mean, worst = (float(fails[0]) for fails in sizes.fails(np.array([k])))
    plain = request.losses.packets_are_independent and request.wish.code == "rs"
    loss = request.losses.mean_loss
    row = {
        "k": k,
        "r": r,
        "repair_share": r / (k + r),
        "failure_prob": mean,
        "worst_failure_prob": worst,
        "residual_loss_prob": residual_loss_prob(k, r=r, losses=request.losses) if plain else float("nan"),
        "elasticity": failure_elasticity(k, r=r, blocking_prob=loss) if plain and 0 < loss < 1 else float("nan"),
    } | request.costs(k, r, mean)
    print_table([row], columns=_ONE, title=request.title("Units"), output=output)
    if output.is_text:
        _explain(request, k, r, mean, worst)


_SENDINGS = (
    Column("sendings", "sendings of a packet"),
    Column("fits", "the last one is"),
    Column("r", "r, repair packets"),
    Column("failure_prob", "fails"),
    Column("sent_per_source_packet", "packets sent per source packet"),
)


def _print_sendings(request: Question, output: Output) -> None:
    """Print what each sending leaves to the code."""
    k, wish = request.wish.k or request.max_k, request.wish
    least_s = max((getattr(path.delay, "least_s", 0.0) for path in request.losses.paths), default=0.0)
    rows: list[dict[str, Any]] = []
    for sendings in range(1, _MOST_SENDINGS + 1):
        r = repair_packets_hybrid(k, losses=request.losses, failure_prob=request.failure_prob, sendings=sendings)
        common: dict[str, Any] = {"r": r, "losses": request.losses, "sendings": sendings}
        fits = wish.deadline is None or sendings <= sendings_within(
            wish.deadline,
            packets=k + r,
            packet_s=request.packet_s,
            delay_s=least_s,
            retransmit_s=wish.retransmit or 1.0,
        )
        rows.append({"k": k, "sendings": sendings, "fits": fits, "r": r})
        rows[-1]["failure_prob"] = hybrid_failure_prob(k, **common)
        rows[-1]["sent_per_source_packet"] = sent_per_source_packet(k, **common)
        if r == 0:
            break
    shown = [row | {"fits": "in time" if row["fits"] else "too late"} for row in rows] if output.is_text else rows
    print_table(shown, columns=_SENDINGS, title=request.title(f"Units of {k} source packets"), output=output)
    if output.is_text:
        _explain_sendings(rows, request)


def _explain_sendings(rows: Sequence[dict[str, Any]], request: Question) -> None:
    fitting = [row for row in rows if row["fits"]]
    if not fitting:
        explain("Not even one sending fits the deadline: give more time, or a smaller --k.")
        return
    last = fitting[-1]
    if last["r"] == 0:
        explain(
            f"Do not code: {last['sendings']} sendings of a packet fit, and without any repair packet they fail with "
            f"{number(last['failure_prob'])}. {last['sent_per_source_packet']:.4g} packets are sent per source packet, "
            f"and {rows[0]['sent_per_source_packet']:.4g} where the code does it alone."
        )
    else:
        count = "1 sending fits" if last["sendings"] == 1 else f"{last['sendings']} sendings fit"
        explain(f"{count}; the code then needs r = {last['r']}, and {rows[0]['r']} alone.")
    alone = rows[0]
    if alone["r"]:
        longer_s = break_even_round_trip_s(alone["k"], r=alone["r"], losses=request.losses, packet_s=request.packet_s)
        explain(
            f"In the mean, {alone['r']} repair packets complete a unit sooner than sending again where a round trip "
            f"takes longer than {longer_s * 1e6:.3g} us."
        )
    explain(
        "Assumed: as many packets are sent again as the unit lacks, those lost beyond r. One fixed round trip; packets "
        "retransmitted are lost with the mean loss, independently. Where a slow path carries them that is too hopeful. "
        "Delays beyond the longest least delay are not counted."
    )
    if not any(path.delay for path in request.losses.paths):
        explain(_NO_DELAY)


_COUNTED_COLUMNS = (
    Column("k", "k, source packets"),
    Column("lost", "lost"),
    Column("sent", "sent"),
    Column("r", "r, repair packets"),
    Column("r_if_known", "r, if the share were the loss"),
)


def _print_counted(request: Question, output: Output) -> None:
    """Print what a count of lost packets says."""
    lost, sent = request.lost or (0, 1)
    k = request.wish.k or request.max_k
    row = {
        "k": k,
        "lost": lost,
        "sent": sent,
        "r": predictive_repair_packets(k, lost=lost, sent=sent, failure_prob=request.failure_prob),
        "r_if_known": repair_packets_for(k, losses=request.losses, failure_prob=request.failure_prob),
    }
    print_table([row], columns=_COUNTED_COLUMNS, title=request.title("Units"), output=output)
    if output.is_text:
        explain(
            f"{lost} of {sent} packets lost leave the loss uncertain; r counts that (the predictive distribution, with "
            "Jeffreys' prior). A longer count needs fewer repair packets. Losses are taken to be independent."
        )


def _explain(
    request: Question, k: int, r: int, mean: float, worst: float, *, corners: UnitCorners | None = None
) -> None:
    """Print what a unit costs, how often it fails, and what the answer assumes."""
    costs = request.costs(k, r, mean)
    interval = _time_words(costs["failure_interval_s"])
    cheapest = "The least share of repair packets is that of " if corners is not None and len(corners.k) > 1 else ""
    explain(
        f"{cheapest}k = {k}, r = {r}: {r / (k + r):.2%} of the packets sent are repair packets, also when nothing is "
        f"lost. Sent without a pause, one unit in {interval} fails."
    )
    notes = [*_first_path(request, k, r, worst), *_independence(request, k, r), *_wrong_loss(request, k, r, mean)]
    explain(*notes, *_delays(request, k, r))


def _time_words(time_s: float) -> str:
    """Return a time in a unit that fits."""
    for unit, factor in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if 2 * factor < time_s < float("inf"):
            return f"{time_s / factor:.3g} {unit}"
    return "an endless time" if time_s == float("inf") else f"{time_s:.3g} s"


def _least(losses: PathLosses, request: Question, k: int) -> str:
    """Return the repair packets that other losses would need, in words."""
    try:
        return f"r = {repair_packets_for(k, losses=losses, failure_prob=request.failure_prob)}"
    except ParameterError:
        return "more than any number of repair packets"


def _first_path(request: Question, k: int, r: int, worst: float) -> list[str]:
    losses = request.losses
    if losses.spread != "in-turn" or losses.first_path != "any" or losses.n_paths == 1:
        return []
    notes = []
    if worst > request.failure_prob:
        needed = _least(replace(losses, first_path="worst"), request, k)
        notes.append(
            f"The mean hides the worst first path, from which {number(worst)} of the units fail: from there k = {k} "
            f"needs {needed}."
        )
    if (k + r) % losses.n_paths == 0 and len(set(losses.paths)) > 1:
        notes.append(f"With n = {k + r} over {losses.n_paths} paths all units start at the same path: any means one.")
    return notes


def _independence(request: Question, k: int, r: int) -> list[str]:
    losses = request.losses
    if losses.has_runs or losses.down_paths or not 0 < losses.mean_loss < 0.5 or request.wish.deadline:
        return []
    try:
        runs = replace(losses, burst_packets=max(_SUPPOSED_RUN, *(1 / (1 - path.loss) for path in losses.paths)))
    except (ParameterError, ZeroDivisionError):
        return []
    needed = _least(runs, request, k)
    return [
        f"Independent losses are assumed: in runs of {_SUPPOSED_RUN:g} packets of a path k = {k} would need {needed} "
        f"instead of {r}. Measure the runs, and give --burst."
    ]


def _wrong_loss(request: Question, k: int, r: int, mean: float) -> list[str]:
    losses = request.losses
    more = [min(1.0, _SUPPOSED_ERROR * path.loss) for path in losses.paths]
    if losses.has_runs or losses.down_paths or losses.mean_loss == 0 or max(more) >= 1 or mean == 0:
        return []
    fails = float(unit_failure_prob(k, r=r, losses=replace(losses, blocking_prob=more), code=request.code))
    return [
        f"Were each loss {_SUPPOSED_ERROR:g} times as high, {number(fails)} of the units would fail, "
        f"{fails / mean:.3g} times as many."
    ]


_NO_DELAY = "The delay of the paths is taken as 0: give --rtt, or delay_us in --path-file."


def _delays(request: Question, k: int, r: int) -> list[str]:
    losses = request.losses
    least_s = max((getattr(path.delay, "least_s", 0.0) for path in losses.paths), default=0.0)
    if losses.deadline_s is None:
        there_s = request.costs(k, r, 1.0)["send_s"] + least_s
        last = f"The last packet is there {there_s * 1e6:.4g} us after the first begins to be sent, "
        return [f"{last}where delays are least; what comes too late counts with --deadline."] if least_s else []
    if not any(path.delay for path in losses.paths):
        return [_NO_DELAY]
    if request.wish.rtt is not None:
        return []  # one constant delay: shared or drawn anew, it is the same
    if losses.delay_per == "packet":
        return ["Each packet is taken to have a delay of its own, as random paths need; a shared delay needs more."]
    other = _least(replace(losses, delay_per="packet"), request, k)
    if other == f"r = {r}":
        return [
            "All packets of a unit on a path are taken to have one delay; were each drawn anew, r would be the same."
        ]
    return [
        f"All packets of a unit on a path are taken to have one delay; were each packet's drawn anew, {other} would do "
        f"for k = {k}, instead of {r}. A queue is between the two, near the first."
    ]
