"""Conservation, checked before the results of a run are returned: nothing appears, nothing vanishes."""

from collections.abc import Sequence

import numpy as np

from capsim.engines.hosts.queue_counts import PS_PER_NS
from capsim.engines.state import RawRecords, Table
from capsim.fabric.topology import Fabric
from capsim.results.tables import sojourn_bytes_ns, sojourn_ps


class ConservationError(RuntimeError):
    """Packets or bytes do not add up: a defect of the simulator or of a scheme, never of the input."""


def check(raw: RawRecords, fabric: Fabric) -> None:
    """Check packets and bytes at every port and in total, and the bytes of every finished flow.

    Raises
    ------
    ConservationError
        With the first port or flow that does not add up.

    Notes
    -----
    1. At a port: offered = sent + dropped + queued, in packets and in bytes, to which those come that were trimmed off;
       arrived at the far end at most sent, and lost there at most arrived.
    2. At the switches: what arrives on their links, is not lost and finds a route is offered to a port.
    3. In total: created (offered to NICs) = delivered to hosts + dropped + lost on links + without a route + still in
       the network.
    4. What subflows count as lost in the fabric = dropped + lost on links + without a route.
    5. The mean of a queue, in packets and in bytes, is at most its maximum.
    6. A finished flow: its winning subflow received every segment, and they sum up to the bytes of the flow; of a
       stream that subflows share, every data segment came and none is left in the receive buffer.
    """
    ports = raw.ports
    _ports_add_up(ports, fabric)
    at_nic, to_host = fabric.port_from < fabric.n_hosts, fabric.port_to < fabric.n_hosts
    unroutable = int(raw.counters["unroutable"][0])
    forwarded = int(ports["packets_in"][~at_nic].sum())
    whole = ports["packets_arrived"] - ports["packets_lost"]
    arrived = int(whole[~to_host].sum())
    if forwarded + unroutable != arrived:
        raise ConservationError(
            f"switches: {arrived} packets arrived, {forwarded} forwarded, {unroutable} had no route"
        )
    created, delivered = int(ports["packets_in"][at_nic].sum()), int(whole[to_host].sum())
    dropped, lost = int(ports["packets_dropped"].sum()), int(ports["packets_lost"].sum())
    left = int(raw.counters["in_flight"][0]) - int(raw.counters["held"][0])  # those held have been delivered
    if created != delivered + dropped + lost + unroutable + left:
        raise ConservationError(
            f"total: {created} packets created, but {delivered} delivered, {dropped} dropped, "
            f"{lost} lost on links, {unroutable} without a route and {left} in the network"
        )
    counted = int(raw.subs["packets_dropped"].sum())
    if counted != dropped + lost + unroutable:
        gone = f"{dropped} dropped, {lost} lost on links, {unroutable} without a route"
        raise ConservationError(f"subflows: {counted} of their packets dropped, but {gone}")
    _means_below_maxima(raw, fabric)
    _flows_whole(raw)


def _means_below_maxima(raw: RawRecords, fabric: Fabric) -> None:
    """Check the sums that the means come from: one that had left int64 could be anything."""
    ports, now_ps = raw.ports, float(raw.counters["now_ps"][0])
    for unit, mean in (("packets", sojourn_ps(ports)), ("bytes", PS_PER_NS * sojourn_bytes_ns(ports))):
        most = ports[f"max_queue_{unit}"] * now_ps
        _none((mean < 0) | (mean > (1 + 1e-9) * most), fabric.port_names, f"port: mean queue above its maximum, {unit}")


def _ports_add_up(ports: Table, fabric: Fabric) -> None:
    for unit in ("packets", "bytes"):
        balance = ports[f"{unit}_in"] - ports[f"{unit}_out"] - ports[f"{unit}_dropped"] - ports[f"queue_{unit}"]
        if unit == "bytes":
            balance = balance - ports["bytes_trimmed"]
        _none(balance != 0, fabric.port_names, f"port: {unit} offered are not sent + dropped + queued")
    unseen = (ports["data_bytes"] < 0) | (ports["data_bytes"] > ports["queue_bytes"])
    _none(unseen, fabric.port_names, "port: more bytes with data than bytes in the queue")
    _none(ports["packets_arrived"] > ports["packets_out"], fabric.port_names, "port: more packets arrived than sent")
    _none(ports["packets_lost"] > ports["packets_arrived"], fabric.port_names, "port: more packets lost than arrived")
    _none(ports["queue_packets"] < 0, fabric.port_names, "port: a queue is negative")


def _flows_whole(raw: RawRecords) -> None:
    done = np.flatnonzero((raw.flows["received_ps"] >= 0) & (raw.flows["shared"] == 0))
    receive_next = raw.subs["receive_next"][raw.flows["winner"][done]]
    flows = {name: raw.flows[name][done] for name in ("mss_bytes", "last_segment_bytes", "n_segments", "flow_bytes")}
    delivered = (receive_next - 1) * flows["mss_bytes"] + flows["last_segment_bytes"]
    bad = (receive_next != flows["n_segments"]) | (delivered != flows["flow_bytes"])
    _none(bad, done, "finished flow: delivered bytes are not the bytes of the flow")
    shared = np.flatnonzero((raw.flows["received_ps"] >= 0) & (raw.flows["shared"] != 0))
    bad = raw.flows["data_next"][shared] != raw.flows["n_segments"][shared]
    _none(bad, shared, "finished flow: data segments are missing")
    bad = raw.flows["buffered"][shared] != 0
    _none(bad, shared, "finished flow: data segments are still in its receive buffer")


def _none(bad: Table, names: Sequence[str] | Table, text: str) -> None:
    if np.any(bad):
        raise ConservationError(f"{names[int(np.argmax(bad))]}: {text}")
