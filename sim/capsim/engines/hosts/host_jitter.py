"""A random delay between the transport and the NIC of a host, before each packet is sent (ns-2: ``overhead_``).

Without it the senders of a simulation share one perfect clock. The order of a host's packets does not change.
"""

from capsim.base.inlined import inlined
from capsim.base.randomness import MASK, mix, uniform


@inlined
def send_delay_ps(jitter_ps: int, seed: int, port: int, count: int) -> int:
    """Return the delay of packet number `count` that a host's port sends, uniform on [0, jitter_ps)."""
    return int(uniform(mix((seed + port) & MASK), count) * jitter_ps)
