"""Packet-level erasure codes: bytes in, packets out, and back from any sufficient set of packets."""

from capsmodel.codec.base import BlockCode, Decoder, decode_bytes, encode_bytes, join, split
from capsmodel.codec.inputs import CodecError, NotEnoughPackets, PacketError
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.reed_solomon import ReedSolomon
from capsmodel.codec.registry import CODES, get_code, register
from capsmodel.codec.rlnc import RandomLinear
from capsmodel.codec.streams import StreamDecoder, StreamEncoder, StreamIncomplete

__all__ = [
    "CODES",
    "BlockCode",
    "CodecError",
    "Decoder",
    "LdpcStaircase",
    "NotEnoughPackets",
    "PacketError",
    "RandomLinear",
    "ReedSolomon",
    "StreamDecoder",
    "StreamEncoder",
    "StreamIncomplete",
    "decode_bytes",
    "encode_bytes",
    "get_code",
    "join",
    "register",
    "split",
]
