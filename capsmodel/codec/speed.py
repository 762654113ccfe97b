"""How fast a code is on this machine: processor time to encode and to decode one unit, alone and as packets.

A time is the least mean of many short rounds, since other work on the machine only adds to it. Each call of a decode
meets losses as if for the first time, as random ones are; where whole paths lose packets, patterns come again, which a
Reed-Solomon code remembers and decodes faster. Headers and checksums of packets count where streams are measured.
"""

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np

from capsmodel.checks import generator, require
from capsmodel.codec.base import BlockCode, forget_patterns
from capsmodel.codec.inputs import Ints, Packets, whole_number
from capsmodel.codec.streams import StreamDecoder, StreamEncoder

Clock = Callable[[], float]
ROUND_S = 2e-3  # fits into a time slice of the scheduler
_TRIES = 64  # draws to find losses that a code decodes


@dataclass(frozen=True)
class UnitTime:
    """Processor time that a unit takes.

    Attributes
    ----------
    code
        Name of the code.
    action
        ``encode`` or ``decode``; ``stream encode`` or ``stream decode`` where packets with headers are made and taken.
    lost_packets
        Source packets that the decoder has to compute; 0 for ``encode``.
    unit_s
        Time of one unit, in seconds; None where the code does not decode such losses.
    """

    code: str
    action: str
    lost_packets: int
    unit_s: float | None


def least_mean_s(actions: Sequence[Callable[[], object]], *, seconds: float, clock: Clock = time.process_time) -> float:
    """Return the least mean time of an action over rounds of `ROUND_S`, in seconds.

    Parameters
    ----------
    actions : sequence of callable
        Called one after the other, again and again; before that once each, as a first call may compile.
    seconds : float
        How long to measure by `clock`; one round at least.
    clock : callable
        Returns the present time in seconds.

    Examples
    --------
    >>> ticks = iter(range(100))
    >>> least_mean_s([int], seconds=1.0, clock=lambda: next(ticks))
    1.0
    """
    for action in actions:
        action()
    turns, calls, least = cycle(actions), 1, float("inf")
    begin = clock()
    while True:
        started = clock()
        for _ in range(calls):
            next(turns)()
        round_s = clock() - started
        if round_s < ROUND_S / 2 and started - begin < seconds:
            calls *= 2
            continue
        least = min(least, round_s / calls)
        if started - begin >= seconds:
            return least


def patterns_of(unit_bytes: int) -> int:
    """Return how many different losses take turns in the measurement of a decode: 16, of large units fewer."""
    return max(1, min(16, 2**26 // unit_bytes))


def unit_times(
    code: BlockCode,
    *,
    lost: Iterable[int],
    seconds: float = 0.2,
    clock: Clock = time.process_time,
    rng: np.random.Generator | int | None = 1,
) -> Iterator[UnitTime]:
    """Yield how long a unit takes to encode, and to decode with so many source packets lost.

    Parameters
    ----------
    code : BlockCode
        With its k, r and packet length.
    lost : iterable of int
        Numbers of source packets that are lost, 1 to r each and at most k; repair packets take their place.
    seconds : float
        How long to measure each, in seconds.
    clock : callable
        Returns the present time in seconds; by default the processor time of this process.
    rng
        Source of the bytes and the losses, anything `numpy.random.default_rng` takes.

    Raises
    ------
    ParameterError
        When a number of lost packets is out of range, or the code has no repair packet.

    Examples
    --------
    >>> from capsmodel.codec import ReedSolomon
    >>> found = list(unit_times(ReedSolomon(4, r=2, packet_bytes=100), lost=[1, 2], seconds=1e-3))
    >>> [(each.action, each.lost_packets) for each in found]
    [('encode', 0), ('decode', 1), ('decode', 2)]
    """
    require(code.r > 0, "r = 0, but without a repair packet there is nothing to encode: give r of at least 1")
    most = min(code.k, code.r)
    counts = [whole_number("lost", count, minimum=1, maximum=most) for count in lost]
    draw = generator(rng)
    source = draw.integers(0, 256, (code.k, code.packet_bytes), dtype=np.uint8)
    repair = np.empty((code.r, code.packet_bytes), np.uint8)
    encode_s = least_mean_s([lambda: code.encode(source, repair)], seconds=seconds, clock=clock)
    yield UnitTime(code.name, "encode", 0, encode_s)
    coded = code.coded(source)
    for count in counts:
        actions = _decodes(code, coded, count, draw)
        unit_s = least_mean_s(actions, seconds=seconds, clock=clock) if actions else None
        yield UnitTime(code.name, "decode", count, unit_s)


def stream_times(
    code: str,
    *,
    k: int,
    r: int,
    packet_bytes: int,
    lost: int,
    seconds: float = 0.2,
    clock: Clock = time.process_time,
    rng: np.random.Generator | int | None = 1,
) -> Iterator[UnitTime]:
    """Yield how long a unit takes a :class:`StreamEncoder`, and a :class:`StreamDecoder` that lacks its first packets.

    Parameters
    ----------
    code : str
        Name of the code.
    k, r, packet_bytes : int
        Source and repair packets of a unit, and bytes of payload of each.
    lost : int
        Packets that do not arrive, the first of the unit, 0 to r.
    seconds, clock, rng
        As of :func:`unit_times`.

    Examples
    --------
    >>> [each.action for each in stream_times("rs", k=4, r=2, packet_bytes=100, lost=1, seconds=1e-3)]
    ['stream encode', 'stream decode']
    """
    data = generator(rng).bytes(k * packet_bytes)

    def sent() -> tuple[int, list[bytes]]:
        encoder = StreamEncoder(k=k, r=r, packet_bytes=packet_bytes, code=code, rng=1)
        return encoder.stream, encoder.feed(data) + encoder.finish()

    stream, packets = sent()

    def received() -> bool:
        forget_patterns()
        decoder = StreamDecoder(stream=stream)
        for packet in packets[lost:]:
            decoder.add(packet)
        return decoder.complete

    yield UnitTime(code, "stream encode", 0, least_mean_s([sent], seconds=seconds, clock=clock))
    decode_s = least_mean_s([received], seconds=seconds, clock=clock) if received() else None
    yield UnitTime(code, "stream decode", lost, decode_s)


def _decodes(code: BlockCode, coded: Packets, lost: int, draw: np.random.Generator) -> list[Callable[[], object]]:
    """Return decodes of units with different losses; none where the code does not decode such losses."""
    tried = (_received(code, lost, draw) for _ in range(_TRIES))
    count = patterns_of(code.k * code.packet_bytes)
    patterns = list(islice((ids for ids in tried if ids is not None), count))
    out = np.empty((code.k, code.packet_bytes), np.uint8)

    def decode(received: Packets, ids: Ints) -> None:
        forget_patterns()
        code.decode(received, ids, out)

    return [functools.partial(decode, coded[ids], ids) for ids in patterns]


def _received(code: BlockCode, lost: int, draw: np.random.Generator) -> Ints | None:
    """Return the numbers of the packets that a decoder takes: the source packets left, and as many others as it needs.

    None where even all of them do not decode.
    """
    left = np.sort(draw.permutation(code.k)[lost:])
    others = code.k + draw.permutation(code.r)
    for count in range(lost, code.r + 1):
        ids = np.concatenate([left, others[:count]]).astype(np.int64)
        if code.determines(ids):
            return ids
    return None
