"""One coding unit on its way from packets to bytes, its checksum compared: what streams and files share."""

import numpy as np

from capsmodel.codec.crc32c import crc32c
from capsmodel.codec.errors import CodecError
from capsmodel.codec.headers import Unit
from capsmodel.codec.packets import Packet


class UnitDecoder:
    """Takes the packets of one unit and gives its bytes once they are determined and have the sender's checksum.

    Parameters
    ----------
    unit : Unit
        What the packets have in common.

    Raises
    ------
    PacketError
        When the unit describes no code.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        code = unit.block_code()
        self.reserved_bytes = unit.n * unit.packet_bytes + code.matrix_bytes(unit.k, unit.r)
        self._decoder = code.decoder()

    @property
    def received(self) -> int:
        """Different packets taken so far."""
        return self._decoder.received

    @property
    def missing(self) -> int:
        """How many more packets are needed at least."""
        return self._decoder.missing

    def add(self, packet: Packet) -> bytes | None:
        """Take one packet; return the unit's bytes once they are determined.

        Raises
        ------
        PacketError
            When other bytes were received under the packet's number.
        CodecError
            When the packets decode to bytes that lack the sender's checksum.
        """
        if not self._decoder.add(packet.index, packet.payload):
            return None
        data = self._decoder.source().tobytes()[: self.unit.source_bytes]
        if crc32c(data) != self.unit.unit_crc:
            raise CodecError(
                f"unit {self.unit.number} decoded to bytes with another checksum than its sender's: "
                "a packet is wrong, the unit must be received again"
            )
        return data

    def known_bytes(self) -> list[tuple[int, bytes]]:
        """Return the bytes that are known of a unit that lacks packets: where they begin in the unit, and they."""
        known, packets = self._decoder.known()
        size = self.unit.packet_bytes
        at = np.flatnonzero(known) * size
        return [
            (start, packet.tobytes()[: self.unit.source_bytes - start])
            for start, packet in zip(at.tolist(), packets, strict=True)
        ]
