"""From an engine's records to tidy tables: SI units, names that say the unit, no packed numbers."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim import records
from capsim.base import schema
from capsim.base.bounds import WORD
from capsim.base.clock import PS_PER_S
from capsim.engines.hosts.queue_counts import PS_PER_NS, edge
from capsim.engines.probes import Plan, entity_name, plan
from capsim.engines.state import RawRecords, Setup, Table, delivered_segments
from capsim.fabric.topology import NO_PATH, Fabric
from capsim.records import BINS, CLASSES, EXTENT_BINS, NONE, QUANTITIES
from capsim.roles.hooks import HOST_ROLES
from capsmodel.units import BITS_PER_BYTE

SUMMED = (
    "packets_sent",
    "bytes_sent",
    "retransmissions",
    "fast_retransmits",
    "timeouts",
    "spurious_retransmissions",
    "long_dup_ack_runs",
    "reordered_packets",
    "duplicate_packets",
    "packets_dropped",
    "packets_marked",
)
_COUNTED = ("packets_dropped", "packets_lost", "packets_marked", "packets_trimmed")  # in 32 bits by a port
Columns = dict[str, Any]
KINDS = ("data", "ack", "syn", "syn-ack", "coded", "handshake-ack")
EVENTS = ("enqueued", "dropped", "arrived", "trimmed")
REASONS = ("", "queue full", "evicted", "link down", "no route", "corrupted")


def sojourn_ps(ports: Table) -> npt.NDArray[np.float64]:
    """Return over ports the time integral of the packets in the queue, in packet-picoseconds."""
    return np.asarray(ports["sojourn_words"] * float(WORD) + ports["sojourn_ps"])


def sojourn_bytes_ns(ports: Table) -> npt.NDArray[np.float64]:
    """Return over ports the time integral of the bytes in the queue, in byte-nanoseconds."""
    return np.asarray(ports["sojourn_bytes_words"] * float(WORD) + ports["sojourn_bytes_ns"])


def seconds(times_ps: Table) -> npt.NDArray[np.float64]:
    """Return seconds; NaN where there is no time."""
    return np.where(times_ps == records.NONE, np.nan, times_ps / PS_PER_S)


def names_of(labels: tuple[str, ...], indices: Table) -> "pd.Categorical[str]":
    """Return a column of names by their positions."""
    return pd.Categorical.from_codes(np.asarray(indices, np.int64), dtype=_categories(labels))


@lru_cache(maxsize=16)
def _categories(labels: tuple[str, ...]) -> Any:
    """Return the type of a column of these names, which takes longer to make than the column of a small run."""
    return pd.CategoricalDtype(pd.Index(labels))


def ordered(columns: Columns, names: dict[str, str], own: Columns | None = None) -> pd.DataFrame:
    """Return the columns `names` in that order, and behind them those that components declare."""
    return pd.DataFrame({name: columns[name] for name in names} | (own or {}))


def _summed(values: Table, flow: Table, n_flows: int) -> Table:
    """Return over flows the sum over their subflows."""
    total = np.zeros(n_flows, np.int64 if values.dtype.kind == "i" else values.dtype)
    np.add.at(total, flow, values)
    return total


def flows_table(raw: RawRecords, setup: Setup, *, ideal_fct_s: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Return one row for each flow; counters of its subflows are summed."""
    flows, subs = raw.flows, raw.subs
    fct_s = seconds(np.where(flows["received_ps"] < 0, records.NONE, flows["received_ps"] - flows["begin_ps"]))
    acked_s = seconds(np.where(flows["acked_ps"] < 0, records.NONE, flows["acked_ps"] - flows["begin_ps"]))
    delivered_bytes = _payload_bytes(flows, delivered_segments(flows, subs))
    before_bytes = _payload_bytes(flows, raw.warm.delivered) if raw.warm else np.zeros_like(delivered_bytes)
    begun = flows["begin_ps"] != NONE
    columns: Columns = {
        "flow": np.arange(len(flows)),
        "src": flows["src"],
        "dst": flows["dst"],
        "flow_bytes": flows["flow_bytes"],
        "start_s": np.where(begun, flows["begin_ps"] / PS_PER_S, np.inf),
        "established_s": seconds(_established_ps(subs, len(flows))),
        "fct_s": fct_s,
        "acked_fct_s": acked_s,
        "ideal_fct_s": ideal_fct_s,
        "slowdown": fct_s / ideal_fct_s,
        "delivered_bytes": delivered_bytes,
        "measured_bytes": (delivered_bytes - before_bytes) * _outlasted(raw, setup),
        "counted": (flows["counted"] != 0) & (np.where(begun, flows["begin_ps"], np.inf) >= setup.warm_up_ps),
        "finished": flows["received_ps"] >= 0,
        "short": flows["short"] != 0,
        "traffic_entry": flows["tag"],
        "n_paths": flows["n_paths"],
        "distance": flows["distance"],
        "input_row": setup.flows.input_row,
        "subflows": flows["n_subs"],
        "winner_timeouts": _winner_timeouts(flows, subs),
        "duplicate_acks": _summed(subs["dup_acks_received"], subs["flow"], len(flows)),
    }
    columns |= {name: _summed(subs[name], subs["flow"], len(flows)) for name in SUMMED}
    own = {name: _summed(values, subs["flow"], len(flows)) for name, values in own_columns(raw, setup).items()}
    return ordered(columns, schema.FLOWS, own)


