"""Counts of queues: time integrals in packets and bytes, and histograms by layer of links and kind of packet.

Each packet adds the time that it was there. A sum has two words, since a queue of millions of packets leaves int64
within minutes: the first stays below `WORD`, the second counts how often that was taken off.

Bins of histograms, those of extents of reordering too, are logarithmic, two for each factor of two: bin 0 for 0, bin 1
for 1, then [2, 3), [3, 4), [4, 6), [6, 8), ...; the last has no end.
"""

from typing import Any

from capsim.base.bounds import WORD
from capsim.base.inlined import inlined
from capsim.records import BINS, CLASSES, CODED, CONTROL, DATA, QUANTITIES, TRIMMED

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


@inlined
def has_data(packet: Any) -> bool:
    """Return whether a packet carries data: it is no control packet and was not trimmed."""
    is_data = (packet.kind == DATA) | (packet.kind == CODED)  # no `or`: a processor would guess wrongly which
    return bool(is_data & (packet.flags & TRIMMED == 0))


@inlined
def log_bin(number: int, bins: int) -> int:
    """Return the bin of a whole number.

    Examples
    --------
    >>> [log_bin(number, 64) for number in (0, 1, 2, 3, 4, 5, 6, 7, 8)]
    [0, 1, 2, 3, 4, 4, 5, 5, 6]
    """
    if number < 2:
        return number
    power = 1
    while number >> (power + 1):
        power += 1
    return min(2 * power + ((number >> (power - 1)) & 1), bins - 1)


def edge(number: int) -> int:
    """Return the least number of a bin.

    Examples
    --------
    >>> [edge(number) for number in range(8)]
    [0, 1, 2, 3, 4, 6, 8, 12]
    """
    power, upper = divmod(number, 2)
    return number if number < 2 else (2 + upper) << (power - 1)


@inlined
def count_leaving(counts: Any, port: Any, packet: Any, is_short: int, waited_ps: int) -> None:
    """Count a packet that leaves a queue: how long it waited, in nanoseconds, and the bytes that it leaves behind."""
    kind = is_short if packet.kind == DATA or packet.kind == CODED else CONTROL
    place = QUANTITIES * BINS * (CLASSES * port.layer + kind)
    counts[place + log_bin(waited_ps // PS_PER_NS, BINS)] += 1
    counts[place + BINS + log_bin(port.queue_bytes, BINS)] += 1
