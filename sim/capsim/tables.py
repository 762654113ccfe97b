"""From an engine's records to tidy tables: SI units, names that say the unit, no packed numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim import records, schema
from capsim.clock import PS_PER_S
from capsim.engines.queue_sums import PS_PER_NS
from capsim.fabric.topology import NO_PATH, Fabric
from capsim.state import RawRecords, Table, sojourn_bytes_ns, sojourn_ps
from capsmodel.units import BITS_PER_BYTE

SUMMED = (
    "packets_sent",
    "bytes_sent",
    "retransmissions",
    "fast_retransmits",
    "timeouts",
    "reordered_packets",
    "duplicate_packets",
    "coded_packets",
    "repair_packets",
    "units",
    "units_decoded",
    "units_stalled",
    "late_packets",
    "packets_dropped",
    "packets_marked",
)
Columns = dict[str, Any]
KINDS = ("data", "ack", "syn", "syn-ack", "coded", "handshake-ack")
EVENTS = ("enqueued", "dropped", "arrived")
REASONS = ("", "queue full", "evicted", "link down", "no route")


def _seconds(times_ps: Table) -> npt.NDArray[np.float64]:
    """Return seconds; NaN where there is no time."""
    return np.where(times_ps == records.NONE, np.nan, times_ps / PS_PER_S)


def _names(labels: tuple[str, ...], indices: Table) -> "pd.Categorical[str]":
    return pd.Categorical.from_codes(np.asarray(indices, np.int64), pd.Index(labels))


def _ordered(columns: Columns, names: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame({name: columns[name] for name in names})


def flows_table(
    raw: RawRecords, *, ideal_fct_s: npt.NDArray[np.float64], mss_bytes: int, input_row: Table
) -> pd.DataFrame:
    """Return one row for each flow; counters of its connections are summed."""
    flows, conns = raw.flows, raw.conns
    first = flows["first_conn"]
    start_s = flows["start_ps"] / PS_PER_S
    fct_s = _seconds(np.where(flows["received_ps"] < 0, records.NONE, flows["received_ps"] - flows["start_ps"]))
    acked_s = _seconds(np.where(flows["acked_ps"] < 0, records.NONE, flows["acked_ps"] - flows["start_ps"]))
    furthest = np.maximum.reduceat(conns["receive_next"], first) * mss_bytes
    columns: Columns = {
        "flow": np.arange(len(flows)),
        "src": flows["src"],
        "dst": flows["dst"],
        "flow_bytes": flows["flow_bytes"],
        "start_s": start_s,
        "fct_s": fct_s,
        "acked_fct_s": acked_s,
        "ideal_fct_s": ideal_fct_s,
        "slowdown": fct_s / ideal_fct_s,
        "delivered_bytes": np.minimum(furthest, flows["flow_bytes"]),
        "finished": flows["received_ps"] >= 0,
        "short": flows["short"] != 0,
        "traffic_entry": flows["tag"],
        "input_row": input_row,
        "connections": flows["n_conns"],
        "winner_timeouts": np.where(flows["winner"] == records.NONE, -1, conns["timeouts"][flows["winner"]]),
        "duplicate_acks": np.add.reduceat(conns["dup_acks_received"], first),
    }
    columns |= {name: np.add.reduceat(conns[name], first) for name in SUMMED}
    return _ordered(columns, schema.FLOWS)


def with_columns(flows: pd.DataFrame, columns: dict[str, list[str | None]]) -> pd.DataFrame:
    """Return a flows table with further columns behind its own; None becomes a missing value."""
    return flows.assign(**{name: pd.Series(cells) for name, cells in columns.items()})


def ports_table(raw: RawRecords, fabric: Fabric, *, link_bytes: int) -> pd.DataFrame:
    """Return one row for each port."""
    ports, duration_ps = raw.ports, max(1, int(raw.counters["now_ps"][0]))
    wire_bits = BITS_PER_BYTE * (ports["bytes_out"] + link_bytes * ports["packets_out"])
    columns: Columns = {
        "port": np.arange(len(ports)),
        "name": list(fabric.port_names),
        "layer": pd.Categorical(fabric.port_layers, categories=fabric.layers),
        "path": fabric.port_path,
        "delay_s": ports["delay_ps"] / PS_PER_S,
        "mean_queue_packets": sojourn_ps(ports) / duration_ps,
        "mean_queue_bytes": sojourn_bytes_ns(ports) * (PS_PER_NS / duration_ps),
        "utilisation": wire_bits / ports["rate_bps"] * (PS_PER_S / duration_ps),
    }
    columns |= {name: ports[name] for name in schema.PORTS if name not in columns}
    return _ordered(columns, schema.PORTS)


def units_table(raw: RawRecords) -> pd.DataFrame:
    """Return one row for each coding unit."""
    units = raw.units
    columns: Columns = {
        "unit": np.arange(len(units)),
        "flow": raw.conns["flow"][units["conn"]],
        "connection": units["conn"],
        "first_segment": units["first"],
        "k": units["k"],
        "n": units["n"],
        "arrived_packets": units["arrived"],
        "stalled": units["stalled"] != 0,
        "sent_s": _seconds(units["sent_ps"]),
        "decoded_s": _seconds(units["decoded_ps"]),
    }
    return _ordered(columns, schema.UNITS)


def probes_table(raw: RawRecords, fabric: Fabric) -> pd.DataFrame:
    """Return one row for each sample."""
    probes = raw.probes
    of_port = probes["what"] == records.PORT_SAMPLE
    labels = ("", *fabric.port_names)
    columns: Columns = {
        "time_s": probes["time_ps"] / PS_PER_S,
        "port": _names(labels, np.where(of_port, probes["entity"] + 1, 0)),
        "flow": np.where(of_port, -1, raw.conns["flow"][np.where(of_port, 0, probes["entity"])]),
        "srtt_s": np.where(probes["srtt_ps"] > 0, probes["srtt_ps"] / PS_PER_S, np.nan),
    }
    columns |= {name: probes[name] for name in schema.PROBES if name not in columns}
    return _ordered(columns, schema.PROBES)


def empty_table(name: str, fabric: Fabric) -> pd.DataFrame:
    """Return the table of units, probes or trace of a run that has no row of it."""
    none = RawRecords(
        flows=np.zeros(0, records.FLOW),
        conns=np.zeros(0, records.CONNECTION),
        ports=np.zeros(0, records.PORT),
        units=np.zeros(0, records.UNIT),
        trace=np.zeros(0, records.TRACE),
        probes=np.zeros(0, records.PROBE),
        counters=np.zeros(0, records.COUNTERS),
    )
    match name:
        case "units":
            return units_table(none)
        case "probes":
            return probes_table(none, fabric)
        case _:
            return trace_table(none, fabric)


def trace_table(raw: RawRecords, fabric: Fabric) -> pd.DataFrame:
    """Return one row for each line of the packet trace."""
    trace = raw.trace
    place = trace["port"] + 1  # 0 for a packet without a route, which is at no port
    layer_of_place = pd.Index(("", *fabric.layers)).get_indexer(pd.Index(("", *fabric.port_layers)))
    columns: Columns = {
        "time_s": trace["time_ps"] / PS_PER_S,
        "event": _names(EVENTS, trace["what"]),
        "reason": _names(REASONS, trace["reason"]),
        "port": _names(("", *fabric.port_names), place),
        "layer": _names(("", *fabric.layers), layer_of_place[place]),
        "path": np.append(np.int32(NO_PATH), fabric.port_path)[place],
        "flow": raw.conns["flow"][trace["conn"]],
        "connection": trace["conn"],
        "packet": _names(KINDS, trace["kind"]),
        "packet_bytes": trace["bytes"],
    }
    columns |= {name: trace[name] for name in schema.TRACE if name not in columns}
    return _ordered(columns, schema.TRACE)