def _established_ps(subs: Table, n_flows: int) -> Table:
    """Return over flows when the first of its subflows could send data, or `NONE`."""
    never = np.iinfo(np.int64).max
    times_ps = np.full(n_flows, never)
    np.minimum.at(
        times_ps, subs["flow"], np.where(subs["established_ps"] == records.NONE, never, subs["established_ps"])
    )
    return np.where(times_ps == never, records.NONE, times_ps)


def _winner_timeouts(flows: Table, subs: Table) -> Table:
    """Return over flows the timeouts of the winner, or of all subflows of a flow that granted data once more."""
    won, reinjected = flows["winner"] != records.NONE, flows["reinjected"] > 0
    timeouts = np.full(len(flows), -1, np.int64)
    timeouts[won] = subs["timeouts"][flows["winner"][won]]
    return np.where(won & reinjected, _summed(subs["timeouts"], subs["flow"], len(flows)), timeouts)


def _payload_bytes(flows: Table, segments: Table) -> Table:
    return np.asarray(np.minimum(segments * flows["mss_bytes"], flows["flow_bytes"]))


def _outlasted(raw: RawRecords, setup: Setup) -> bool:
    """Return whether anything came after the warm-up."""
    return raw.warm is not None or setup.warm_up_ps == 0


def own_columns(raw: RawRecords, setup: Setup) -> dict[str, Table]:
    """Return over subflows the columns that components declare; 0 where a subflow's stack has none of that name."""
    columns: dict[str, Table] = {}
    for number, stack in enumerate(setup.stacks):
        of_stack = raw.subs["stack"] == number
        for role in HOST_ROLES:
            for name in getattr(stack, role).columns.get("subflow", {}):
                values = raw.own.records("subflow", (number, role))[name]
                columns.setdefault(name, np.zeros(len(raw.subs), values.dtype))[of_stack] = values[of_stack]
    return columns


def with_columns(flows: pd.DataFrame, columns: dict[str, list[str | None]]) -> pd.DataFrame:
    """Return a flows table with further columns behind its own; None becomes a missing value."""
    return flows.assign(**{name: pd.Series(cells) for name, cells in columns.items()}) if columns else flows


def ports_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return one row for each port."""
    ports, fabric, duration_ps = raw.ports, setup.fabric, max(1, int(raw.counters["now_ps"][0]))
    columns: Columns = {
        "port": np.arange(len(ports)),
        "name": list(fabric.port_names),
        "layer": pd.Categorical(fabric.port_layers, categories=fabric.layers),
        "path": fabric.port_path,
        "delay_s": ports["delay_ps"] / PS_PER_S,
        "mean_queue_packets": sojourn_ps(ports) / duration_ps,
        "mean_queue_bytes": sojourn_bytes_ns(ports) * (PS_PER_NS / duration_ps),
        "utilisation": _wire_bits(ports, setup) / ports["rate_bps"] * (PS_PER_S / duration_ps),
    }
    columns |= _measured_ports(raw, setup)
    columns |= {name: ports[name].astype(np.int64) for name in _COUNTED}
    columns |= {name: ports[name] for name in schema.PORTS if name not in columns}
    return ordered(columns, schema.PORTS)


def _wire_bits(ports: Table, setup: Setup) -> Table:
    return np.asarray(BITS_PER_BYTE * (ports["bytes_out"] + setup.link_bytes * ports["packets_out"]))


def _measured_ports(raw: RawRecords, setup: Setup) -> Columns:
    """Return the columns of ports that count since the end of the warm-up."""
    ports, before = raw.ports, raw.warm.ports if raw.warm else np.zeros_like(raw.ports)
    duration_ps = max(1.0, float(raw.counters["now_ps"][0]) - (setup.warm_up_ps if raw.warm else 0))
    if not _outlasted(raw, setup):
        before, duration_ps = ports, np.nan
    bits = _wire_bits(ports, setup) - _wire_bits(before, setup)
    counted = ("packets_in", "packets_dropped")
    return {
        **{f"measured_{name}": (ports[name] - before[name]).astype(np.int64) for name in counted},
        "measured_mean_queue_packets": (sojourn_ps(ports) - sojourn_ps(before)) / duration_ps,
        "measured_utilisation": bits / ports["rate_bps"] * (PS_PER_S / duration_ps),
    }


def without_unneeded(flows: pd.DataFrame, *, end_s: float) -> pd.DataFrame:
    """Return a flows table without what a steady start drew for later than the end of the run."""
    needed = flows["counted"] | (flows["start_s"] <= end_s)
    return flows if needed.all() else flows[needed].reset_index(drop=True)


def own_meanings(setup: Setup, *, subflows: bool) -> dict[str, dict[str, str]]:
    """Return by table the names and meanings of the columns that the components of a run add.

    `subflows` says whether the run has a table of subflows.
    """
    tables = {"flows": "subflow", "units": "unit"} | ({"subflows": "subflow"} if subflows else {})
    components = [getattr(stack, role) for stack in setup.stacks for role in HOST_ROLES]
    return {
        table: {name: text for each in components for name, text in each.columns.get(scope, {}).items()}
        for table, scope in tables.items()
    }


def units_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return one row for each coding unit, with the columns that the layer declares."""
    numbers = [number for number, stack in enumerate(setup.stacks) if stack.layer.memory.get("unit")]
    if not numbers:
        return empty_table("units", setup.fabric)
    units, layer = raw.own.records("unit", (numbers[0], "layer")), setup.stacks[numbers[0]].layer
    columns: Columns = {"unit": np.arange(len(units)), "flow": raw.subs["flow"][units["sub"]], "subflow": units["sub"]}
    own = {name: _readable(units, name) for name in layer.columns.get("unit", {})}
    return ordered(columns, schema.UNITS, own)


