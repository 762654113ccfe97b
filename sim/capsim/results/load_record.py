"""Load of a run, asked for and offered, by layer of links, and how near the run was to the steady state of that load.

======================= ================================================= ====
Quantity                Definition                                        Unit
======================= ================================================= ====
`expected_load_hosts`   load expected of the links from hosts             1
`offered_load_hosts`    load that the flows drawn offer them              1
`inner_layer`           layer of links between switches that is expected
                        to have the largest load, or with lists of flows
                        is offered it
`expected_load_inner`   load expected of that layer                       1
`offered_load_inner`    load that the flows drawn offer it                1
`offered_over_asked`    offered over expected, where the load is defined  1
`settled_before`        settled share expected before the run, the least  1
                        of the entries with a rate; 1 of a steady start
                        (:mod:`capsmodel.queueing.settling`)
`settled`               :func:`settled`, known after the run              1
`settled_start`         of a steady start, :func:`settled_start`, known   1
                        after the run, the least of the entries
`flows_to_settle`       flows with which a run that begins empty has a    1
                        settled share of 0.9
`flows_if_steady`       flows that a steady start runs, those that do     1
                        not count included
`kept_slowdown`         how many times as long as alone its flows lasted  1
                        (:func:`settled_start`)
`flows_if_longer`       flows that must count from a steady start for a   1
                        `settled_start` of 0.9
`backlog_growth`        :func:`backlog_growth`, of flows in progress      1
`backlog_growth_low`    lower end of its interval                         1
======================= ================================================= ====

Loads are defined in :mod:`capsim.fabric.load`. The facts are in the manifest and the rows of all runs, whoever asks; a
person reads them as :func:`offered_line` and :func:`load_remarks` put them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd

from capsim.base.clock import PS_PER_S
from capsim.fabric.flows import FlowList
from capsim.fabric.listed import Listed
from capsim.fabric.load import HOSTS, LOAD_DEFINITIONS, LoadLayer, LoadOf, layer_of, load_layers, offered
from capsim.fabric.topology import Fabric
from capsim.fabric.traffic import AnyTraffic, Poisson
from capsmodel.experiments.statistics.intervals import welch_difference
from capsmodel.metrics import offered_load
from capsmodel.queueing.settling import run_length, settled_share
from capsmodel.queueing.steady_flows import SteadyLoad
from capsmodel.units import BITS_PER_BYTE

OFF = 0.1
"""Relative difference from which on the load of a run, or the backlog of its later part, counts as another one."""
SETTLED = 0.9
"""Settled share, expected or found, below which a run is not at its load."""
BATCHES = 10


def load_record(traffic: Sequence[AnyTraffic], fabric: Fabric, flows: FlowList) -> dict[str, Any]:
    """Return the load of each traffic entry and of each layer of links, asked for or expected and offered.

    Layers have the loads of all entries with a rate together, as while all of them last. Where none has a rate, they
    have what lists of flows offer, and nothing is expected; without lists there is no load.
    """
    layers = load_layers(fabric)
    host_load = sum(entry.host_load(fabric) for entry in traffic if isinstance(entry, Poisson))
    entries = [_of_entry(position, entry, fabric, flows, host_load) for position, entry in enumerate(traffic)]
    kind = Poisson if any(isinstance(entry, Poisson) for entry in traffic) else Listed
    counted = {position: entry for position, entry in enumerate(traffic) if isinstance(entry, kind)}
    of_layers = [_of_layer(layer, counted, flows) for layer in layers.values() if counted and len(layer.ports)]
    return {"definitions": LOAD_DEFINITIONS, "entries": entries, "layers": of_layers}


def _of_entry(position: int, entry: AnyTraffic, fabric: Fabric, flows: FlowList, host_load: float) -> dict[str, Any]:
    """Return one entry's load; what is not Poisson asks for none, and what it offers is measured at the host links."""
    poisson = entry if isinstance(entry, Poisson) else None
    load_of: LoadOf = poisson.load_of if poisson else "host-links"
    layer = layer_of(fabric, load_of)
    load, span_s = offered(flows, layer, entry=position)
    return {
        "entry": position,
        "load_of": load_of,
        "capacity_bps": layer.capacity_bps,
        "asked": poisson.load if poisson else None,
        "expected": _expected(layer, poisson) if poisson else None,
        "flows_per_s": poisson.rate_per_s(fabric) if poisson else None,
        "offered": load,
        "arrivals_s": span_s,
        **(_settling(poisson, fabric, flows, position, host_load) if poisson and load is not None else {}),
    }


