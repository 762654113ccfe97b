r"""CUBIC (RFC 9438): after a loss the window grows as a cubic function of time, and never less than that of Reno.

=================================== ================= ============================ ===================
Quantity                            Symbol            Name                         Source
=================================== ================= ============================ ===================
window before the last reduction    cwnd_prior        ``own.subflow.cwnd_prior``   RFC 9438, 4.1.2
where the cubic function is flat    W_max             ``own.subflow.w_max``        RFC 9438, 4.2, 4.7
time until it gets there            K                 ``own.subflow.k_s``          RFC 9438, figure 2
window of AIMD(alpha, beta)         W_est             ``own.subflow.w_est``        RFC 9438, figure 4
=================================== ================= ============================ ===================

Windows are in segments. From t = 0 on, the first acknowledgement of congestion avoidance,
:math:`W_{cubic}(t) = C (t - K)^3 + W_{max}`. An acknowledgement of new data adds (target - cwnd)/cwnd, whatever it
acknowledges, where target is :math:`W_{cubic}(t + RTT)`, at least cwnd and at most 1.5 cwnd. Where
:math:`W_{cubic}(t) < W_{est}`, the Reno-friendly region, cwnd is W_est instead: alpha is 3 (1 - beta)/(1 + beta), with
which the mean window is that of Reno, and 1 once W_est has reached cwnd_prior.

In the first congestion avoidance after a timeout, or without any loss, K is 0 and W_max the window at its beginning.
Slow start is Reno's: no HyStart++ (RFC 9406), which section 4.10 recommends. Marks are not heeded, a reduction is not
undone where it was spurious (4.9), and time in which the receive window or grants limit a subflow counts (5.8).

At round trips of data centres the cubic function has hardly grown when the next loss comes. For a loss rate p its mean
window, :math:`1.054 (RTT/p)^{3/4}`, is above Reno's :math:`\sqrt{1.5/p}` in windows of more than
:math:`1.65/RTT^{1.5}` segments: 1.65 million at 100 us, 52 at 100 ms. Below, CUBIC is AIMD(0.53, 0.7): between losses
at regular distances its mean window is that of Reno's AIMD(1, 0.5). Between random losses it is 8% above, because W_est
grows by a segment a round trip beyond cwnd_prior.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.clock import PS_PER_S
from capsim.base.inlined import inlined
from capsim.protocols.congestion.reno import grow
from capsim.roles.components import Congestion
from capsim.roles.hooks import EXPIRED, EXPIRED_AGAIN, GROW, LOST


@dataclass(frozen=True, kw_only=True)
class CubicParams:
    """Parameters of CUBIC.

    Parameters
    ----------
    scaling : float
        C of RFC 9438, section 5, in segments per second cubed.
    decrease : float
        beta of RFC 9438, section 4.6: what remains of the window after a loss.
    fast_convergence : bool
        Whether W_max is lowered further where the window was still below it (RFC 9438, section 4.7).
    """

    scaling: Annotated[float, bounds.CUBIC_SCALING] = 0.4
    decrease: Annotated[float, bounds.RATIO] = 0.7
    fast_convergence: bool = True


@inlined
def cube_root(value: float) -> float:
    """Return the cube root of `value`, 0 of what is below 0, by Newton's method: the same bits in both engines."""
    if value <= 0.0:
        return 0.0
    scale = 1.0
    while value >= 8.0:
        value *= 0.125
        scale *= 2.0
    while value < 1.0:
        value *= 8.0
        scale *= 0.5
    root = 1.5
    for _ in range(6):
        root = (2.0 * root + value / (root * root)) / 3.0
    return root * scale


@inlined
def w_cubic(params: Any, memory: Any, t_s: float) -> float:
    """Return the cubic function, in segments, `t_s` seconds after congestion avoidance began (RFC 9438, figure 1)."""
    since_s = t_s - memory.k_s
    return params.scaling * since_s * since_s * since_s + memory.w_max


@inlined
def begin_epoch(params: Any, memory: Any, window: float, now_ps: int) -> None:
    """Begin congestion avoidance with `window` segments; W_max is 0 after a timeout or without a loss."""
    memory.epoch_ps = now_ps
    memory.w_est = window
    if memory.w_max == 0.0:
        memory.w_max = window
    if memory.cwnd_prior == 0.0:
        memory.cwnd_prior = window
    memory.k_s = cube_root((memory.w_max - window) / params.scaling)


@inlined
def grow_cubic(params: Any, memory: Any, sub: Any, now_ps: int) -> None:
    """Open the window in congestion avoidance (RFC 9438, sections 4.2 to 4.5)."""
    mss = float(sub.mss_bytes)
    window = (float(sub.cwnd_bytes) + memory.fraction) / mss
    if memory.epoch_ps == 0:
        begin_epoch(params, memory, window, now_ps)
    alpha = 1.0
    if memory.w_est < memory.cwnd_prior:
        alpha = 3.0 * (1.0 - params.decrease) / (1.0 + params.decrease)
    memory.w_est += alpha * (float(sub.newly_acked_bytes) / mss) / window
    t_s = float(now_ps - memory.epoch_ps) / float(PS_PER_S)
    if w_cubic(params, memory, t_s) < memory.w_est:
        window = memory.w_est
    else:
        target = w_cubic(params, memory, t_s + float(sub.srtt_ps) / float(PS_PER_S))
        window += (min(max(target, window), 1.5 * window) - window) / window
    window_bytes = min(window * mss, float(sub.max_window_bytes))
    sub.cwnd_bytes = int(window_bytes)
    memory.fraction = window_bytes - float(sub.cwnd_bytes)


@inlined
def reduce(params: Any, memory: Any, sub: Any) -> None:
    """Set ssthresh to beta of what was in flight, and W_max (RFC 9438, sections 4.6 and 4.7)."""
    window = float(sub.cwnd_bytes) / float(sub.mss_bytes)
    if params.fast_convergence and window < memory.w_max:
        memory.w_max = window * (1.0 + params.decrease) / 2.0
    else:
        memory.w_max = window
    memory.cwnd_prior = window
    sub.ssthresh_bytes = max(int(params.decrease * float(sub.lost_flight_bytes)), 2 * sub.mss_bytes)


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Grow as Reno in slow start, else by the cubic function; shrink after a loss, begin afresh after a timeout."""
    memory = own.subflow
    if signals & GROW:
        if sub.cwnd_bytes < sub.ssthresh_bytes:
            grow(sub)
        else:
            grow_cubic(params, memory, sub, now_ps)
    if signals & (LOST | EXPIRED):
        if not signals & EXPIRED_AGAIN:
            reduce(params, memory, sub)
        sub.cwnd_bytes = sub.ssthresh_bytes
        memory.epoch_ps = 0
        memory.fraction = 0.0
    if signals & EXPIRED:
        sub.cwnd_bytes = sub.mss_bytes
        memory.w_max = 0.0
    return 0


CUBIC = Congestion(
    name="cubic",
    react=react,
    params=CubicParams(),
    memory={
        "subflow": (
            ("epoch_ps", "i8"),  # when congestion avoidance began, or 0
            ("w_max", "f8"),  # 0 while the next congestion avoidance is to begin without it
            ("k_s", "f8"),
            ("w_est", "f8"),
            ("cwnd_prior", "f8"),
            ("fraction", "f8"),  # of a byte, that the window has beyond whole ones
        )
    },
)
