"""Codes that decode all units of one pattern of loss in the same way, and what is kept of patterns that come again.

In a fabric the patterns repeat: a blocked path takes the same packets out of every unit. So the matrix work of a
pattern is done once and kept for the next units, as long as no more than `_KEPT_PATTERNS` others come between.
"""

import functools
from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from numba import types

from capsmodel._compilation import compiled
from capsmodel.codec.base import BlockCode
from capsmodel.codec.decoder import distinct
from capsmodel.codec.errors import Ints, Packets
from capsmodel.codec.inputs import check_range

_KEPT_PATTERNS = 512
_KEPT_PACKETS = 100  # of a unit; what is kept of a larger one takes more than some 50 KB
_LONG_BYTES = 8192  # of a packet that is worth a call of its own to copy


class Recovery(Protocol):
    """How to decode packets of given, different numbers that determine the source."""

    def run(self, received: Packets, source: Packets) -> None:
        """Fill `source`, shape (units, k, bytes), from `received`, shape (units, m, bytes)."""


class PatternCode(BlockCode):
    """A code whose decoding depends on the numbers of the packets alone, up to sums of packets."""

    @abstractmethod
    def recovery(self, numbers: Ints) -> Recovery:
        """Return how to decode packets of these numbers, all different, in this order.

        Raises
        ------
        NotEnoughPackets
            When they do not determine the source.
        """

    def _decode(self, received: Packets, numbers: Ints, source: Packets) -> None:
        kept = _kept(self, numbers.tobytes()) if self.n <= _KEPT_PACKETS else _checked(self, numbers)
        if kept is not None:
            kept.run(received, source)
            return
        for packets, target in zip(received, source, strict=True):
            once, ids = distinct(packets, numbers)
            self._decode(once[None], ids, target[None])


def _checked(code: PatternCode, numbers: Ints) -> Recovery | None:
    """Return how to decode packets of these numbers, or None when some repeat."""
    listed = check_range(numbers, n=code.n)
    return code.recovery(numbers) if len(set(listed)) == len(listed) else None


@functools.lru_cache(maxsize=_KEPT_PATTERNS)
def _kept(code: PatternCode, numbers: bytes) -> Recovery | None:
    return _checked(code, np.frombuffer(numbers, np.int64))


def _places(numbers: Ints, k: int) -> tuple[Ints, Ints]:
    """Return the place of each source packet among those received, 0 for a lost one, and which are lost."""
    place = np.full(k, -1)
    for i in range(numbers.size):
        if numbers[i] < k:
            place[numbers[i]] = i
    lost = np.flatnonzero(place < 0)
    place[lost] = 0
    return place, lost


@functools.cache
def _compiled_places() -> Any:
    ints = types.Array(types.int64, 1, "C")
    return compiled(_places, types.UniTuple(ints, 2)(ints.copy(readonly=True), types.intp))


class Placement:
    """Where received source packets go: those of a set of numbers, in the order received.

    Attributes
    ----------
    lost : array of int64
        Source packets that are not there.
    """

    def __init__(self, numbers: Ints, k: int) -> None:
        self._place, self.lost = _compiled_places()(numbers, k)

    def copy(self, received: Packets, source: Packets) -> None:
        """Copy what was received to `source`, shape (units, k, bytes); rows of lost packets get any bytes."""
        if source.shape[2] < _LONG_BYTES:  # one call, even though it fills the rows of lost packets as well
            received.take(self._place, 1, source, "clip")  # "clip" lets NumPy write to the output without a buffer
            return
        is_lost = set(self.lost.tolist())
        for number, place in enumerate(self._place.tolist()):
            if number not in is_lost:
                source[:, number] = received[:, place]