def _settling(entry: Poisson, fabric: Fabric, flows: FlowList, position: int, host_load: float) -> dict[str, Any]:
    """Return how near the steady state an entry is expected to come, and what it needs from either start."""
    counted = (flows.tag == position) & flows.counted
    start_s, sizes = flows.start_ps[counted] / PS_PER_S, entry.size_distribution()
    start_s = start_s - start_s.min()
    share = _share(entry, fabric, float(start_s.max()), host_load)
    if isnan(share):
        return {}
    needed = run_length(sizes, load=host_load, hosts=len(layer_of(fabric, "host-links").ports), settled=SETTLED)
    return {
        "settled": share,
        "flows_to_settle": needed * entry.host_load(fabric) / host_load,
        "flows_if_steady": entry.steady_load(fabric, host_load).flows(sizes, start_s, flows.flow_bytes[counted]),
        "steady_load": asdict(entry.steady_load(fabric, host_load)) if entry.start == "steady" else None,
    }


def _share(entry: Poisson, fabric: Fabric, span_s: float, host_load: float, warm_up_s: float = 0.0) -> float:
    """Return the settled share expected of an entry whose arrivals last `span_s`; NaN where there is none."""
    if not (0 < host_load < 1 and span_s > warm_up_s):
        return nan
    if entry.start == "steady":
        return 1.0
    hosts = layer_of(fabric, "host-links")
    rates = {"load": host_load, "rate_bps": hosts.capacity_bps / len(hosts.ports)}
    return settled_share(entry.size_distribution(), **rates, arrivals_s=span_s, warm_up_s=warm_up_s)


def settled_before(traffic: Sequence[AnyTraffic], fabric: Fabric, *, warm_up_s: float) -> float:
    """Return the least settled share expected of the entries with a rate, before flows are drawn, in [0, 1].

    Parameters
    ----------
    traffic : sequence
        Entries of a scenario.
    fabric : Fabric
        Whose hosts send.
    warm_up_s : float
        Time whose arrivals are not counted, in seconds.

    Returns
    -------
    float
        NaN where no entry has a rate, or the links of hosts are asked for all of their capacity or more.

    Examples
    --------
    >>> from capsim.fabric.kinds import Dumbbell
    >>> entry = Poisson(flow_bytes=125_000_000, load=0.5, flows=60)  # D = 6 s; arrivals last 30 s
    >>> round(settled_before((entry,), Dumbbell(hosts_per_side=2, rate_bps=1e9).build(), warm_up_s=0.0), 3)
    0.9
    """
    rated = [entry for entry in traffic if isinstance(entry, Poisson)]
    host_load = sum(entry.host_load(fabric) for entry in rated)
    spans_s = [entry.expected_flows(fabric) / entry.rate_per_s(fabric) for entry in rated]
    shares = [_share(entry, fabric, span_s, host_load, warm_up_s) for entry, span_s in zip(rated, spans_s, strict=True)]
    return min((share for share in shares if not isnan(share)), default=nan)


def _of_layer(layer: LoadLayer, entries: Mapping[int, AnyTraffic], flows: FlowList) -> dict[str, Any]:
    loads = [offered(flows, layer, entry=position)[0] for position in entries]
    rated = [entry for entry in entries.values() if isinstance(entry, Poisson)]
    return {
        "layer": layer.name,
        "capacity_bps": layer.capacity_bps,
        "expected": sum(_expected(layer, each) for each in rated) if rated else None,
        "offered": None if None in loads else sum(load or 0.0 for load in loads),
    }


def _expected(layer: LoadLayer, entry: Poisson) -> float:
    carried = entry.mean_bytes() * layer.expected_links(entry.pairing)
    rate_per_s = entry.rate_per_s(layer.fabric)
    return float(offered_load(rate_per_s, mean_bytes=carried, rate_bps=layer.capacity_bps)) if carried else 0.0


