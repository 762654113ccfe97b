"""Streams of coding units: any sufficient packets in any order give the bytes back; damage never gives wrong ones."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsmodel import ParameterError
from capsmodel.codec import CodecError, PacketError, StreamDecoder, StreamEncoder, StreamIncomplete
from capsmodel.codec.packets import parse

KINDS = [("rs", 0), ("rs", 1), ("ldpc", 3), ("ldpc", 5), ("rlnc", 0), ("rlnc", 1)]
kinds = pytest.mark.parametrize(("code", "variant"), KINDS)


def coded(data, *, k=8, r=6, packet_bytes=16, code="rs", variant=None, rng=1, pieces=1):
    """Return the packets of a stream that is fed in pieces."""
    encoder = StreamEncoder(k=k, r=r, packet_bytes=packet_bytes, code=code, variant=variant, rng=rng)
    size = max(1, -(-len(data) // pieces))
    packets = [packet for at in range(0, len(data), size) for packet in encoder.feed(data[at : at + size])]
    return [*packets, *encoder.finish()]


def receiver(packets, **options):
    """Return a decoder of the stream that these packets are of."""
    return StreamDecoder(stream=parse(packets[0]).unit.stream, **options)


def received(packets, **options):
    decoder = receiver(packets, **options)
    data = b"".join(decoder.add(packet) for packet in packets)
    decoder.finish()
    return data


@kinds
@settings(max_examples=25)
@given(data=st.data())
def test_random_order_losses_and_repetitions(code, variant, data):
    """Two packets of each unit are lost: Reed-Solomon repairs that at r = 6, the others do or say what is missing."""
    source = data.draw(st.binary(max_size=600))
    packets = coded(source, code=code, variant=variant, pieces=data.draw(st.integers(1, 7)))
    units = Counter(parse(packet).unit.number for packet in packets)
    lost = {(unit, data.draw(st.integers(0, n - 1))) for unit, n in units.items() for _ in range(2)}
    kept = [p for p in packets if (parse(p).unit.number, parse(p).index) not in lost]
    kept += data.draw(st.lists(st.sampled_from(kept), max_size=10))
    kept = data.draw(st.permutations(kept))
    decoder = receiver(packets)
    delivered = b"".join(decoder.add(packet) for packet in kept)
    assert source.startswith(delivered)
    if code == "rs" or delivered == source:
        decoder.finish()
        assert delivered == source
    else:
        with pytest.raises(StreamIncomplete, match="more needed for k = "):
            decoder.finish()


def test_last_unit_is_as_short_as_its_bytes(subtests):
    for size, (code, variant) in product([0, 1, 15, 16, 17, 127, 128, 129, 256, 1000], KINDS):
        with subtests.test(size=size, code=code, variant=variant):
            source = np.random.default_rng(size).bytes(size)
            packets = coded(source, code=code, variant=variant)
            assert received(packets) == source
            whole, rest = divmod(size, 128)
            k_last = max(1, -(-rest // 16)) if rest or not size else 8
            whole -= 0 if rest or not size else 1
            assert len(packets) == whole * 14 + k_last + 6
            assert [parse(packet).unit.last for packet in packets] == [False] * whole * 14 + [True] * (k_last + 6)


def test_how_the_bytes_are_fed_changes_nothing():
    source = np.random.default_rng(3).bytes(5000)
    assert coded(source) == coded(source, pieces=1000) == coded(source, pieces=13)


def test_sender_holds_back_one_unit_and_receiver_none():
    encoder = StreamEncoder(k=4, r=2, packet_bytes=10, rng=1)
    decoder = StreamDecoder(stream=encoder.stream)
    source = bytes(range(200))
    for sent in range(0, 200, 40):
        packets = list(encoder.feed(source[sent : sent + 40]))
        assert len(packets) == (6 if sent else 0)
        assert b"".join(decoder.add(packet) for packet in packets) == source[max(0, sent - 40) : sent]
    assert b"".join(decoder.add(packet) for packet in encoder.finish()) == source[160:]


def test_packets_missing_are_counted_by_unit():
    packets = coded(bytes(1000), k=8, r=2, packet_bytes=16)
    numbered = {(parse(packet).unit.number, parse(packet).index): packet for packet in packets}
    kept = [p for (unit, index), p in numbered.items() if not (unit == 3 and index < 4) and unit != 5]
    with pytest.raises(StreamIncomplete) as short:
        received(kept)
    assert short.value.missing == {3: 2, 5: 1}
    assert "unit 3: 6 packets arrived, at least 2 more needed for k = 8" in str(short.value)
    assert "unit 5: no packet arrived" in str(short.value)


def test_end_of_the_stream_is_missed():
    packets = coded(bytes(1000), k=8, r=2, packet_bytes=16)
    with pytest.raises(StreamIncomplete, match="unit 7 and any after it") as short:
        received(packets[:70])
    assert short.value.missing == {7: 1}
    with pytest.raises(StreamIncomplete, match="unit 0 and any after it"):
        StreamDecoder(stream=1).finish()


def test_foreign_and_contradicting_packets_are_rejected_with_their_reason():
    mine, other = coded(bytes(500), rng=1), coded(bytes(500), rng=2)
    decoder = receiver(mine)
    decoder.add(mine[0])
    with pytest.raises(PacketError, match="it is foreign"):
        decoder.add(other[1])
    same_stream = coded(b"\1" * 500, rng=1)
    with pytest.raises(PacketError, match="contradicts other packets of unit 0"):
        decoder.add(same_stream[1])
    with pytest.raises(PacketError, match="foreign"):
        StreamDecoder(stream=5).add(mine[0])
    assert decoder.reception.used == 1


def test_packet_that_ends_the_stream_twice_is_rejected():
    short, long = coded(bytes(100), rng=1), coded(bytes(1000), rng=1)
    decoder = receiver(short)
    decoder.add(short[0])
    with pytest.raises(PacketError, match="contradicts the end of the stream, which is unit 0"):
        decoder.add(long[20])
    decoder = receiver(long)
    decoder.add(long[20])
    with pytest.raises(PacketError, match="claims to be the last"):
        decoder.add(short[0])


def test_window_bounds_the_units_held():
    packets = coded(bytes(128 * 40), k=8, r=1)
    decoder = receiver(packets, window_units=5)
    for packet in packets[9 : 5 * 9]:
        assert decoder.add(packet) == b""
    with pytest.raises(PacketError, match="unit 5 is beyond the window: unit 0 is not complete"):
        decoder.add(packets[5 * 9])
    for packet in packets[:7]:
        decoder.add(packet)
    assert len(decoder.add(packets[7])) == 5 * 128
    assert decoder.reception.units == 5


def test_wrong_unit_checksum_delivers_nothing():
    """Packets of two units under one header: no damage makes them, but a wrong sender can."""
    first, second = coded(bytes(128)), coded(b"\1" * 128)
    forged = [parse(packet) for packet in first[:4]] + [parse(packet) for packet in second[4:8]]
    decoder = receiver(first)
    for packet in forged[:7]:
        decoder.add_packet(type(packet)(forged[0].unit, packet.index, packet.payload))
    with pytest.raises(CodecError, match="another checksum than its sender's"):
        decoder.add_packet(type(forged[7])(forged[0].unit, forged[7].index, forged[7].payload))
    assert b"".join(decoder.add(packet) for packet in first) == bytes(128)


def test_counts_of_what_was_done():
    packets = coded(bytes(128 * 3), k=8, r=2)
    decoder = receiver(packets)
    for packet in [packets[0], *packets]:
        decoder.add(packet)
    done = decoder.reception
    assert (done.used, done.repeated, done.late, done.units, done.source_bytes) == (24, 1, 6, 3, 384)


def damaged(packet, others, rng):
    """Return the packet after one accident: flipped bits, a cut, growth, overwriting, or a foreign packet instead."""
    kind = rng.integers(5)
    data = bytearray(packet)
    if kind == 0:
        for bit in rng.choice(8 * len(data), rng.integers(1, 9), replace=False):
            data[bit // 8] ^= 1 << bit % 8
    elif kind == 1:
        del data[int(rng.integers(len(data))) :]
    elif kind == 2:
        data += rng.bytes(int(rng.integers(1, 20)))
    elif kind == 3:
        at = int(rng.integers(len(data)))
        data[at:] = rng.bytes(len(data) - at)
    else:
        data = bytearray(others[rng.integers(len(others))])
    return bytes(data)


@kinds
def test_800_corrupted_packets_and_no_wrong_byte(code, variant):
    """Three in ten packets are damaged or foreign, all are reordered within 40 places, some repeated."""
    rng = np.random.default_rng(11)
    corrupted = delivered = 0
    while corrupted < 800:
        source = rng.bytes(int(rng.integers(1, 3000)))
        packets = coded(source, code=code, variant=variant, r=8, rng=rng)
        others = coded(rng.bytes(400), code=code, variant=variant, rng=rng)
        sent = packets + [packets[i] for i in rng.integers(len(packets), size=5)]
        hit = rng.random(len(sent)) < 0.3
        arriving = [damaged(p, others, rng) if bad else p for p, bad in zip(sent, hit, strict=True)]
        order = np.argsort(np.arange(len(sent)) + rng.uniform(0, 40, len(sent)))
        decoder, data = receiver(packets), b""
        for at in order:
            if hit[at] and arriving[at] != sent[at]:
                corrupted += 1
                with pytest.raises(PacketError):
                    decoder.add(arriving[at])
            else:
                data += decoder.add(arriving[at])
                assert source.startswith(data)
        delivered += len(data)
        try:
            decoder.finish()
        except StreamIncomplete:
            assert len(data) < len(source)
        else:
            assert data == source
    assert delivered > 3000


def test_bad_parameters_are_refused_before_the_first_byte(subtests):
    cases = [
        ({"k": 0, "r": 1, "packet_bytes": 1}, "k = 0"),
        ({"k": 200, "r": 100, "packet_bytes": 1}, "smaller units"),
        ({"k": 4, "r": 4, "packet_bytes": 0}, "packet_bytes = 0"),
        ({"k": 2.0, "r": 1, "packet_bytes": 1}, r"k = 2\.0"),
        ({"k": 4, "r": True, "packet_bytes": 1}, "r = True"),
        ({"k": 4, "r": 4, "packet_bytes": 1, "variant": 9}, "variant = 9"),
        ({"k": 4, "r": 2, "packet_bytes": 1, "code": "ldpc"}, "n1 = 3"),
    ]
    for arguments, told in cases:
        with subtests.test(arguments=arguments, told=told), pytest.raises(ParameterError, match=told):
            StreamEncoder(**arguments)
