"""Incremental decoders: packets of one coding unit go in one by one, in any order."""

from abc import ABC, abstractmethod

import numpy as np

from capsmodel.codec.base import BlockCode
from capsmodel.codec.errors import Flags, Ints, NotEnoughPackets, PacketError, Packets
from capsmodel.codec.inputs import check_id, check_packet


class Decoder(ABC):
    """Incremental decoder of one coding unit: packets go in one by one, in any order.

    A packet that repeats an earlier one is ignored; a packet with the number of an earlier one but other bytes
    raises. A packet that arrives when the unit is complete is ignored.

    Parameters
    ----------
    code : BlockCode
        The code that produced the packets.
    """

    def __init__(self, code: BlockCode) -> None:
        self.k, self.n, self.packet_bytes = code.k, code.n, code.packet_bytes
        self._systematic = code.systematic
        self._packets: Packets = np.empty((code.n, code.packet_bytes), np.uint8)
        self._held: Flags = np.zeros(code.n, np.bool_)
        self._received = 0

    def add(self, packet_id: int, packet: Packets) -> bool:
        """Take one packet, shape (packet_bytes,), and return True once the source is determined.

        Raises
        ------
        PacketError
            When the number or length is wrong, or other bytes were received under this number.
        """
        number = check_id(packet_id, n=self.n)
        row = check_packet(packet, packet_bytes=self.packet_bytes, packet_id=number)
        if self._held[number]:
            if not np.array_equal(self._packets[number], row):
                raise PacketError(f"packet {number} was received before with other bytes: one of the two is damaged")
        elif not self.complete:
            self._packets[number] = row
            self._held[number] = True
            self._received += 1
            self._absorb(number)
        return self.complete

    @property
    def complete(self) -> bool:
        """Whether the source is determined."""
        return self.missing == 0

    @property
    def received(self) -> int:
        """Different packets taken so far."""
        return self._received

    @property
    @abstractmethod
    def missing(self) -> int:
        """How many more packets are needed at least; 0 once the source is determined, never 0 before."""

    def source(self) -> Packets:
        """Return the source packets, shape (k, packet_bytes), as an array of their own.

        Raises
        ------
        NotEnoughPackets
            When the source is not yet determined.
        """
        if not self.complete:
            raise NotEnoughPackets(self.missing, received=self.received, k=self.k)
        return self._recover()

    def known(self) -> tuple[Flags, Packets]:
        """Return which source packets are known, shape (k,), and those packets, in order: all that a short unit gives.

        Examples
        --------
        >>> from capsmodel.codec import ReedSolomon
        >>> decoder = ReedSolomon(3, r=1, packet_bytes=1).decoder()
        >>> decoder.add(2, np.array([7], np.uint8))
        False
        >>> [found.tolist() for found in decoder.known()]
        [[False, False, True], [[7]]]
        """
        if self.complete:
            return np.ones(self.k, np.bool_), self.source()
        known = self._held[: self.k] & self._systematic
        return known, self._packets[: self.k][known]

    @abstractmethod
    def _absorb(self, number: int) -> None:
        """Account for packet `number`, now in ``self._packets[number]``; called once for each number."""

    @abstractmethod
    def _recover(self) -> Packets:
        """Return the source packets in a new array; called only when complete."""


def distinct(received: Packets, numbers: Ints) -> tuple[Packets, Ints]:
    """Return the packets of one unit without repetitions, and their numbers, ascending.

    Raises
    ------
    PacketError
        When two packets of one number differ.
    """
    first = np.unique(numbers, return_index=True)[1]
    place = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    place[numbers[first]] = first
    for number, packet in zip(numbers.tolist(), received, strict=True):
        if not np.array_equal(received[place[number]], packet):
            raise PacketError(f"packet {number} was received before with other bytes: one of the two is damaged")
    return received[first], numbers[first]