def load_columns(record: dict[str, Any], flows: pd.DataFrame, *, end_s: float) -> dict[str, Any]:
    """Return what the row of a run says about its load, as listed above; NaN where there is none.

    Parameters
    ----------
    record : dict
        From :func:`load_record`.
    flows : DataFrame
        The flows table of the result.
    end_s : float
        Simulated time at the end of the run, in seconds.
    """
    layers = {each["layer"]: each for each in record["layers"]}
    nothing: dict[str, Any] = {}
    inner = max((each for each in layers.values() if each["layer"] != HOSTS), key=_by_load, default=nothing)
    columns: dict[str, Any] = {"inner_layer": inner.get("layer", "")}
    for name, layer in (("hosts", layers.get(HOSTS, {})), ("inner", inner)):
        for word in ("expected", "offered"):
            value = layer.get(word)
            columns[f"{word}_load_{name}"] = nan if value is None else value
    rated = [entry for entry in record["entries"] if entry["expected"] and entry["offered"] is not None]
    expected = sum(entry["expected"] for entry in rated)
    columns["offered_over_asked"] = sum(entry["offered"] for entry in rated) / expected if rated else nan
    columns["settled_before"] = min((entry["settled"] for entry in rated if "settled" in entry), default=nan)
    columns["settled"] = settled(flows, end_s=end_s) if rated else nan
    begun = [_begun(entry, flows, end_s) for entry in rated if entry.get("steady_load")]
    begun_as = ("settled_start", "kept_slowdown", "flows_if_longer")
    columns |= zip(begun_as, min(begun, default=(nan, nan, nan)), strict=True)
    for name in ("flows_to_settle", "flows_if_steady"):
        columns[name] = sum(entry.get(name, 0.0) for entry in rated) or nan
    growth, low = backlog_growth(flows, end_s=end_s) if layers else (nan, nan)
    return {**columns, "backlog_growth": growth, "backlog_growth_low": low}


def _by_load(layer: dict[str, Any]) -> float:
    return float(layer["offered"] or 0.0) if layer["expected"] is None else float(layer["expected"])


def settled(flows: pd.DataFrame, *, end_s: float) -> float:
    r"""Return the share of the time in progress of the flows that count, which lies before the last arrival, in [0, 1].

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result.
    end_s : float
        Simulated time at the end of the run, in seconds.

    Returns
    -------
    float
        :math:`\sum\min(T_i,t-a_i)/\sum T_i` over counted flows with starts :math:`a_i` and completion times
        :math:`T_i`, where t is the start of the last flow of all; NaN without a flow. Those that have not finished
        count until `end_s`.

    Notes
    -----
    In a network that is empty at the beginning this is the mean number of flows in progress while flows arrive, over
    that of the steady state (Little's law). Below 0.9 completion times are 20 to 40% too low, above 0.95 less than 10%.

    Examples
    --------
    >>> cold = pd.DataFrame({"counted": True, "start_s": [0.0, 1.0], "fct_s": [3.0, 1.0]})
    >>> settled(cold, end_s=3.0)  # of 3 s and 1 s the first second
    0.25
    """
    started = flows[flows["start_s"] <= end_s]
    counted = started[started["counted"]]
    lasted_s = counted["fct_s"].fillna(end_s - counted["start_s"])
    total_s = float(lasted_s.sum())
    if total_s == 0:
        return nan
    within_s = np.minimum(lasted_s, started["start_s"].max() - counted["start_s"])
    return float(within_s.sum()) / total_s


def _begun(entry: dict[str, Any], flows: pd.DataFrame, end_s: float) -> tuple[float, float, float]:
    return settled_start(
        flows[flows["traffic_entry"] == entry["entry"]], load=SteadyLoad(**entry["steady_load"]), end_s=end_s
    )


