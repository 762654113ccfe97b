"""``capsmodel decode-prob``, ``redundancy``, ``reordering`` and ``fct``: closed forms as tables."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal

from cyclopts import Parameter

from capsmodel.checks import require
from capsmodel.cli.shared.losses import NO_LOSSES, LossOptions
from capsmodel.cli.shared.options import (
    Count,
    Counts,
    Loads,
    MaybeCount,
    MaybeCounts,
    MaybeProbabilities,
    MaybeProbability,
    Number,
    Probabilities,
    Size,
    path_pair,
)
from capsmodel.cli.shared.output import AS_TEXT, Output, print_table, say
from capsmodel.cli.shared.table import Column
from capsmodel.coding.decoding import decode_failure_prob, decode_prob
from capsmodel.coding.paths.estimates import least_interleave, residual_loss_prob
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.paths.unit_choice import Code, unit_failure_prob
from capsmodel.coding.random_linear import decode_failure_prob_rlnc, decode_prob_rlnc
from capsmodel.coding.redundancy import repair_packets, repair_packets_for, traffic_overhead
from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.long_flows import mean_fct_long, tail_fct_long
from capsmodel.fct.replication import SHORT_PACKETS, replication_break_even_load, short_byte_share
from capsmodel.fct.slow_start import BURST_PACKETS, WINDOW_PACKETS
from capsmodel.reordering.dup_acks import duplicate_acks_prob
from capsmodel.reordering.probability import expected_overtaken_packets, reordering_prob
from capsmodel.workloads.catalogue import PacketSizes, load_workload

Rows = list[dict[str, Any]]
Tail = Literal["effective_bandwidth", "exact"]

# Defaults: the settings of the papers.
DECODE_PROBS: tuple[float, ...] = (0.2,)
UNITS, PROBS, TARGET_PROB, LONG_SHORT_RATIO = (10, 20, 40), (0.1, 0.2, 0.3), 0.99, 9.0
FLOW_PACKETS, CONGESTED_PROBS, DUP_ACKS = (2, 5, 10, 20), (0.1, 0.25, 0.5), 3
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

_K, _R = Column("k", "k, packets"), Column("r", "r, packets")
_BLOCKED = Column("blocking_prob", "blocking probability")
_DECODES = Column("decode_prob", "unit decodes, probability")

_CODES: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "rs": (decode_prob, decode_failure_prob),
    "rlnc": (decode_prob_rlnc, decode_failure_prob_rlnc),
}


def decode_probability_rows(k: Counts, *, blocking_prob: Probabilities, r: Counts, code: Code) -> Rows:
    """Return a row for each k, r and blocking probability; r by the ceiling rule where none is given."""
    rows = []
    for k_, prob in product(k, blocking_prob):
        for r_ in r or (int(repair_packets(k_, blocking_prob=prob)),):
            decoded, failed = (form(k_, r=r_, blocking_prob=prob) for form in _CODES[code])
            rows.append({"k": k_, "r": r_, "blocking_prob": prob, "decode_prob": decoded, "failure_prob": failed})
    return rows


def decode_probability(
    k: Counts = (10,),
    *,
    blocking_prob: MaybeProbabilities = None,
    r: MaybeCounts = (),
    code: Code = "rs",
    losses: LossOptions = NO_LOSSES,
    failure_prob: MaybeProbability = None,
    output: Output = AS_TEXT,
) -> None:
    """Print the probability that a coding unit decodes from its unblocked packets (CAPS Eq. 2).

    Parameters
    ----------
    k
        Source packets of a unit; several, separated by commas.
    blocking_prob
        Probability p_B that a packet is blocked (0.2); several, separated by commas; 5/16 is one too.
    r
        Repair packets; the rule ceil(k p_B / (1 - p_B)) when not given.
    code
        rs: Reed-Solomon, any k packets decode; rlnc: dense random linear code over GF(256), which may lack rank.
    failure_prob
        With --burst: also print the least --interleave with which a unit fails at most so often.
    """
    if losses.given or failure_prob is not None:
        usual = () if losses.path_file is not None else DECODE_PROBS
        over = losses.losses(usual if blocking_prob is None else blocking_prob, None)
        _print_over_paths(k, r, over, code, failure_prob, words=losses.words, output=output)
        return
    probs = DECODE_PROBS if blocking_prob is None else blocking_prob
    rows = decode_probability_rows(k, blocking_prob=probs, r=r, code=code)
    columns = [_K, _R, _BLOCKED, _DECODES, Column("failure_prob", "it does not, probability")]
    print_table(rows, columns=columns, title=f"Decoding probability of a unit, {code} code", output=output)


_OVER_PATHS = (
    _K,
    _R,
    Column("failure_prob", "fails, mean"),
    Column("worst_failure_prob", "fails, worst first path"),
    Column("units_per_failure", "units to one failure"),
    Column("residual_loss_prob", "source packets lost in the end"),
)


def _print_over_paths(
    k: Counts,
    r: Counts,
    over: PathLosses,
    code: Code,
    failure_prob: float | None,
    *,
    words: Callable[[PathLosses], str],
    output: Output,
) -> None:
    """Print how often units fail over paths, and what is then lost."""
    require(failure_prob is None or over.has_runs, "--failure-prob asks for the depth of interleaving: give --burst")
    rows: Rows = []
    for k_ in k:
        for r_ in r or (int(repair_packets(k_, blocking_prob=over.mean_loss)),):
            mean, worst = (float(unit_failure_prob(k_, r=r_, losses=each, code=code)) for each in (over, _worst(over)))
            whole = code == "rs" and over.packets_are_independent and not over.down_paths
            row = {"k": k_, "r": r_, "mean_loss": over.mean_loss, "failure_prob": mean, "worst_failure_prob": worst}
            row["units_per_failure"] = 1 / mean if mean else math.inf
            row["residual_loss_prob"] = residual_loss_prob(k_, r=r_, losses=over) if whole else math.nan
            if failure_prob is not None:
                row["least_interleave"] = least_interleave(k_, r=r_, losses=over, failure_prob=failure_prob)
            rows.append(row)
    depth = [Column("least_interleave", "least interleaving")] if failure_prob is not None else []
    print_table(
        rows, columns=[*_OVER_PATHS, *depth], title=f"Decoding of units, {code} code: {words(over)}", output=output
    )


def _worst(over: PathLosses) -> PathLosses:
    """Return the same losses from the first path with which units fail most often."""
    return replace(over, first_path="worst") if over.spread == "in-turn" and over.first_path == "any" else over


def redundancy_rows(
    k: Counts = UNITS,
    *,
    blocking_prob: Probabilities = PROBS,
    target_prob: float = TARGET_PROB,
    failure_prob: float | None = None,
    losses: PathLosses | None = None,
    long_short_ratio: float = LONG_SHORT_RATIO,
) -> Rows:
    """Return a row for each k and blocking probability, or for the mean of the losses over paths."""
    wanted = {"target_prob": target_prob} if failure_prob is None else {"failure_prob": failure_prob}
    rows = []
    for k_, prob in product(k, blocking_prob if losses is None else (losses.mean_loss,)):
        r = int(repair_packets(k_, blocking_prob=prob))
        over: dict[str, Any] = {"blocking_prob": prob} if losses is None else {"losses": losses}
        decoded = decode_prob(k_, r=r, blocking_prob=prob)
        rows.append({
            "k": k_,
            "blocking_prob": prob,
            "r": r,
            "decode_prob": decoded if losses is None else 1 - float(unit_failure_prob(k_, r=r, losses=losses)),
            "r_for_target": int(repair_packets_for(k_, **over, **wanted)),
            "traffic_overhead": traffic_overhead(prob, long_short_ratio=long_short_ratio, k=k_),
        })  # fmt: skip
    return rows


def redundancy(
    k: Counts = UNITS,
    *,
    blocking_prob: MaybeProbabilities = None,
    target_prob: MaybeProbability = None,
    failure_prob: MaybeProbability = None,
    losses: LossOptions = NO_LOSSES,
    long_short_ratio: Number = LONG_SHORT_RATIO,
    output: Output = AS_TEXT,
) -> None:
    """Print the repair packets a unit needs and the share of all traffic they make up.

    Parameters
    ----------
    k
        Source packets of a unit; several, separated by commas.
    blocking_prob
        Probability p_B that a packet is blocked (0.1,0.2,0.3); several, separated by commas; 5/16 is one too.
    target_prob
        Decoding probability to be reached (0.99), in the column behind the ceiling rule.
    failure_prob
        Largest probability that the unit does not decode, such as 1e-12, in place of --target-prob.
    long_short_ratio
        Packets of long flows for each packet of a short flow, g.
    """
    both = failure_prob is not None and target_prob is not None
    require(not both, "--failure-prob and --target-prob ask for the same: give one of the two")
    over = losses.losses(blocking_prob or (), None) if losses.given else None
    target = TARGET_PROB if target_prob is None else target_prob
    rows = redundancy_rows(
        k,
        blocking_prob=PROBS if blocking_prob is None else blocking_prob,
        target_prob=target,
        failure_prob=failure_prob,
        losses=over,
        long_short_ratio=long_short_ratio,
    )
    wanted = f"decode with {target:g}" if failure_prob is None else f"fail with at most {failure_prob:g}"
    columns = [
        _K,
        _BLOCKED,
        Column("r", "r by the ceiling rule"),
        _DECODES,
        Column("r_for_target", f"r to {wanted}"),
        Column("traffic_overhead", "share of all traffic, %", factor=100),
    ]
    title = f"Repair packets (CAPS VI-B), overhead (Eq. 7) at g = {long_short_ratio:g}"
    print_table(rows, columns=columns, title=title, output=output)


def reordering_rows(
    flow_packets: Counts = FLOW_PACKETS, *, congested_prob: Probabilities = CONGESTED_PROBS, dup_acks: int = DUP_ACKS
) -> Rows:
    """Return a row for each flow size and probability of a congested path."""
    return [
        {
            "flow_packets": size,
            "congested_prob": prob,
            "reordering_prob": reordering_prob(size, congested_prob=prob),
            "overtaken_packets": expected_overtaken_packets(size, congested_prob=prob),
            f"at_least_{dup_acks}_dup_acks_prob": duplicate_acks_prob(dup_acks, flow_packets=size, congested_prob=prob),
        }
        for size, prob in product(flow_packets, congested_prob)
    ]


def reordering(
    flow_packets: Counts = FLOW_PACKETS,
    *,
    congested_prob: Probabilities = CONGESTED_PROBS,
    paths: MaybeCount = None,
    blocked_paths: MaybeCounts = (),
    dup_acks: Count = DUP_ACKS,
    output: Output = AS_TEXT,
) -> None:
    """Print how likely a sprayed flow is reordered, and how likely it draws duplicate ACKs (CDCPS Eq. 1-3).

    Parameters
    ----------
    flow_packets
        Packets of the flow, S; several, separated by commas.
    congested_prob
        Probability P_b that a packet takes a congested path; several, separated by commas; 5/16 is one too.
    paths
        Parallel paths n; with --blocked-paths it replaces --congested-prob by P_b = n_b / n.
    blocked_paths
        Congested paths n_b; several, separated by commas.
    dup_acks
        Duplicate ACKs that trigger a fast retransmit.
    """
    given = path_pair(paths, blocked_paths or None)
    probs = congested_prob if given is None else _path_shares(*given)
    rows = reordering_rows(flow_packets, congested_prob=probs, dup_acks=dup_acks)
    columns = [
        Column("flow_packets", "flow, packets"),
        Column("congested_prob", "congested path, probability"),
        Column("reordering_prob", "reordered, probability"),
        Column("overtaken_packets", "packets overtaken, mean"),
        Column(f"at_least_{dup_acks}_dup_acks_prob", f"{dup_acks} or more duplicate ACKs, probability"),
    ]
    print_table(rows, columns=columns, title="Reordering of a sprayed flow", output=output)


def _path_shares(paths: int, blocked_paths: Counts) -> tuple[float, ...]:
    bad = [n for n in blocked_paths if not 0 <= n <= paths]
    require(not bad, f"--blocked-paths = {bad[:1]}, but with {paths} paths it must lie in 0..{paths}")
    return tuple(n / paths for n in blocked_paths)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FctModel:
    """What the completion times of RepFlow depend on, besides the load.

    Parameters
    ----------
    workload
        Flow-size distribution: websearch, datamining or another one of capsmodel workloads.
    mss
        Bytes of a flow that one packet carries (maximum segment size), such as 1460B.
    window_packets
        Initial window k, in packets.
    burst_packets
        Burst size M of long flows, in packets.
    short_packets
        Largest short flow S_L, in packets.
    replicas
        Copies of each short flow.
    byte_share
        Share epsilon of bytes in short flows; computed from the workload when not given.
    tail
        effective_bandwidth: Eq. 9-10 as printed; exact: the waiting-time distribution of the queue itself.
    """

    workload: str = "websearch"
    mss: Size = 1460
    window_packets: Count = WINDOW_PACKETS
    burst_packets: Count = BURST_PACKETS
    short_packets: Count = SHORT_PACKETS
    replicas: Count = 2
    byte_share: MaybeProbability = None
    tail: Tail = "effective_bandwidth"

    @cached_property
    def sizes(self) -> PacketSizes:
        """Return the flow sizes in packets."""
        return load_workload(self.workload).in_packets(self.mss)

    @cached_property
    def share(self) -> float:
        """Return the share of bytes in short flows."""
        if self.byte_share is not None:
            return self.byte_share
        return short_byte_share(self.sizes, short_packets=self.short_packets)

    def rows(self, load: Loads) -> Rows:
        """Return a row for each load."""
        model: dict[str, Any] = {"sizes": self.sizes, "burst_packets": self.burst_packets}
        model |= {"short_packets": self.short_packets, "short_byte_share": self.share}
        short, copies, tail = model | {"window_packets": self.window_packets}, self.replicas, self.tail
        return [
            {
                "load": rho,
                "mean_slowdown_short": mean_fct(rho, **short),
                "mean_slowdown_short_rep": mean_fct(rho, replicas=copies, **short),
                "p99_slowdown_short": tail_fct(rho, tail=tail, **short),
                "p99_slowdown_short_rep": tail_fct(rho, replicas=copies, tail=tail, **short),
                "mean_slowdown_long": mean_fct_long(rho, **model),
                "mean_slowdown_long_rep": mean_fct_long(rho, replicas=copies, **model),
                "p99_slowdown_long": tail_fct_long(rho, tail=tail, **model),
                "p99_slowdown_long_rep": tail_fct_long(rho, replicas=copies, tail=tail, **model),
            }
            for rho in load
        ]


REPFLOW = FctModel()


def fct(load: Loads = LOADS, *, model: FctModel = REPFLOW, output: Output = AS_TEXT) -> None:
    """Print normalised flow completion times with and without replication (RepFlow Eq. 1-14).

    Parameters
    ----------
    load
        Load rho of a path; several, separated by commas.
    """
    rows = model.rows(load)
    limit = replication_break_even_load(model.share, replicas=model.replicas)
    columns = [Column("load", "load")]
    for size, statistic in product(("short", "long"), ("mean", "p99")):
        columns += [Column(f"{statistic}_slowdown_{size}", f"{size} {statistic}")]
        columns += [Column(f"{statistic}_slowdown_{size}_rep", f"{model.replicas} copies")]
    title = f"FCT over the time to send the flow alone, {model.workload}"
    print_table(rows, columns=columns, title=title, output=output)
    if output.is_text:
        say(f"{model.replicas} copies help below load {limit:.3g}; short flows carry {model.share:.3g} of the bytes.")
