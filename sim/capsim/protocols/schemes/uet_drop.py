"""A transport like Ultra Ethernet's over switches that drop: what `uet` does without trimming.

Nothing tells of a lost packet before its timer, unless `late_windows` is set (htsim's ``-disable_trim``, without and
with ``-sleek``). Ports have five bandwidth-delay products, the target of NSCC is a whole round trip, and the timer is
that of six such ports.
"""

from dataclasses import replace

from capsim.protocols.schemes import uet

LIMIT = 5 * uet.BDP
TIMER_S = 15e-6 + 6 * LIMIT * 8 / 1e9
TRANSPORT, CONGESTION, QUEUE = uet.STACK.transport, uet.STACK.congestion, uet.SCHEME.queue
STACK = replace(
    uet.STACK,
    transport=replace(TRANSPORT, params=replace(TRANSPORT.params, min_rto_s=TIMER_S)),
    congestion=replace(CONGESTION, params=replace(CONGESTION.params, target_share=1.0)),
)
SCHEME = replace(
    uet.SCHEME,
    name="uet_drop",
    summary="as uet over ports that drop: losses found by a timer",
    short=STACK,
    long=STACK,
    queue=replace(QUEUE, params=replace(QUEUE.params, limit_bytes=LIMIT, trim_bytes=0)),
)