def settled_start(flows: pd.DataFrame, *, load: SteadyLoad, end_s: float) -> tuple[float, float, float]:
    r"""Return which share of the steady flows in progress a steady start finds, and what would make it 0.9.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result, of one traffic entry.
    load : SteadyLoad
        What its start rests on.
    end_s : float
        Simulated time at the end of the run, in seconds.

    Returns
    -------
    float, float, float
        The share, in [0, 1]; the slowdown s' with which it would begin in the steady state; and how many flows must
        count without. NaN where none counts.

    Notes
    -----
    A steady start begins with the flows of a slowdown s. Counted flows of :math:`x_i` bytes
    show another one, :math:`s'=\sum t_i/\sum a_i`, with the time alone :math:`a_i=8x_i/C` and the completion time
    :math:`t_i` without the base latency (:math:`t_i` less its ideal value, plus :math:`a_i`). So the run began with
    :math:`r=\min(1,s/s')` of the flows in progress that its transport keeps (Little's law), and arrivals over a time T
    add the settled share G of what is missing:

    .. math:: r+(1-r)G,\qquad G=\sum_i\min(D_i,T-\tau_i)/\sum_iD_i,\qquad D_i=t_i(1+s')/2

    with the starts :math:`\tau_i`, and D as in :mod:`capsmodel.queueing.settling` at the load of which s' is the mean
    slowdown. Where T is longer than the largest D, 1 - G is :math:`\sum D_i^2/(2T\sum D_i)` and falls as one over the
    number of flows. A run that begins far below finds an s' below that of its steady state.

    Over 1000 flows at load 0.6 one run finds it with a standard deviation of 0.08 to 0.1 where sizes have a heavy tail.

    Examples
    --------
    Flows that take 4 s each and take turns with those before them, where links that are shared at a load of 0.5 would
    keep them for 3 s:

    >>> table = {"counted": True, "start_s": np.arange(0.0, 100.0), "flow_bytes": 125e6, "fct_s": 4.0}
    >>> flows = pd.DataFrame(table).assign(ideal_fct_s=1.0)
    >>> at_half = SteadyLoad(flows_per_s=1.0, load=0.5, rate_bps=1e9)
    >>> share, kept_slowdown, _ = settled_start(flows, load=at_half, end_s=104.0)
    >>> round(share, 3), kept_slowdown  # 3/4 at the beginning, and most of the rest from the arrivals
    (0.986, 4.0)
    """
    counted = flows[flows["counted"] & (flows["start_s"] <= end_s)]
    alone_s = BITS_PER_BYTE * counted["flow_bytes"] / load.rate_bps
    lasted_s = counted["fct_s"].fillna(end_s - counted["start_s"])
    kept_s = (lasted_s - counted["ideal_fct_s"] + alone_s).clip(lower=alone_s)
    span_s = float(np.ptp(counted["start_s"])) if len(counted) else 0.0
    if span_s == 0:
        return nan, nan, nan
    slowdown = float(kept_s.sum() / alone_s.sum())
    begun = min(1.0, load.kept / slowdown)
    settling_s = kept_s * (1 + slowdown) / 2
    share = np.minimum(settling_s, counted["start_s"].max() - counted["start_s"]).sum() / settling_s.sum()
    missing = float((settling_s**2).sum() / (2 * span_s * settling_s.sum()))
    longer = (1 - begun) * missing / (1 - SETTLED)
    return float(begun + (1 - begun) * share), slowdown, len(counted) * max(1.0, longer)


def backlog_growth(flows: pd.DataFrame, *, end_s: float) -> tuple[float, float]:
    r"""Return by which factor the flows in progress grow from the middle third of the arrivals to the last, at least.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result.
    end_s : float
        Simulated time at the end of the run, in seconds; arrivals behind it are left out.

    Returns
    -------
    float, float
        The ratio of the geometric means, and the lower end of its 99.9% interval; NaN with fewer than 60 arrivals, or
        where the number in progress never changes.

    Notes
    -----
    Each counted arrival sees a number of flows in progress, itself included. The first third of the arrivals is left
    out, in which an empty network fills. Each of the other two is cut into 10 batches; Welch's interval of the
    difference between the means of the logarithms rests on these, so that it allows for the correlation within a batch.
    Where more arrives than is carried, the number grows in proportion to the time: from the middle third to the last by
    :math:`e^{0.523}=1.69`.

    The lower end is above 1.1 in 0, 8 and 5% of 40 runs of 3000 web-search flows over 16 queues that share their rate
    among their flows (M/G/1-PS) with loads of 0.3, 0.6 and 0.8, and in 82 and 100% with 1.3 and 2. With 300 flows these
    are 2, 20 and 12%, and 42 and 78%: some flows last longer than such a run, and no steady state is seen in it.
    """
    started = flows[flows["start_s"] <= end_s]
    start_s = np.sort(started["start_s"].to_numpy(np.float64))
    done_s = np.sort((started["start_s"] + started["fct_s"]).fillna(np.inf).to_numpy(np.float64))
    arrivals_s = np.sort(started.loc[started["counted"], "start_s"].to_numpy(np.float64))
    third = len(arrivals_s) // 3 // BATCHES * BATCHES
    if third < 2 * BATCHES:
        return nan, nan
    seen = np.searchsorted(start_s, arrivals_s, side="right") - np.searchsorted(done_s, arrivals_s, side="right")
    middle, last = np.log(seen[-2 * third :]).reshape(2, BATCHES, -1).mean(axis=2)
    if np.ptp(middle) + np.ptp(last) == 0:
        return nan, nan
    growth = welch_difference(last, middle, confidence=0.999)
    return float(np.exp(growth.value)), float(np.exp(growth.low))