def _readable(table: Table, name: str) -> Table:
    """Return the column `name`: times in seconds, flags of one byte as truth values."""
    if name.endswith("_s"):
        return seconds(table[f"{name.removesuffix('_s')}_ps"])
    values = table[name]
    return values != 0 if values.dtype == np.uint8 else values


def trace_table(trace: Table, subs: Table, fabric: Fabric) -> pd.DataFrame:
    """Return one row for each line of the packet trace."""
    place = trace["port"] + 1  # 0 for a packet without a route, which is at no port
    number_of = {layer: number for number, layer in enumerate(("", *fabric.layers))}
    layer_of_place = np.array([number_of[layer] for layer in ("", *fabric.port_layers)])
    columns: Columns = {
        "time_s": trace["time_ps"] / PS_PER_S,
        "event": names_of(EVENTS, trace["what"]),
        "reason": names_of(REASONS, trace["reason"]),
        "port": names_of(("", *fabric.port_names), place),
        "layer": names_of(("", *fabric.layers), layer_of_place[place]),
        "path": np.append(np.int32(NO_PATH), fabric.port_path)[place],
        "flow": subs["flow"][trace["sub"]],
        "subflow": trace["sub"],
        "packet": names_of(KINDS, trace["kind"]),
        "packet_bytes": trace["bytes"],
    }
    columns |= {name: trace[name] for name in schema.TRACE if name not in columns}
    return ordered(columns, schema.TRACE)


NS_PER_S = 10**9
OF_QUEUES, EXTENT = ("wait_s", "left_behind_bytes"), "reorder_extent_packets"
PACKETS = ("long", "short", "control")


def histograms_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return the histograms of queues by layer, and of extents of reordering; bins without packets are left out."""
    layers = setup.fabric.layers
    queues = raw.queue_counts.reshape(-1, CLASSES, QUANTITIES, BINS)
    rows = [
        (quantity, layer + 1, kind, index, count)
        for layer, of_layer in enumerate(queues)
        for kind, of_kind in enumerate(of_layer)
        for quantity, counts in enumerate(of_kind)
        for index, count in _filled(counts)
    ]
    extents = raw.extents.reshape(-1, EXTENT_BINS)
    rows += [(QUANTITIES, 0, kind, *each) for kind, counts in enumerate(extents) for each in _filled(counts)]
    return _histogram_rows(sorted(rows), layers) if rows else empty_table("histograms", setup.fabric)


def _filled(counts: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return bin and number of packets of the bins that have some."""
    return [(int(index), int(counts[index])) for index in np.flatnonzero(counts)]


def _histogram_rows(rows: list[tuple[int, ...]], layers: tuple[str, ...]) -> pd.DataFrame:
    """Return the table of rows quantity, layer from 1, kind of packet, bin, count."""
    quantity, layer, kind, index, count = np.array(rows, np.int64).reshape(-1, 5).T
    unit = np.where(quantity == 0, NS_PER_S, 1)
    last = index == np.where(quantity == QUANTITIES, EXTENT_BINS, BINS) - 1
    columns: dict[str, Any] = {
        "quantity": names_of((*OF_QUEUES, EXTENT), quantity),
        "layer": names_of(("", *layers), layer),
        "packets": names_of(PACKETS, kind),
        "least": np.array([edge(each) for each in index.tolist()], float) / unit,
        "below": np.where(last, np.inf, np.array([edge(each + 1) for each in index.tolist()], float) / unit),
        "count": count,
    }
    return ordered(columns, schema.HISTOGRAMS)


