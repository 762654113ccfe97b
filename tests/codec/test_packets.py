"""The packet format: its checksum, its layout byte by byte, and what is said of bytes that are no packet."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.codec import PacketError
from capsmodel.codec.packets import HEADER_BYTES, Header, Packet, Unit, crc32c, parse, to_bytes
from capsmodel.codec.registry import CODES, MAX_PACKET_BYTES

UNIT = Unit(
    stream=0x0123456789ABCDEF,
    number=7,
    code="ldpc",
    variant=5,
    k=32,
    r=8,
    packet_bytes=24,
    seed=99,
    source_bytes=32 * 24,
    unit_crc=0xCAFEBABE,
    last=True,
)
PACKET = Packet(UNIT, 33, np.arange(24, dtype=np.uint8))
WRITTEN = to_bytes(PACKET)


def signed(data):
    """Return the bytes of a packet with the checksum made to fit, as a wrong but undamaged sender would."""
    head_crc = crc32c(data[:26] + bytes(2) + data[28:44]) & 0xFFFF
    head = data[:26] + struct.pack(">H", head_crc) + data[28:44]
    return head + struct.pack(">I", crc32c(data[HEADER_BYTES:], crc32c(head))) + data[HEADER_BYTES:]


def changed(offset, replacement):
    return signed(WRITTEN[:offset] + replacement + WRITTEN[offset + len(replacement) :])


def test_checksum_of_rfc_3720(subtests):
    cases = [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(reversed(range(32))), 0x113FDB5C),
        (b"", 0),
    ]
    for data, checksum in cases:
        with subtests.test(data=data, checksum=checksum):
            assert crc32c(data) == checksum


@given(data=st.binary(max_size=200), cut=st.integers(0, 200))
def test_checksum_continues_and_equals_the_shift_register(data, cut):
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    assert crc32c(data) == register ^ 0xFFFFFFFF
    assert crc32c(data[cut:], crc32c(data[:cut])) == crc32c(data)


def test_header_byte_by_byte():
    head, tail = "43415053020205010123456789abcdef00000007002100200008", "000000180000006300000300cafebabe"
    head_crc = crc32c(bytes.fromhex(head + "0000" + tail)) & 0xFFFF
    assert WRITTEN[:44].hex() == f"{head}{head_crc:04x}{tail}"
    assert WRITTEN[44:48].hex() == f"{crc32c(WRITTEN[48:], crc32c(WRITTEN[:44])):08x}"
    assert WRITTEN[48:] == bytes(range(24))
    assert Header.read(WRITTEN).announced_bytes == len(WRITTEN) == HEADER_BYTES + 24


@given(data=st.data())
def test_any_packet_comes_back(data):
    code = data.draw(st.sampled_from(sorted(CODES)))
    k, r = data.draw(st.integers(1, 65000)), data.draw(st.integers(0, 535))
    packet_bytes = data.draw(st.integers(1, 64))
    unit = Unit(
        stream=data.draw(st.integers(0, 2**64 - 1)),
        number=data.draw(st.integers(0, 2**32 - 1)),
        code=code,
        variant=data.draw(st.sampled_from(sorted(CODES[code].variants))),
        k=k,
        r=r,
        packet_bytes=packet_bytes,
        seed=data.draw(st.integers(0, 2**31 - 2)),
        source_bytes=data.draw(st.integers((k - 1) * packet_bytes + 1, k * packet_bytes)),
        unit_crc=data.draw(st.integers(0, 2**32 - 1)),
        last=data.draw(st.booleans()),
    )
    payload = data.draw(st.binary(min_size=packet_bytes, max_size=packet_bytes))
    index = data.draw(st.integers(0, k + r - 1))
    back = parse(to_bytes(Packet(unit, index, np.frombuffer(payload, np.uint8))))
    assert (back.unit, back.index, back.payload.tobytes()) == (unit, index, payload)


def refusal(data):
    """Return the text with which bytes are refused as a packet, or none."""
    try:
        parse(bytes(data))
    except PacketError as error:
        return str(error)
    return ""


def test_any_flipped_bit_is_noticed():
    flipped = {bit: bytearray(WRITTEN) for bit in range(8 * len(WRITTEN))}
    for bit, damaged in flipped.items():
        damaged[bit // 8] ^= 1 << bit % 8
    assert [bit for bit, damaged in flipped.items() if not refusal(damaged)] == []


def test_any_truncation_is_called_so():
    assert [length for length in range(len(WRITTEN)) if "truncated" not in refusal(WRITTEN[:length])] == []


def test_what_is_wrong_is_said(subtests):
    cases = [
        (WRITTEN + b"\0", "followed by other bytes"),
        (b"HTTP" + WRITTEN[4:], "of this format with b'CAPS'"),
        (changed(4, b"\1"), "version 1"),
        (changed(5, b"\0"), "code number 0"),
        (changed(5, b"\4"), "code number 4"),
        (changed(7, b"\4"), "flags 0x4"),
        (WRITTEN[:26] + b"\0\1" + WRITTEN[28:], "header's checksum"),
        (changed(20, b"\0\x28"), "packet 40 of a unit with k = 32 and r = 8"),
        (changed(22, b"\0\0"), "k = 0"),
        (changed(28, bytes(4)), "payload of 0 bytes"),
        (changed(28, struct.pack(">I", MAX_PACKET_BYTES + 1)), "1 to 1048576 are allowed"),
        (changed(36, struct.pack(">I", 769)), "769 source bytes do not fill 32 packets"),
        (changed(36, struct.pack(">I", 31 * 24)), "744 source bytes do not fill 32 packets"),
        (WRITTEN[:-1] + b"\xff", "the packet is damaged, discard it"),
    ]
    for data, told in cases:
        with subtests.test(data=data, told=told), pytest.raises(PacketError, match=told):
            parse(data)


def test_headers_that_describe_no_code(subtests):
    cases = [
        ({"variant": 2}, "variant = 2, but ldpc has the variants 3, 4"),
        ({"seed": 0}, "seed = 0"),
        ({"r": 4}, "n1 = 5 ones do not fit"),
        ({"code": "rs", "variant": 0, "seed": 1}, "seed = 1, but the code rs has none"),
        ({"code": "rs", "variant": 0, "seed": 0, "k": 300}, "smaller units"),
        ({"code": "rlnc", "variant": 0, "seed": 65536}, "16 bits"),
        ({"packet_bytes": 1 << 20, "k": 1000}, "less k"),
        ({"k": 65535}, "16 bits"),
    ]
    for change, told in cases:
        with subtests.test(change=change, told=told), pytest.raises(PacketError, match=told):
            UNIT._replace(**change).block_code()