def offered_line(runs: pd.DataFrame) -> str:
    """Return what was offered against what was asked, or by lists of flows, over some runs; empty where nothing was.

    Examples
    --------
    >>> row = {"expected_load_hosts": 0.7, "offered_load_hosts": 0.44, "inner_layer": "leaf uplinks"}
    >>> offered_line(pd.DataFrame([row | {"expected_load_inner": 2.13, "offered_load_inner": 1.34}]))
    'offered load: hosts 0.44 of 0.70 asked, leaf uplinks 1.34 of 2.13'
    >>> offered_line(pd.DataFrame({"seed": [1]}))  # of a measurement that does not say
    ''
    """
    if "offered_load_hosts" not in runs or runs["offered_load_hosts"].isna().all():
        return ""
    listed = bool(runs["expected_load_hosts"].isna().all())
    layers = [("hosts", "hosts", runs)] + [
        ("inner", str(name), rows) for name, rows in runs[runs["inner_layer"] != ""].groupby("inner_layer", sort=False)
    ]
    loads = []
    for place, name, rows in layers:
        expected = "" if listed else f" of {_range(rows[f'expected_load_{place}'])}" + " asked" * (place == "hosts")
        loads.append(f"{name} {_range(rows[f'offered_load_{place}'])}{expected}")
    return f"offered load: {', '.join(loads)}" + ", from the first start of the list to the last" * listed


def load_remarks(runs: pd.DataFrame, axes: Sequence[str] = ("scheme",)) -> list[str]:
    """Return a line for each reason why the runs say less about the load asked for than they seem to.

    Parameters
    ----------
    runs : DataFrame
        A row for each run (:func:`capsim.study.scheme_runs.row_of`).
    axes : sequence of str
        Columns that keep the points of a study apart.

    Notes
    -----
    A line is given where the load expected of a layer is 1 or more; for points that are not at their load, since the
    settled share is below 0.9, expected before the run or found after it, or on average over the runs from a steady
    start; where what was offered is off by more than 10% of what was asked; where more than 10% of the flows that count
    had not started when the run ended; and for points at which :func:`backlog_growth` is above 1.1 with its confidence
    in more than half of the runs.
    """
    lines = []
    for name in ("hosts", "inner"):
        expected = runs.loc[runs[f"expected_load_{name}"] >= 1, f"expected_load_{name}"]
        if len(expected):
            layer = "hosts" if name == "hosts" else ", ".join(dict.fromkeys(runs.loc[expected.index, "inner_layer"]))
            lines.append(
                f"overload: {layer} are asked for {_range(expected)} of their capacity{_of(expected, runs)}: "
                "there is no steady state, all depends on the number of flows; lower the load"
                + ("" if name == "hosts" else ", or define it with traffic.load_of=leaf-uplinks")
            )
    lines += _not_at_their_load(runs, axes)
    off = runs.loc[(runs["offered_over_asked"] - 1).abs() > OFF, "offered_over_asked"]
    if len(off):
        lines.append(
            f"offered load: {_range(100 * off, digits=0)}% of what was asked{_of(off, runs)}, by the sizes drawn: give "
            "more flows or seeds"
        )
    growing = [(point, rows) for point, rows in runs.groupby(list(axes), sort=False, dropna=False) if _grows(rows)]
    if "unstarted_flows" in runs:
        unstarted = runs["unstarted_flows"] / runs["flows"]
        cut = unstarted[unstarted > OFF]
        if len(cut):
            lines.append(
                f"cut off: {_range(100 * cut, digits=0)}% of the flows had not started when the run ended"
                f"{_of(cut, runs)}: give a later end_s, or fewer flows"
            )
    if growing:
        names = "; ".join(", ".join(map(str, point)) for point, _ in growing)
        growth = pd.concat([rows["backlog_growth"] for _, rows in growing])
        lines.append(
            f"no steady state: the flows in progress grow by a factor of {_range(growth)} from the middle third of the "
            f"arrivals to the last ({names}): completion times grow with the number of flows"
        )
    return lines


