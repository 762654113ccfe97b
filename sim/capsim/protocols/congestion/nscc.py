r"""NSCC, the congestion control of Ultra Ethernet's senders (UET 1.0, 2025), by delays and marks, as htsim has it.

=============================== ============ ================================ ===================================
Quantity                        Symbol       Name                             Value
=============================== ============ ================================ ===================================
least round trip                RTT          ``own.subflow.base_ps``          that of the network, or less if seen
bandwidth-delay product         BDP          rate times RTT of the network
scale                           a            ``scale``                        BDP / 150,000 bytes
target of the delay             T            ``target_ps``                    0.75 of the network's RTT
delay of a packet               d            ``sub.rtt_ps`` - base            of each ACK
its mean                        D            ``own.subflow.mean_ps``          weight 0.0125 of the last
largest window                  W            1.5 rate times least RTT         and the first one
=============================== ============ ================================ ===================================

For an ACK of n bytes with the MSS s and window w, by what it says:

=================== =================================================================================================
no mark, d < T      w grows by 4 s a n (T - d) / (12 us w), but by n a / 4 once d < 1 us for a whole window
no mark, d >= T     w grows by 5 s a n / w
mark, d >= T        once an RTT: w falls to max(1 - 0.8 (D - T) / D, 0.5) w, where D > T
mark, d < T         nothing: its path is left
NACK of n bytes     w falls by n, D grows by a packet with a delay of the network's RTT
timer               w falls by what is lost
=================== =================================================================================================

The growth is collected and added once for 8 packets or an RTT; once an RTT 0.15 s a is added too. No window is below s
or above W.

**Quick adapt.** Each RTT + T of time, if a NACK came in it or d > 4 T, and less than W/8 was delivered, the window is
set to what was delivered. Then marks and NACKs are ignored until what was in flight has been answered.

The wait of a packet at its own host's NIC is no part of its delay (:mod:`~capsim.protocols.transports.uet`).

**Without delays.** With ``window = "ecn"`` marks alone decide, packet by packet, as with the ``dctcp`` of that
simulator: n bytes without a mark add s n / w, with one they take n / 3. NACKs, timer and bounds are the same; htsim has
no upper bound there.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.clock import BIT_PS_PER_BYTE_S
from capsim.base.inlined import inlined
from capsim.roles.components import Congestion
from capsim.roles.hooks import ACKED, EXPIRED, LOST, MARKED, OPENED

REFERENCE_BYTES, REFERENCE_PS = 150_000.0, 12_000_000.0  # 100 Gbit/s times 12 us, for which the constants are made
SHORT_PS = 1_000_000  # a delay below is none
WEIGHT, GAMMA, LEAST_SHARE = 0.0125, 0.8, 0.5
ALPHA, FAIR, ETA, FAST = 4.0, 5.0, 0.15, 0.25
STEP_PACKETS, GATE, LATE = 8, 8, 4
MARK_DIVISOR = 3.0


class Window(IntEnum):
    """By what the window follows acknowledgements."""

    NSCC = 0  # delays and marks
    ECN = 1  # marks


@dataclass(frozen=True, kw_only=True)
class NsccParams:
    """Parameters of NSCC.

    Parameters
    ----------
    rate_bps : int
        Rate of the hosts' links, in bit/s; a profile sets it.
    base_rtt_s : float
        The longest round trip of the idle network, in seconds; a profile sets it. The default is that of a leaf-spine
        with links of 1 Gbit/s and 12.5 us.
    target_share : float
        Target of the delay as a share of that round trip: 0.75 where switches trim, 1 where they do not.
    window_share : float
        Largest window over the bandwidth-delay product.
    window : Window
        By what the window follows acknowledgements: delays and marks, or marks alone.
    """

    rate_bps: Annotated[int, bounds.PACE_BPS] = 1_000_000_000
    base_rtt_s: Annotated[float, bounds.RTO_S] = 150e-6
    target_share: Annotated[float, bounds.FACTOR] = 0.75
    window_share: Annotated[float, bounds.FACTOR] = 1.5
    window: Window = Window.NSCC


@inlined
def largest_bytes(params: Any, memory: Any, sub: Any) -> float:
    """Return the largest window."""
    bdp_bytes = float(params.rate_bps) * float(memory.base_ps) / float(BIT_PS_PER_BYTE_S)
    return max(min(params.window_share * bdp_bytes, float(sub.max_window_bytes)), float(sub.mss_bytes))


@inlined
def scale(params: Any) -> float:
    """Return the bandwidth-delay product of the network over that of the reference."""
    return float(params.rate_bps) * float(params.base_rtt_ps) / (float(BIT_PS_PER_BYTE_S) * REFERENCE_BYTES)


@inlined
def target_ps(params: Any) -> float:
    """Return the target of the delay."""
    return max(params.target_share * float(params.base_rtt_ps), 1.0)


@inlined
def set_window(params: Any, memory: Any, sub: Any, window: float) -> None:
    """Set the window within its bounds, with what is beyond whole bytes kept."""
    window = min(max(window, float(sub.mss_bytes)), largest_bytes(params, memory, sub))
    sub.cwnd_bytes = int(window)
    memory.fraction = window - float(sub.cwnd_bytes)


@inlined
def window_of(memory: Any, sub: Any) -> float:
    """Return the window with its fraction of a byte."""
    return float(sub.cwnd_bytes) + memory.fraction


@inlined
def begin(params: Any, memory: Any, sub: Any) -> None:
    """Begin with the largest window."""
    memory.base_ps = params.base_rtt_ps
    set_window(params, memory, sub, largest_bytes(params, memory, sub))


@inlined
def note_delay(params: Any, memory: Any, delay_ps: int, marked: int) -> None:
    """Take a delay into the mean; a long one without a mark counts as a quarter of the least round trip."""
    sample = float(delay_ps)
    if not marked and sample > target_ps(params):
        sample = 0.25 * float(memory.base_ps)
    memory.mean_ps += WEIGHT * (sample - memory.mean_ps)


@inlined
def quick_adapt(params: Any, memory: Any, sub: Any, lost: int, marked: int, delay_ps: int, now_ps: int) -> bool:
    """Set the window to what was delivered if that is little; return whether this answer changes nothing else."""
    done = False
    if marked and memory.ignored_bytes < memory.to_ignore_bytes:
        done = True
    elif now_ps > memory.adapt_ps:
        called = memory.armed or lost or float(delay_ps) > LATE * target_ps(params)
        little = GATE * float(memory.achieved_bytes) < largest_bytes(params, memory, sub)
        if memory.adapt_ps and called and little:
            set_window(params, memory, sub, float(memory.achieved_bytes))
            memory.to_ignore_bytes = sub.flight_bytes
            memory.ignored_bytes = 0
            memory.armed = 0
            done = True
        memory.achieved_bytes = 0
        memory.adapt_ps = now_ps + memory.base_ps + int(target_ps(params))
    if done:
        memory.growth = 0.0
        memory.received_bytes = 0
    return done


@inlined
def grow_fast(params: Any, memory: Any, sub: Any, delay_ps: int) -> bool:
    """Open the window at once where a whole window of packets had no delay; return whether that is so."""
    if delay_ps >= SHORT_PS:
        memory.idle_bytes, memory.is_idle = 0, 0
        return False
    memory.idle_bytes += sub.newly_acked_bytes
    if not memory.is_idle and memory.idle_bytes <= sub.cwnd_bytes:
        return False
    memory.is_idle = 1
    set_window(params, memory, sub, window_of(memory, sub) + FAST * scale(params) * float(sub.newly_acked_bytes))
    return True


@inlined
def shrink(params: Any, memory: Any, sub: Any, now_ps: int) -> None:
    """Lower the window by how far the mean delay is above its target, once a round trip."""
    memory.idle_bytes, memory.is_idle = 0, 0
    above_ps = memory.mean_ps - target_ps(params)
    if above_ps > 0.0 and now_ps - memory.shrunk_ps > memory.base_ps:
        above = above_ps / max(memory.mean_ps, 1.0)
        share = max(1.0 - GAMMA * above, LEAST_SHARE)
        set_window(params, memory, sub, share * window_of(memory, sub))
        memory.shrunk_ps = now_ps


@inlined
def add_growth(params: Any, memory: Any, sub: Any, now_ps: int) -> None:
    """Add what has been collected, for some packets or a round trip."""
    waited_ps = now_ps - memory.grown_ps
    if memory.received_bytes <= STEP_PACKETS * sub.mss_bytes and waited_ps <= params.base_rtt_ps:
        return
    window = window_of(memory, sub)
    window += memory.growth / window
    if waited_ps >= params.base_rtt_ps:
        window += ETA * float(sub.mss_bytes) * scale(params)
        memory.grown_ps = now_ps
    set_window(params, memory, sub, window)
    memory.growth = 0.0
    memory.received_bytes = 0


@inlined
def take_ack(params: Any, memory: Any, sub: Any, marked: int, now_ps: int) -> None:
    """Answer to an ACK by its delay and its mark."""
    newly_bytes = sub.newly_acked_bytes
    memory.achieved_bytes += newly_bytes
    memory.received_bytes += newly_bytes
    memory.ignored_bytes += newly_bytes
    memory.base_ps = min(memory.base_ps, sub.rtt_ps)
    delay_ps = sub.rtt_ps - memory.base_ps
    note_delay(params, memory, delay_ps, marked)
    if quick_adapt(params, memory, sub, 0, marked, delay_ps, now_ps):
        return
    above_ps = float(delay_ps) - target_ps(params)
    step = float(sub.mss_bytes) * scale(params) * float(newly_bytes)
    if not marked and above_ps >= 0.0:
        memory.growth += FAIR * step
    elif not marked:
        if not grow_fast(params, memory, sub, delay_ps):
            memory.growth -= ALPHA * step * above_ps / REFERENCE_PS
    elif above_ps >= 0.0:
        shrink(params, memory, sub, now_ps)
    add_growth(params, memory, sub, now_ps)


@inlined
def follow_marks(params: Any, memory: Any, sub: Any, marked: int) -> None:
    """Answer to an ACK by its mark alone."""
    memory.base_ps = min(memory.base_ps, sub.rtt_ps)
    window, newly_bytes = window_of(memory, sub), float(sub.newly_acked_bytes)
    step = -newly_bytes / MARK_DIVISOR if marked else float(sub.mss_bytes) * newly_bytes / window
    set_window(params, memory, sub, window + step)


@inlined
def take_nack(params: Any, memory: Any, sub: Any, now_ps: int) -> None:
    """Answer to a NACK: its bytes leave the window."""
    memory.base_ps = min(memory.base_ps, sub.rtt_ps)
    memory.ignored_bytes += sub.lost_flight_bytes
    note_delay(params, memory, params.base_rtt_ps, 1)
    memory.armed = 1
    if not quick_adapt(params, memory, sub, 1, 1, 0, now_ps):
        set_window(params, memory, sub, window_of(memory, sub) - float(sub.lost_flight_bytes))


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Answer to an ACK, a NACK or the timer."""
    memory = own.subflow
    if signals & OPENED:
        begin(params, memory, sub)
    by_marks = params.window == Window.ECN
    if signals & ACKED:
        if by_marks:
            follow_marks(params, memory, sub, signals & MARKED)
        else:
            take_ack(params, memory, sub, signals & MARKED, now_ps)
    if signals & LOST and not by_marks:
        take_nack(params, memory, sub, now_ps)
    if signals & EXPIRED or (by_marks and signals & LOST):
        set_window(params, memory, sub, window_of(memory, sub) - float(sub.lost_flight_bytes))
    return 0


NSCC = Congestion(
    name="nscc",
    react=react,
    reads_marks=True,
    params=NsccParams(),
    memory={
        "subflow": (
            ("base_ps", "i8"),
            ("mean_ps", "f8"),
            ("fraction", "f8"),  # of a byte, that the window has beyond whole ones
            ("growth", "f8"),  # collected, times the window
            ("received_bytes", "i8"),  # since it was added
            ("grown_ps", "i8"),
            ("shrunk_ps", "i8"),
            ("idle_bytes", "i8"),  # answered in a row without delay
            ("is_idle", "i8"),  # 1: that is more than a window
            ("achieved_bytes", "i8"),  # delivered since quick adapt last ran
            ("adapt_ps", "i8"),  # when it looks next
            ("armed", "i8"),
            ("ignored_bytes", "i8"),
            ("to_ignore_bytes", "i8"),
        )
    },
)
