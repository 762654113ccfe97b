"""Metrics: what a run is described by, each a number with a name, a unit and a function of the result.

Rows of runs (``runs.csv``, kept rows), the claims of studies and the documentation use these names. Flows are those
that start after the warm-up; *short* and *long* ones are told apart by ``short_bytes``, times are those of finished
flows.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim.fabric.topology import enters_host, leaves_host
from capsim.results.fct import SIZE_EDGES_BYTES, counted_flows, nearest_rank
from capsim.results.result import Result
from capsim.results.summary import Summary, summarise
from capsim.roles.components import SegmentParams
from capsmodel.checks import FloatArray, IntArray, ParameterError
from capsmodel.units import BITS_PER_BYTE

__all__ = ["DERIVED", "METRICS", "Metric", "Run", "columns", "declare", "known_metric", "metric", "values_of"]

SHOWN = {"s": ("ms", 1e3), "bps": ("Mbit/s", 1e-6), "share": ("%", 1e2)}
"""Unit in which people read a metric and the factor to it, by the metric's unit."""


@dataclass(frozen=True)
class Metric:
    """A number that describes a run.

    Attributes
    ----------
    name : str
        Its column; ends with the unit where it has one.
    unit : str
        ``s``, ``bps``, ``share`` (a part of a whole), ``packets``, or ``1``.
    words : str
        For people.
    of : callable, optional
        Its value for a :class:`Run`; None if another measurement gives it.
    zero : bool
        Whether it can be 0, so that two are compared by their difference and not by their ratio.
    tail : bool
        Whether it is an extreme value, which a smaller fabric changes by another factor than a larger one.
    """

    name: str
    unit: str
    words: str
    of: "Callable[[Run], float] | None" = None
    zero: bool = False
    tail: bool = False

    @property
    def label(self) -> str:
        """Return words and unit, as an axis of a plot has them."""
        return f"{self.words}, {self.shown_unit}" if self.shown_unit else self.words

    @property
    def shown_unit(self) -> str:
        """Return the unit in which people read it; empty for a number of packets or anything else that is counted."""
        return SHOWN.get(self.unit, ("", 1.0))[0]

    @property
    def factor(self) -> float:
        """Return what a value is multiplied by where people read it."""
        return SHOWN.get(self.unit, ("", 1.0))[1]