def _not_at_their_load(runs: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """Return a line on the points whose runs do not reach the load that they name, with the remedy and its price."""
    shares = runs[["settled_before", "settled"]].min(axis=1)
    cold = runs.assign(share=shares)[shares < SETTLED]
    has_steady_start = cold["settled_before"] == 1
    begun = cold[cold["settled_before"] < SETTLED]
    from_empty = cold[~has_steady_start] if begun.empty else begun
    return [
        *(_from_empty(from_empty, runs, axes) if len(from_empty) else ()),
        *(_arrivals_end(cold[has_steady_start], runs, axes) if has_steady_start.any() else ()),
        *_begun_too_low(runs, axes),
    ]


def _from_empty(cold: pd.DataFrame, runs: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """Return a line on points that begin empty: all expected to begin below their load, or none."""
    named = _points(cold, runs, axes)
    if not (cold["settled_before"] < SETTLED).any():
        return [
            f"not at its load: {_range(100 * cold['share'], digits=0)}% of the time of flows lies before the last "
            f"arrival{named}: long flows end in a network that empties; give traffic.start=steady, which lets arrivals "
            "go on, or more flows"
        ]
    steady, empty = (_range(cold[name], digits=0) for name in ("flows_if_steady", "flows_to_settle"))
    return [
        f"not at its load: a flow finds {_range(100 * cold['settled_before'], digits=0)}% of the flows in progress of "
        f"the steady state{named}, since the network is empty at the beginning: give traffic.start=steady, with which "
        f"about {steady} flows run in all, or {empty} flows"
    ]


def _arrivals_end(cold: pd.DataFrame, runs: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """Return a line on points with a steady start whose flows last longer than the arrivals drawn behind them."""
    return [
        f"not at its load: {_range(100 * cold['share'], digits=0)}% of the time of flows lies before the last "
        f"arrival{_points(cold, runs, axes)}: arrivals end before the flows that count; give a longer "
        "traffic.cool_down_s, or more flows"
    ]


def _begun_too_low(runs: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """Return a line on the points whose transport keeps flows longer than their steady start reckons with."""
    names = ["settled_start", "kept_slowdown", "flows_if_longer"]
    means = runs.groupby(list(axes), sort=False, dropna=False)[names].transform("mean")
    low = runs.assign(**means)[means["settled_start"] < SETTLED]
    if low.empty:
        return []
    longer = low["kept_slowdown"]
    return [
        f"not at its load: a flow finds {_range(100 * low['settled_start'], digits=0)}% of the flows in progress of "
        f"the steady state{_points(low, runs, axes)}, since they last {_range(longer, digits=1)} times as long as "
        f"alone, longer than the start reckons with: give traffic.slowdown={longer.max():.1f}, then what it asks for, "
        f"or up to {_range(low['flows_if_longer'], digits=0)} flows"
    ]


def _points(some: pd.DataFrame, runs: pd.DataFrame, axes: Sequence[str]) -> str:
    points = [", ".join(map(str, point)) for point, _ in some.groupby(list(axes), sort=False, dropna=False)]
    return "" if len(some) == len(runs) else f" ({'; '.join(points)})"


def _grows(runs: pd.DataFrame) -> bool:
    return bool((runs["backlog_growth_low"] > 1 + OFF).mean() > 0.5)


def _of(some: "pd.Series[float]", runs: pd.DataFrame) -> str:
    return "" if len(some) == len(runs) else f" in {len(some)} of {len(runs)} runs"


def _range(values: "pd.Series[float]", *, digits: int = 2) -> str:
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    return low if low == high else f"{low} to {high}"