STATES = ("idle", "syn sent", "established", "closed", "syn answered")
_RENAMED = {"duplicate_acks": "dup_acks_received", "path_hash": "hash", "granted_packets": "end"}


def has_subflows(raw: RawRecords, *, request: bool) -> bool:
    """Return whether a run has this table: if it was asked for, or a flow had several subflows."""
    return request or bool((raw.flows["n_subs"] > 1).any())


def subflows_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return one row for each subflow, with the columns that its components declare."""
    return _subflow_rows(raw.subs, own_columns(raw, setup), histograms=setup.histograms)


def _subflow_rows(subs: Table, own: Columns, *, histograms: bool) -> pd.DataFrame:
    columns: Columns = {"subflow": np.arange(len(subs)), "state": names_of(STATES, subs["state"])}
    columns |= {
        name: seconds(subs[f"{name.removesuffix('_s')}_ps"])
        for name in ("open_s", "established_s", "received_s", "closed_s", "srtt_s", "rto_s")
    }
    columns |= {name: subs[field] for name, field in _RENAMED.items()}
    columns["max_reorder_extent"] = np.where(histograms, subs["max_reorder_extent"], records.NONE)
    columns |= {name: subs[name] for name in schema.SUBFLOWS if name not in columns}
    return ordered(columns, schema.SUBFLOWS, own)


def probes_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return one row for each number that was sampled, in the order of time."""
    if not setup.probe_ps:
        return empty_table("probes", setup.fabric)
    probes, watched = raw.probes, plan(setup, raw.own)
    column = watched.watches["field"][probes["watch"]]
    labels, first = np.unique(np.array(watched.labels, object), return_inverse=True)
    return pd.DataFrame(
        {
            "time_s": probes["time_ps"] / PS_PER_S,
            "entity": _entities(probes, raw.subs, setup, watched),
            "field": pd.Categorical.from_codes(first[column], pd.Index(labels)),
            "value": _values(probes["value"], column, watched),
        }
    )


def _entities(probes: Table, subs: Table, setup: Setup, watched: Plan) -> "pd.Categorical[str]":
    """Return what each sample belongs to; there are few distinct pairs of a place and a subflow."""
    keys = probes["watch"].astype(np.int64) * (len(subs) + 1) + probes["sub"] + 1
    pairs, codes = np.unique(keys, return_inverse=True)
    namers = [entity_name(field, setup.fabric) for field in watched.fields]
    names = []
    for watch, sub in zip((pairs // (len(subs) + 1)).tolist(), (pairs % (len(subs) + 1) - 1).tolist(), strict=True):
        place = watched.watches[watch]
        of_sub = f"flow{place['flow']}.{subs['number'][sub]}" if sub != NONE else ""
        names.append(of_sub + namers[place["field"]](int(place["row"])))
    distinct = pd.Index(dict.fromkeys(names))
    return pd.Categorical.from_codes(distinct.get_indexer(pd.Index(names))[codes], distinct)


def _values(values: Table, column: Table, watched: Plan) -> npt.NDArray[np.float64]:
    """Return the numbers, times in seconds: NaN where there is none."""
    of_time = np.array([field.name.endswith("_ps") for field in watched.fields])[column]
    return np.where(of_time, np.where(values == NONE, np.nan, values / PS_PER_S), values)


def empty_table(name: str, fabric: Fabric) -> pd.DataFrame:
    """Return the table of subflows, units, probes, histograms or trace without rows."""
    if name == "trace":
        return trace_table(np.zeros(0, records.TRACE), np.zeros(0, records.SUBFLOW), fabric)
    return _without_rows(name, fabric.layers).copy()


@lru_cache(maxsize=16)
def _without_rows(name: str, layers: tuple[str, ...]) -> pd.DataFrame:
    """Return a table without rows, which takes longer to make than to copy."""
    if name == "units":
        return ordered({"unit": [], "flow": [], "subflow": []}, schema.UNITS).astype(np.int64)
    if name == "probes":
        nothing = pd.Categorical([], categories=pd.Index([], dtype=object))
        return pd.DataFrame({"time_s": np.zeros(0), "entity": nothing, "field": nothing, "value": np.zeros(0)})
    if name == "subflows":
        return _subflow_rows(np.zeros(0, records.SUBFLOW), {}, histograms=False)
    return _histogram_rows([], layers)
