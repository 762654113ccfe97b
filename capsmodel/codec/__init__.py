"""Packet-level erasure codes: bytes in, packets out, and back from any sufficient set of packets."""

from capsmodel.codec.base import BlockCode, CodecError, Decoder, NotEnoughPackets, PacketError
from capsmodel.codec.registry import CODES, get_code

__all__ = ["CODES", "BlockCode", "CodecError", "Decoder", "NotEnoughPackets", "PacketError", "get_code"]
