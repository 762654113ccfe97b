"""The compiled engine, part 2: when a port has sent what is queued."""

from typing import Any

from capsim.bounds import BACKLOG_PS
from capsim.engines.faults import BACKLOG
from capsim.engines.host_jitter import send_delay_ps
from capsim.engines.jit import inline_into_hooks, inlined_kernel

inline_into_hooks(send_delay_ps)


@inlined_kernel
def transmission_ps(w: Any, port: Any, packet: Any) -> int:
    """Return the time that the packet occupies the link, rounded as in :func:`capsim.clock.serialisation_ps`."""
    wire_bytes = packet.bytes + w.link_bytes
    if port.byte_ps:
        return wire_bytes * port.byte_ps
    return (wire_bytes * 8_000_000_000_000 + port.rate_bps // 2) // port.rate_bps


@inlined_kernel
def ready_ps(w: Any, p: int, port: Any, enqueue_ps: int, count: int) -> int:
    """Return when a packet, sent as number `count` by this port, may leave at the earliest."""
    if w.host_jitter_ps == 0 or not port.of_host:
        return enqueue_ps
    return enqueue_ps + send_delay_ps(w.host_jitter_ps, w.jitter_seed, p, count)


@inlined_kernel
def extend_queue(w: Any, p: int, port: Any, packet: Any, now_ps: int) -> None:
    """Put off the time when the port has sent all that is queued by one more packet."""
    begin_ps = ready_ps(w, p, port, now_ps, port.packets_out + port.queue_packets - 1)
    port.free_ps = max(port.free_ps, begin_ps) + transmission_ps(w, port, packet)
    if port.free_ps > BACKLOG_PS and w.fault == 0:
        w.fault = BACKLOG + p
