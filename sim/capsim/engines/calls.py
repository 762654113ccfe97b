"""The compiled engine: one call for each kind of hook, with the records that it takes out of ``w``."""

from typing import Any

from capsim.engines.jit import kernel
from capsim.engines.pointers import (
    accept_hook,
    admit_hook,
    bytes_array,
    choose_hook,
    collect_hook,
    conn_at,
    counters_at,
    emit_hook,
    estimator_at,
    expire_hook,
    generic_at,
    hear_hook,
    int32_array,
    observe_hook,
    open_hook,
    port_array,
    receive_hook,
    release_hook,
    send_hook,
    switch_at,
    unit_array,
)


@kernel
def choose(w: Any, row: int, packet: Any, first: int, count: int, now_ps: int, u0: float) -> Any:
    """Return which of the `count` candidates from `first` on the balancer of switch `row` chooses."""
    ports = port_array(w.ports, w.n_ports)
    candidates = int32_array(w.candidates + 4 * first, count)
    switch, state, conn = switch_at(w.switches, row), generic_at(w.balancer_state, row), conn_at(w.conns, packet.conn)
    return choose_hook(w.choose)(generic_at(w.balancer, 0), state, switch, conn, packet, ports, candidates, now_ps, u0)


@kernel
def admit(w: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int) -> Any:
    """Return the verdict of the queue discipline."""
    return admit_hook(w.admit)(generic_at(w.queue, 0), port, packet, queue_packets, queue_bytes)


@kernel
def open_conn(w: Any, conn: Any, now_ps: int) -> Any:
    """Open a connection."""
    return open_hook(w.open)(generic_at(w.transport, 0), conn, now_ps)


@kernel
def send(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Let the sending transport fill in its next packet, if it has one."""
    flags = bytes_array(w.segments, w.segment_bytes)
    return send_hook(w.send)(generic_at(w.transport, 0), conn, flags, packet, now_ps)


@kernel
def receive(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Deliver a packet to the receiving transport."""
    flags = bytes_array(w.segments, w.segment_bytes)
    return receive_hook(w.receive)(generic_at(w.transport, 0), conn, flags, packet, now_ps)


@kernel
def hear(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Deliver an acknowledgement to the sending transport."""
    flags = bytes_array(w.segments, w.segment_bytes)
    return hear_hook(w.hear)(generic_at(w.transport, 0), conn, flags, packet, now_ps)


@kernel
def expire(w: Any, conn: Any, now_ps: int) -> Any:
    """Let the retransmission timer fire."""
    flags = bytes_array(w.segments, w.segment_bytes)
    return expire_hook(w.expire)(generic_at(w.transport, 0), conn, flags, now_ps)


@kernel
def accept(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Offer a packet to the encoder."""
    estimator, units = estimator_at(w.estimators, conn.estimator), unit_array(w.units, w.n_units)
    counters = counters_at(w.counters, 0)
    return accept_hook(w.accept)(generic_at(w.coding, 0), conn, estimator, units, counters, packet, now_ps)


@kernel
def emit(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Let the encoder fill in its next packet, if it has one."""
    estimator, units = estimator_at(w.estimators, conn.estimator), unit_array(w.units, w.n_units)
    counters = counters_at(w.counters, 0)
    return emit_hook(w.emit)(generic_at(w.coding, 0), conn, estimator, units, counters, packet, now_ps)


@kernel
def collect(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Offer a packet to the decoder."""
    flags, units = bytes_array(w.segments, w.segment_bytes), unit_array(w.units, w.n_units)
    return collect_hook(w.collect)(generic_at(w.coding, 0), conn, flags, units, packet, now_ps)


@kernel
def release(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Let the decoder fill in the next packet that it delivers to the transport, if it has one."""
    flags, units = bytes_array(w.segments, w.segment_bytes), unit_array(w.units, w.n_units)
    return release_hook(w.release)(generic_at(w.coding, 0), conn, flags, units, packet, now_ps)


@kernel
def observe(w: Any, conn: Any, packet: Any, now_ps: int) -> Any:
    """Let the estimator of the blocking probability take the RTT of an acknowledgement."""
    estimator = estimator_at(w.estimators, conn.estimator)
    return observe_hook(w.observe)(generic_at(w.coding, 0), conn, estimator, packet, now_ps)