METRICS: dict[str, Metric] = {}
"""All metrics by name."""


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return a ratio, NaN where it is over 0."""
    return np.divide(above, below, out=np.full_like(above, nan), where=below > 0)


DERIVED: Mapping[str, tuple[tuple[str, ...], Callable[..., FloatArray]]] = {
    "coded_share": (("coding_overhead",), lambda overhead: overhead / (1 + overhead)),
    "coded_ratio_short_over_long": (("coded_ratio_short", "coded_ratio_long"), _ratio),
}
"""Metrics that follow from columns of a row: these columns, and how."""


def declare(name: str, *, unit: str = "1", words: str = "", zero: bool = False, tail: bool = False) -> None:
    """Make a metric known that another measurement gives.

    Raises
    ------
    ParameterError
        If there is one of that name.
    """
    _add(Metric(name, unit, words or name.replace("_", " "), None, zero, tail))


def metric(
    name: str, *, unit: str = "1", words: str, zero: bool = False, tail: bool = False
) -> "Callable[[Callable[[Run], float]], Callable[[Run], float]]":
    """Make the function below it known as a metric; parameters are the attributes of :class:`Metric`."""

    def add(of: "Callable[[Run], float]") -> "Callable[[Run], float]":
        _add(Metric(name, unit, words, of, zero, tail))
        return of

    return add


def _add(one: Metric) -> None:
    if METRICS.setdefault(one.name, one) != one:
        raise ParameterError(f"two metrics are called {one.name}: rename one")


def known_metric(name: str) -> Metric:
    """Return a metric; one that is not known is taken for a number without a unit.

    Examples
    --------
    >>> known_metric("mean_fct_short_s").label
    'mean FCT, short, ms'
    """
    return METRICS.get(name, Metric(name, "1", name.replace("_", " ")))


@dataclass(frozen=True)
class Run:
    """A run whose metrics are asked for.

    Attributes
    ----------
    result : Result
        What was simulated.
    flows : DataFrame
        Its flows, as :mod:`capsim.base.schema` has them; with other completion times, those of the sender for example.
    """

    result: Result
    flows: pd.DataFrame

    @classmethod
    def of(cls, result: Result) -> "Run":
        """Return the run of a result."""
        return cls(result, result.flows)

    @classmethod
    def at_the_sender(cls, result: Result) -> "Run":
        """Return it with times that end with the last acknowledgement and begin with an open connection."""
        flows = result.flows
        times_s = flows["start_s"] + flows["acked_fct_s"] - flows["established_s"]
        return cls(result, flows.assign(fct_s=times_s, finished=times_s.notna()))

    @cached_property
    def summary(self) -> Summary:
        """Return its summary."""
        if self.flows is self.result.flows:
            return self.result.summary
        end_s, warm_up_s = self.result.resources.simulated_s, self.result.scenario.warm_up_s
        return summarise(self.flows, end_s=end_s, warm_up_s=warm_up_s)

    @cached_property
    def counted(self) -> pd.DataFrame:
        """Return the flows that count."""
        return counted_flows(self.flows)

    @cached_property
    def done(self) -> pd.DataFrame:
        """Return those that have finished."""
        return self.counted[self.counted["finished"]]

    @cached_property
    def short(self) -> pd.DataFrame:
        """Return the short ones, finished or not."""
        return self.counted[self.counted["short"]]

    @cached_property
    def long(self) -> pd.DataFrame:
        """Return the long ones, finished or not."""
        return self.counted[~self.counted["short"]]

    @cached_property
    def short_s(self) -> "pd.Series[float]":
        """Return the completion times of short flows, in seconds."""
        times_s: pd.Series[float] = self.short.loc[self.short["finished"], "fct_s"]
        return times_s

    @cached_property
    def short_sums(self) -> "pd.Series[float]":
        """Return sums over the short flows."""
        return self.short.sum(numeric_only=True)

    @cached_property
    def sums(self) -> "pd.Series[float]":
        """Return sums over all flows."""
        return self.counted.sum(numeric_only=True)

    @cached_property
    def percentiles_s(self) -> Mapping[str, float]:
        """Return the percentiles of the completion times of short flows, in seconds, by column."""
        percents = FCT_PERCENTILES | SHORT_PERCENTILES
        times_s = nearest_rank(self.short_s, list(percents.values()))
        return dict(zip(percents, times_s.tolist(), strict=True))

    @cached_property
    def foreground(self) -> pd.DataFrame:
        """Return the flows of entries without a stack of their own: those that are not the background of others."""
        traffic = self.result.scenario.traffic
        entries = [position for position, entry in enumerate(traffic) if entry.stack is None]
        return self.flows if len(entries) == len(traffic) else self.flows[self.flows["traffic_entry"].isin(entries)]

    @cached_property
    def foreground_short(self) -> pd.DataFrame:
        """Return the short ones of these."""
        return self.foreground[self.foreground["short"]]

    @cached_property
    def foreground_long(self) -> pd.DataFrame:
        """Return the long ones of these."""
        return self.foreground[~self.foreground["short"]]

    @cached_property
    def decoded(self) -> pd.DataFrame:
        """Return the coding units that were decoded."""
        units = self.result.units
        return units[units["decoded_s"].notna()] if "decoded_s" in units else units.iloc[:0]


def columns(run: Run, names: Iterable[str]) -> dict[str, float]:
    """Return the values of metrics for a run, in the order of their names."""
    return {name: of(run) for name in names if (of := METRICS[name].of) is not None}


def values_of(rows: pd.DataFrame, name: str) -> FloatArray:
    """Return the values of a metric from rows of runs.

    Examples
    --------
    >>> values_of(pd.DataFrame({"coding_overhead": [0.25]}), "coded_share").tolist()
    [0.2]
    """
    taken, derived = DERIVED.get(name, ((name,), np.asarray))
    return np.asarray(derived(*(rows[column].to_numpy(np.float64) for column in taken)), np.float64)


FCT_PERCENTILES = {f"fct_p{percent:02}_s": float(percent) for percent in range(5, 100, 5)}
"""Columns of the quantiles of completion times of short flows, and which they are."""
SHORT_PERCENTILES = {
    "p50_fct_short_s": 50.0,
    "p75_fct_short_s": 75.0,
    "p95_fct_short_s": 95.0,
    "p999_fct_short_s": 99.9,
}
ON_PERIOD_S = 500e-6
"""Sampling interval of the modes of short flows, in seconds (CAPS Section VII)."""
LAYERS = {"core": ("core>agg", "spine>leaf"), "access": ("edge>host", "leaf>host")}
"""Links down from the core, and to the hosts: those that papers call core and access."""
LOADS = {
    "offered_load_hosts": "offered load, hosts",
    "offered_load_inner": "offered load, busiest switch links",
    "offered_over_asked": "offered over asked load",
    "backlog_growth": "flows in progress, last over middle third",
}
"""What a row says about the load of its run (:mod:`capsim.results.load_record`), in words."""
OF_COLLECTIVES = ("mean_collective_s", "p99_collective_s", "longest_collective_s", "mean_bus_bandwidth_bps")
"""Metrics of collective operations, whose messages are the flows of a run."""
_ZERO = {"timeouts", "retransmissions", "fast_retransmits", "packets_dropped", "timeout_ratio_short"}

_SUMMARY = {
    "flows": "flows",
    "unfinished_flows": "of them unfinished",
    "short_flows": "short flows",
    "long_flows": "long flows",
    "unstarted_flows": "flows not started",
    "mean_fct_short_s": "mean FCT, short",
    "p99_fct_short_s": "p99 FCT, short",
    "timeout_ratio_short": "short flows with a timeout",
    "mean_fct_short_without_timeouts_s": "mean FCT of the other short flows",
    "mean_fct_long_s": "mean FCT, long",
    "mean_slowdown_short": "mean slowdown, short",
    "p99_slowdown_short": "p99 slowdown, short",
    "mean_slowdown": "mean slowdown, all",
    "mean_throughput_long_bps": "mean throughput, long",
    "mean_goodput_long_bps": "throughput, long, since the warm-up",
    "reorder_ratio": "packets reordered",
    "packets_dropped": "packets dropped",
    "retransmissions": "packets retransmitted",
    "fast_retransmits": "fast retransmits",
    "timeouts": "timeouts",
    "coding_overhead": "repair over source packets",
    "stalled_unit_ratio": "coding units stalled",
    "traffic_ratio": "bytes sent over bytes of flows",
}
_SHARES = {"timeout_ratio_short", "reorder_ratio", "coding_overhead", "stalled_unit_ratio"}


def _unit(name: str) -> str:
    """Return the unit that the name of a column ends with."""
    return "share" if name in _SHARES else "s" if name.endswith("_s") else "bps" if name.endswith("_bps") else "1"


def _of_summary(name: str) -> Callable[[Run], float]:
    return lambda run: getattr(run.summary, name)


def _of_percentiles(name: str) -> Callable[[Run], float]:
    return lambda run: run.percentiles_s[name]


def _of_loads(name: str) -> Callable[[Run], float]:
    return lambda run: run.result.loads[name]


for _field in fields(Summary):
    _name = _field.name
    _tail = _name.startswith("p99_")
    _add(Metric(_name, _unit(_name), _SUMMARY[_name], _of_summary(_name), _name in _ZERO, _tail))
for _name, _percent in SHORT_PERCENTILES.items():
    _label = "median" if _percent == 50 else f"p{_percent:g}"
    _add(Metric(_name, "s", f"{_label} FCT, short", _of_percentiles(_name), tail=_percent > 95))
for _name, _percent in FCT_PERCENTILES.items():
    _add(Metric(_name, "s", f"{_percent:g}% of short flows within", _of_percentiles(_name)))
for _name, _label in LOADS.items():
    _add(Metric(_name, "1", _label, _of_loads(_name)))
declare("coded_share", unit="share", words="repair over all data packets of units")
declare("coded_ratio_short_over_long", words="coded over original packets, of short flows over long ones")


def _mean(values: "pd.Series[Any]") -> float:
    return float(values.mean()) if len(values) else nan


def _over(part: float, whole: float) -> float:
    return float(np.divide(part, whole)) if whole else nan


@metric("mean_fct_s", unit="s", words="mean FCT, all")
def _mean_fct_s(run: Run) -> float:
    return _mean(run.done["fct_s"])


@metric("p99_fct_s", unit="s", words="p99 FCT, all", tail=True)
def _p99_fct_s(run: Run) -> float:
    return float(nearest_rank(run.done["fct_s"], 99))


@metric("longest_acked_fct_s", unit="s", words="longest FCT, at the sender", tail=True)
def _longest_acked_fct_s(run: Run) -> float:
    """Return the longest time until the last acknowledgement, NaN where no flow has it."""
    return float(run.counted["acked_fct_s"].max())


@metric("fct_short_std_s", unit="s", words="spread of FCT, short")
def _fct_short_std_s(run: Run) -> float:
    return float(run.short_s.std(ddof=0))


@metric("mean_slowdown_long", words="mean slowdown, long")
def _mean_slowdown_long(run: Run) -> float:
    return _mean(run.long.loc[run.long["finished"], "slowdown"])


def _slowdown_between(low: float, high: float) -> Callable[[Run], float]:
    def of(run: Run) -> float:
        sizes = run.done["flow_bytes"]
        return float(nearest_rank(run.done.loc[(sizes > low) & (sizes <= high), "slowdown"], 99))

    return of


for _name, _low, _high in zip(("small", "medium", "large"), SIZE_EDGES_BYTES, SIZE_EDGES_BYTES[1:], strict=False):
    _label = f"p99 slowdown, {_name} flows"
    _add(Metric(f"p99_slowdown_{_name}", "1", _label, _slowdown_between(_low, _high), tail=True))


@metric("lost_ratio", unit="share", words="packets lost", zero=True)
def _lost_ratio(run: Run) -> float:
    return _over(run.sums["packets_dropped"], run.sums["packets_sent"])


@metric("lost_ratio_short", unit="share", words="packets of short flows lost", zero=True)
def _lost_ratio_short(run: Run) -> float:
    return _over(run.short_sums["packets_dropped"], run.short_sums["packets_sent"])


@metric("reordered_ratio_short", unit="share", words="packets of short flows reordered", zero=True)
def _reordered_ratio_short(run: Run) -> float:
    return _over(run.short_sums["reordered_packets"], run.short_sums["packets_sent"])


@metric("long_dup_ack_run_ratio", unit="share", words="runs of more than 3 duplicate ACKs over packets", zero=True)
def _long_dup_ack_run_ratio(run: Run) -> float:
    return _over(run.sums["long_dup_ack_runs"], run.sums["packets_sent"])


def _carried(run: Run) -> "pd.Series[float]":
    """Return how many subflows of each flow carry all of it."""
    sharing = run.result.manifest["parameters"]["scheme"]["short"]["sharing"]
    return run.counted["subflows"] if "copies" in sharing else pd.Series(1, index=run.counted.index)


@metric("copied_ratio", unit="share", words="second copies over bytes of flows")
def _copied_ratio(run: Run) -> float:
    sizes = run.counted["flow_bytes"].astype(float)
    return _over(((_carried(run) - 1) * sizes).sum(), sizes.sum())


@metric("copied_sent_ratio", unit="share", words="bytes sent for second copies over bytes of flows")
def _copied_sent_ratio(run: Run) -> float:
    sizes = run.counted["flow_bytes"].astype(float)
    return _over(((1 - 1 / _carried(run)) * run.counted["bytes_sent"]).sum(), sizes.sum())


@metric("goodput_bps", unit="bps", words="payload over the time of the last flow")
def _goodput_bps(run: Run) -> float:
    sizes = run.counted["flow_bytes"].astype(float)
    return _over(BITS_PER_BYTE * sizes.sum(), (run.counted["start_s"] + run.counted["fct_s"]).max())


@metric("throughput_long_std_bps", unit="bps", words="spread of throughput, long")
def _throughput_long_std_bps(run: Run) -> float:
    long, end_s = run.long, run.result.resources.simulated_s
    started = long[long["start_s"] < end_s]
    duration_s = started["fct_s"].fillna(end_s - started["start_s"])
    return float((BITS_PER_BYTE * started["delivered_bytes"] / duration_s).std(ddof=0))


@metric("timeouts_short", words="timeouts of short flows", zero=True)
def _timeouts_short(run: Run) -> float:
    return float(run.short_sums["timeouts"])


@metric("fast_retransmits_short", words="fast retransmits of short flows", zero=True)
def _fast_retransmits_short(run: Run) -> float:
    return float(run.short_sums["fast_retransmits"])


@metric("spurious_short", words="packets of short flows retransmitted needlessly", zero=True)
def _spurious_short(run: Run) -> float:
    return float(run.short_sums["spurious_retransmissions"])


@metric("completed_short", words="short flows that ended")
def _completed_short(run: Run) -> float:
    return float(len(run.short_s))


def _counted_where(column: str, holds: Callable[[IntArray], npt.NDArray[np.bool_]]) -> Callable[[Run], float]:
    return lambda run: float(holds(run.short[column].to_numpy()).sum())


for _name, _column, _holds, _label in (
    ("timed_out_short", "timeouts", lambda count: count > 0, "with a timeout"),
    ("flows_without_timeout", "timeouts", lambda count: count == 0, "without a timeout"),
    ("flows_with_fewer_than_2_timeouts", "timeouts", lambda count: count < 2, "with one timeout at most"),
    ("flows_with_more_than_2_timeouts", "timeouts", lambda count: count > 2, "with more than 2 timeouts"),
    ("flows_with_more_than_20_timeouts", "timeouts", lambda count: count > 20, "with more than 20 timeouts"),
    ("flows_with_0_fast_retx", "fast_retransmits", lambda count: count == 0, "without a fast retransmit"),
    ("flows_with_1_fast_retx", "fast_retransmits", lambda count: count == 1, "with one fast retransmit"),
):
    _add(Metric(_name, "1", f"short flows {_label}", _counted_where(_column, _holds), _name == "timed_out_short"))


def _most_of_a_flow(column: str) -> Callable[[Run], float]:
    return lambda run: float(run.short[column].max())


for _name, _column, _label in (
    ("most_timeouts_short", "timeouts", "timeouts"),
    ("most_fast_retransmits_short", "fast_retransmits", "fast retransmits"),
):
    _add(Metric(_name, "1", f"most {_label} of a short flow", _most_of_a_flow(_column), zero=True, tail=True))


def _of_layer(part: str, column: str) -> Callable[[Run], float]:
    def of(run: Run) -> float:
        layers = run.result.layers
        return next((float(layers[column][name]) for name in LAYERS[part] if name in layers.index), nan)

    return of


_add(Metric("core_utilisation", "share", "use of links down from the core", _of_layer("core", "utilisation")))
for _name, _part, _label in (
    ("core_loss_ratio", "core", "packets lost on links down from the core"),
    ("access_loss_ratio", "access", "packets lost on links to the hosts"),
):
    _add(Metric(_name, "share", _label, _of_layer(_part, "loss_ratio"), zero=True))


@metric("mean_collective_s", unit="s", words="mean collective")
def _mean_collective_s(run: Run) -> float:
    """Return the mean over finished operations, NaN where none is."""
    return _mean(run.result.collectives["completion_s"])


@metric("p99_collective_s", unit="s", words="p99 collective", tail=True)
def _p99_collective_s(run: Run) -> float:
    return float(nearest_rank(run.result.collectives["completion_s"].dropna(), 99))


@metric("longest_collective_s", unit="s", words="longest collective", tail=True)
def _longest_collective_s(run: Run) -> float:
    """Return the longest time of a finished operation, NaN where none is."""
    return float(run.result.collectives["completion_s"].max())


@metric("mean_bus_bandwidth_bps", unit="bps", words="mean bus bandwidth")
def _mean_bus_bandwidth_bps(run: Run) -> float:
    return _mean(run.result.collectives["bus_bandwidth_bps"].dropna())


@metric("trimmed_ratio", unit="share", words="data packets trimmed at a port over those sent", zero=True)
def _trimmed_ratio(run: Run) -> float:
    return _over(run.result.ports["packets_trimmed"].sum(), run.flows["packets_sent"].sum())


@metric("switch_wait_long_s", unit="s", words="wait of a packet of long flows in the queues of switches")
def _switch_wait_long_s(run: Run) -> float:
    """Return the mean over data packets of their waits at all switches; NaN without ``probes.histograms``.

    A wait counts as the middle of its bin, which is off by a fifth at most.
    """
    histograms = run.result.histograms
    if histograms.empty:
        return nan
    waits = histograms[(histograms["quantity"] == "wait_s") & (histograms["packets"] == "long")]
    at_switch, last = (~_layers(waits, leaves_host), _layers(waits, enters_host))
    total_s = (waits["count"] * (waits["least"] + waits["below"]) / 2)[at_switch].sum()
    return _over(total_s, waits.loc[last, "count"].sum())


def _layers(rows: pd.DataFrame, are: Callable[[str], bool]) -> "pd.Series[bool]":
    """Return which rows are of layers of links that have a property."""
    return rows["layer"].isin([name for name in rows["layer"].cat.categories if are(name)])


@metric("unused_paths_short", unit="share", words="paths without a packet of short flows, of those of a switch")
def _unused_paths_short(run: Run) -> float:
    """Return the mean over leaves and ON periods until the last flow starts.

    It is NaN without ``trace = "packets"``, and on a fabric without leaves and spines. An ON period of a leaf is a
    sampling interval of CAPS (500 us, Section VII) in which it sends packets of short flows upwards.
    """
    result = run.result
    if result.scenario.trace != "packets":
        return nan
    sent = result.trace[(result.trace["layer"] == "leaf>spine") & (result.trace["event"] == "enqueued")]
    sent = sent[sent["packet"].isin(("data", "coded")) & (sent["time_s"] < result.flows["start_s"].max())]
    sent = sent[sent["flow"].isin(result.flows.loc[result.flows["short"], "flow"])]
    leaf = sent["port"].astype(str).str.replace(">.*", "", regex=True)
    used = sent.groupby([leaf, sent["time_s"] // ON_PERIOD_S])["path"].nunique()
    return 1 - _over(used.mean(), result.ports.loc[result.ports["layer"] == "leaf>spine", "path"].nunique())


@metric("unit_wait_s", unit="s", words="wait of a unit of short flows from its first packet until it is decoded")
def _unit_wait_s(run: Run) -> float:
    """Return the mean over decoded units, at the receiver; NaN without ``trace = "packets"`` and without units."""
    result = run.result
    if result.scenario.trace != "packets" or run.decoded.empty:
        return nan
    trace = result.trace
    came = trace[(trace["event"] == "arrived") & (trace["packet"] == "coded") & _layers(trace, enters_host)]
    first_s = came.groupby(["flow", "segment"])["time_s"].min().rename("first_s")
    units = run.decoded[run.decoded["flow"].isin(result.flows.loc[result.flows["short"], "flow"])]
    units = units.join(first_s, on=["flow", "first_segment"])
    return _mean(units["decoded_s"] - units["first_s"])


@metric("traversals", words="packets that fully crossed a link")
def _traversals(run: Run) -> float:
    return float(run.result.resources.traversals)


@metric("repair_share", unit="share", words="repair over all data packets")
def _repair_share(run: Run) -> float:
    if "repair_packets" not in run.flows:
        return nan
    return _over(run.flows["repair_packets"].sum(), run.flows["packets_sent"].sum())


@metric("decode_s", unit="s", words="time until a source packet is decoded")
def _decode_s(run: Run) -> float:
    return _mean_wait_s(run.decoded, lambda units: units["decoded_s"])


@metric("decode_in_order_s", unit="s", words="time until it and all before it are decoded")
def _decode_in_order_s(run: Run) -> float:
    return _mean_wait_s(run.decoded, lambda units: units.groupby("flow")["decoded_s"].cummax())


def _mean_wait_s(units: pd.DataFrame, until_s: "Callable[[pd.DataFrame], pd.Series[float]]") -> float:
    """Return the mean over source packets of the time from when their unit is sent until a time of the unit."""
    return float(np.average(until_s(units) - units["sent_s"], weights=units["k"])) if len(units) else nan


def _coded(flows: pd.DataFrame) -> float:
    """Return coded packets over original ones; 0 where nothing is coded."""
    if "repair_packets" not in flows:
        return 0.0
    coded = int(flows["repair_packets"].sum())
    original = int(flows["coded_packets"].sum()) - coded
    return coded / original if original else 0.0


def _rate_bps(flows: pd.DataFrame) -> float:
    return _mean(BITS_PER_BYTE * flows["flow_bytes"] / flows["fct_s"])


def _untimed(flows: pd.DataFrame) -> float:
    return _mean(flows["timeouts"] == 0)


def _once_timed(flows: pd.DataFrame) -> float:
    return _mean(flows["timeouts"] <= 1)


def _jump_s(flows: pd.DataFrame) -> float:
    """Return how far apart flows with one timeout and those with none end, by their medians."""
    without, one = (flows.loc[flows["timeouts"] == count, "fct_s"].median() for count in (0, 1))
    return float(one - without)


def _longest_s(flows: pd.DataFrame) -> float:
    return float(flows.loc[flows["timeouts"] == 0, "fct_s"].max())


def _of_flows(part: str, of: Callable[[pd.DataFrame], float]) -> Callable[[Run], float]:
    return lambda run: of(getattr(run, part))


for _name, _unit_of, _label, _part, _of in (
    ("multipath_fct_short_s", "s", "mean FCT, short", "foreground_short", lambda flows: _mean(flows["fct_s"])),
    ("multipath_throughput_long_bps", "bps", "mean throughput, long", "foreground_long", _rate_bps),
    ("untimed_ratio", "share", "short flows without a timeout", "foreground_short", _untimed),
    ("once_timed_ratio", "share", "short flows with one timeout at most", "foreground_short", _once_timed),
    ("longest_untimed_fct_s", "s", "longest FCT of short flows without a timeout", "foreground_short", _longest_s),
    ("timeout_jump_s", "s", "median FCT with one timeout less that with none, short", "foreground_short", _jump_s),
    ("coded_ratio", "share", "coded over original packets", "foreground", _coded),
    ("coded_ratio_short", "share", "coded over original packets, short", "foreground_short", _coded),
    ("coded_ratio_long", "share", "coded over original packets, long", "foreground_long", _coded),
):
    _words = f"{_label}, without the background"
    _add(Metric(_name, _unit_of, _words, _of_flows(_part, _of), tail=_name.startswith("longest")))


@metric("cwnd_packets", unit="packets", words="mean congestion window of sampled flows")
def _cwnd_packets(run: Run) -> float:
    """Return the mean over sampled flows of their mean windows while they last; NaN where none is sampled."""
    result = run.result
    if result.scenario.probes is None or not len(result.probes):
        return nan
    return float(mean_windows_packets(result).mean())


def mean_windows_packets(result: Result) -> "pd.Series[float]":
    """Return the mean of each flow's sampled congestion window while the flow lasts, in packets of 1460 bytes.

    Parameters
    ----------
    result : Result
        Of a run whose probes sample flows. A flow that ends between two samples has no mean.
    """
    sampled = result.probes["entity"].cat.categories
    flows = result.flows[result.flows["flow"].map("flow{}.0".format).isin(sampled)]
    window_bytes = result.samples("sub.cwnd_bytes") + result.samples("sub.inflation_bytes")
    ours = window_bytes[flows["flow"].map("flow{}.0".format)].set_axis(flows["flow"], axis=1)
    times_s, begin_s = ours.index.to_numpy()[:, np.newaxis], flows["start_s"].to_numpy()
    lives = (times_s >= begin_s) & (times_s <= begin_s + flows["acked_fct_s"].to_numpy())
    return ours.where(lives).mean().dropna() / SegmentParams.mss_bytes
