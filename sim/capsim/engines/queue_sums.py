"""The time integrals of a queue, in packets and in bytes: each packet adds the time that it was there.

A sum has two words, since a queue of millions of packets leaves int64 within minutes: the first stays below `WORD`, the
second counts how often that was taken off.
"""

from typing import Any

from capsim.bounds import WORD
from capsim.hooks import inlined

PS_PER_NS = 1000


@inlined
def count_sojourn(port: Any, packet: Any, until_ps: int) -> None:
    """Add a packet that was in the queue, or in service, until `until_ps`."""
    sojourn_ps = until_ps - packet.enqueue_ps
    port.sojourn_ps += sojourn_ps
    if port.sojourn_ps >= WORD:
        port.sojourn_ps -= WORD
        port.sojourn_words += 1
    port.sojourn_bytes_ns += sojourn_ps // PS_PER_NS * packet.bytes
    if port.sojourn_bytes_ns >= WORD:
        port.sojourn_bytes_ns -= WORD
        port.sojourn_bytes_words += 1
