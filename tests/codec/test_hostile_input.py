"""Accidents and forgeries: no wrong file without a word, no trace of what is refused, no memory for headers alone."""

import io
import tracemalloc

import numpy as np
import pytest

from capsmodel.codec import CodecError, PacketError, StreamDecoder, StreamEncoder, StreamIncomplete
from capsmodel.codec.files import PacketIndex, decode_file, read_packets
from capsmodel.codec.packets import HEADER_BYTES, HEADER_DTYPE, Packet, Unit, parse, to_bytes
from capsmodel.codec.registry import MAX_MATRIX_BYTES, MAX_UNIT_BYTES


def coded(data, **options):
    """Return the stream's number and its packets."""
    encoder = StreamEncoder(**{"k": 8, "r": 4, "packet_bytes": 32, "rng": 1} | options)
    return encoder.stream, encoder.feed(data) + encoder.finish()


def forged(unit, index=0, **fields):
    """Return a packet of zeros under valid checksums."""
    unit = unit._replace(**fields)
    return to_bytes(Packet(unit, index, np.zeros(unit.packet_bytes, np.uint8)))


def decoded(tmp_path, packets, **options):
    (tmp_path / "in").write_bytes(b"".join(packets))
    result = decode_file(tmp_path / "in", tmp_path / "out", **options)
    return result, (tmp_path / "out").read_bytes()


DATA = np.random.default_rng(1).bytes(3000)


def test_file_that_holds_a_file_of_packets_is_not_mistaken_for_it(tmp_path):
    """One bit of the first outer packet flips, in header or payload: the stream carried is not the one decoded."""
    _, inner = coded(b"inner", rng=2)
    data = b"".join(inner) + DATA
    for damaged_byte in (30, HEADER_BYTES + 1):
        stream, outer = coded(data, packet_bytes=200)
        packets = [bytearray(packet) for packet in outer]
        packets[0][damaged_byte] ^= 1
        result, got = decoded(tmp_path, packets)
        assert (result.stream, got) == (stream, data)
        assert result.rejected.count >= 1


def test_stray_packet_of_another_stream_comes_first(tmp_path):
    _, stray = coded(b"x", k=1, r=0, rng=2)
    stream, packets = coded(DATA)
    result, got = decoded(tmp_path, [*stray, *packets])
    assert (result.stream, result.foreign, got) == (stream, 1, DATA)


def test_streams_without_majority_are_refused_until_one_is_named(tmp_path):
    (one, first), (two, second) = coded(DATA, rng=1), coded(DATA[::-1], rng=2)
    with pytest.raises(CodecError, match=f"several streams.*{one:016x}.*--stream"):
        decoded(tmp_path, [*first, *second])
    for stream, data in ((one, DATA), (two, DATA[::-1])):
        assert decoded(tmp_path, [*first, *second], stream=stream)[1] == data
    with pytest.raises(CodecError, match="no packet of stream 0000000000000005"):
        decoded(tmp_path, first, stream=5)
    assert not list(tmp_path.glob(".*"))


def test_a_damaged_payload_is_skipped_as_a_whole():
    _, inner = coded(b"inner", rng=2)
    _, outer = coded(b"".join(inner), packet_bytes=1000)
    outer[0] = outer[0][:-1] + bytes([outer[0][-1] ^ 1])
    found = [found for _, found in read_packets(io.BytesIO(b"".join(outer)))]
    assert isinstance(found[0], PacketError)
    assert all(isinstance(packet, Packet) for packet in found[1:])
    assert len(found) == len(outer)


UNIT = Unit(
    stream=7, number=0, code="rs", variant=0, k=4, r=4, packet_bytes=1, seed=0, source_bytes=4, unit_crc=1, last=False
)


def test_a_header_alone_takes_little_memory(subtests):
    """NumPy reports to tracemalloc what it reserves: room for the echelon form, but no tables."""
    cases = [
        {"code": "rlnc", "variant": 1, "k": 2000, "r": 2000, "source_bytes": 2000},
        {"code": "rlnc", "variant": 0, "k": 2000, "r": 2000, "source_bytes": 2000},
        {"code": "ldpc", "variant": 3, "seed": 1, "k": 3000, "r": 2500, "source_bytes": 3000},
        {"code": "rs", "k": 128, "r": 128, "source_bytes": 128},
    ]
    for fields in cases:
        with subtests.test(fields=fields):
            packets = [forged(UNIT, stream=7, number=number, **fields) for number in range(3)]
            decoder = StreamDecoder(stream=7)
            tracemalloc.start()
            for packet in packets:
                decoder.add(packet)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 4 * MAX_MATRIX_BYTES


@pytest.mark.parametrize(
    "fields",
    [
        {"code": "rlnc", "variant": 1, "k": 4096, "r": 12200, "source_bytes": 4096},
        {"code": "ldpc", "variant": 3, "seed": 1, "k": 30000, "r": 30000, "source_bytes": 30000},
    ],
)
def test_headers_beyond_the_limit_are_refused(fields):
    with pytest.raises(PacketError, match=r"coefficients of .* bytes, but the limit"):
        StreamDecoder(stream=7).add(forged(UNIT, **fields))


def test_units_held_are_bounded_in_bytes():
    size = 1 << 20
    one = UNIT._replace(k=100, r=100, packet_bytes=size, source_bytes=100 * size)
    decoder = StreamDecoder(stream=7, window_bytes=MAX_UNIT_BYTES)
    decoder.add(forged(one, number=1))
    with pytest.raises(PacketError, match="enlarge window_bytes"):
        decoder.add(forged(one, number=2))
    assert decoder.reception.beyond == 1
    decoder.add(forged(one, number=0))  # the next to deliver is taken in any case


def test_a_complete_unit_that_waits_keeps_no_packets():
    stream, packets = coded(DATA)
    decoder = StreamDecoder(stream=stream)
    for packet in packets[12:24]:
        decoder.add(packet)
    (entry,) = decoder._open.values()
    assert entry.reserved_bytes == 256


def test_noise_full_of_magics_takes_little_memory(tmp_path):
    (tmp_path / "noise").write_bytes(b"CAPS" * 12_500)
    tracemalloc.start()
    with pytest.raises(CodecError, match="holds no packet"):
        decode_file(tmp_path / "noise", tmp_path / "out")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 << 18


def test_rejections_are_counted_and_the_first_are_told():
    index = PacketIndex(io.BytesIO(b"CAPS" * 1000))
    assert index.rejected.count == 1000
    lines = index.rejected.lines()
    assert lines[1].startswith("offset 4: ")
    assert lines[-1] == "and 980 more"


def test_headers_that_announce_much_are_checksummed_once():
    """Each header announces 1 MiB; the reader goes on behind what it announces or, if it is damaged, reads no more."""
    one = UNIT._replace(packet_bytes=1 << 20, k=1, source_bytes=1 << 20)
    head = forged(one)[:HEADER_BYTES]
    found = list(read_packets(io.BytesIO(head * 4000)))
    assert len(found) == 1
    assert "truncated" in str(found[0][1])
    damaged = bytearray(head)
    damaged[28] ^= 1
    texts = {str(error) for _, error in read_packets(io.BytesIO(bytes(damaged) * 400))}
    assert all("header's checksum" in text for text in texts)


def test_refused_packet_leaves_no_trace():
    """A forged unit of one packet, marked as the last, does not decode; the stream goes on as if it had not come."""
    stream, packets = coded(DATA)
    unit = parse(packets[0]).unit
    decoder = StreamDecoder(stream=stream)
    with pytest.raises(CodecError, match="another checksum"):
        decoder.add(forged(unit, k=1, r=0, number=3, source_bytes=32, last=True))
    assert b"".join(decoder.add(packet) for packet in packets) == DATA
    decoder.finish()
    assert (decoder.reception.discarded, decoder.reception.used) == (1, 94)


def test_finish_names_what_is_missing_after_a_refused_end():
    stream, packets = coded(DATA)
    unit = parse(packets[0]).unit
    decoder = StreamDecoder(stream=stream)
    with pytest.raises(CodecError, match="another checksum"):
        decoder.add(forged(unit, k=1, r=0, number=0, source_bytes=32, last=True))
    with pytest.raises(StreamIncomplete, match="unit 0 and any after it: no packet arrived") as short:
        decoder.finish()
    assert short.value.missing == {0: 1}


def test_packets_beyond_the_window_are_not_called_lost():
    stream, packets = coded(DATA)
    decoder = StreamDecoder(stream=stream, window_units=2)
    refused = 0
    for packet in packets[12:]:
        try:
            decoder.add(packet)
        except PacketError:
            refused += 1
    assert decoder.reception.beyond == refused > 0
    with pytest.raises(StreamIncomplete, match=f"unit 2 and any after it: {refused} packets arrived beyond the window"):
        decoder.finish()


class TestEncoder:
    """What a sender is told, it does at once, and once."""

    def test_feeding_needs_nobody_to_iterate(self):
        encoder = StreamEncoder(k=2, r=1, packet_bytes=2, rng=1)
        encoder.feed(b"aaaa")
        packets = encoder.feed(b"bbbb") + encoder.finish()
        decoder = StreamDecoder(stream=encoder.stream)
        assert b"".join(decoder.add(packet) for packet in packets) == b"aaaabbbb"

    def test_a_finished_stream_stays_finished(self):
        encoder = StreamEncoder(k=2, r=1, packet_bytes=2)
        encoder.finish()
        for call in (encoder.finish, lambda: encoder.feed(b"more")):
            with pytest.raises(CodecError, match=f"stream {encoder.stream:016x} was finished"):
                call()

    def test_any_buffer_is_data_and_nothing_else(self):
        encoder = StreamEncoder(k=1, r=0, packet_bytes=4)
        encoder.feed(np.arange(3, dtype=np.uint16))
        assert encoder.source_bytes == 6
        with pytest.raises(ValueError, match="turn it into bytes first"):
            encoder.feed("text")
        with pytest.raises(ValueError, match="data is a list"):
            encoder.feed([1, 2])
        assert encoder.source_bytes == 6

    def test_repair_packets_change_from_unit_to_unit(self):
        encoder = StreamEncoder(k=2, r=1, packet_bytes=4)
        packets = encoder.feed(DATA[:9])
        encoder.set_repair_packets(3)
        packets += encoder.feed(DATA[9:17]) + encoder.finish()
        assert [parse(packet).unit.r for packet in packets] == [1] * 3 + [3] * 9
        decoder = StreamDecoder(stream=encoder.stream)
        assert b"".join(decoder.add(packet) for packet in packets) == DATA[:17]
        with pytest.raises(ValueError, match="r = -1"):
            encoder.set_repair_packets(-1)
        assert encoder.r == 3


class TestFormat:
    """What is written is what can be read."""

    def test_packet_that_cannot_be_written(self, subtests):
        cases = [
            (np.zeros(2, np.uint8), {}, 0, r"uint8 of shape \(2,\)"),
            (np.zeros(1, np.int16), {}, 0, "int16"),
            (np.zeros(1, np.uint8), {"number": 1 << 32}, 0, "does not fit the header"),
            (np.zeros(1, np.uint8), {"stream": -1}, 0, "does not fit the header"),
            (np.zeros(1, np.uint8), {}, 8, "packet number 8"),
        ]
        for payload, fields, index, told in cases:
            with (
                subtests.test(payload=payload, fields=fields, index=index, told=told),
                pytest.raises(ValueError, match=told),
            ):
                to_bytes(Packet(UNIT._replace(**fields), index, payload))

    def test_packets_are_compared_by_identity(self):
        packet = Packet(UNIT, 0, np.zeros(1, np.uint8))
        assert packet == packet
        assert packet != Packet(UNIT, 0, np.zeros(1, np.uint8))
        assert len({packet, packet}) == 1

    def test_capture_is_read_as_an_array(self):
        _, packets = coded(DATA)
        capture = np.frombuffer(b"".join(packets), np.dtype([("head", HEADER_DTYPE), ("payload", "u1", 32)]))
        assert capture["head"]["unit"].tolist() == [parse(packet).unit.number for packet in packets]
        assert capture["head"]["index"].tolist() == [parse(packet).index for packet in packets]
        assert capture["payload"][3].tobytes() == parse(packets[3]).payload.tobytes()


class TestPartial:
    """A file that lacks packets gives what it has, and says what it lacks."""

    def test_all_failing_units_are_named_however_many(self, tmp_path):
        _, packets = coded(DATA)
        kept = [packet for packet in packets if parse(packet).index >= 5 or parse(packet).unit.number == 4]
        with pytest.raises(StreamIncomplete, match=r"unit 0: 7 packets .*unit 10: 7 .*; and 1 more") as short:
            decoded(tmp_path, kept)
        assert short.value.missing == {unit: 1 for unit in range(12) if unit != 4}

    def test_what_is_missing_is_zero_and_listed(self, tmp_path):
        stream, packets = coded(DATA)
        place = {(parse(packet).unit.number, parse(packet).index): packet for packet in packets}
        lost = {(2, index) for index in (0, 1, 5, 8, 9)} | {(unit, index) for unit in (5, 6) for index in range(12)}
        rng = np.random.default_rng(3)
        kept = [packet for key, packet in place.items() if key not in lost]
        result, got = decoded(tmp_path, [kept[at] for at in rng.permutation(len(kept))], partial=True)
        assert result.missing_bytes == [(512, 576), (672, 704), (1280, 1792)]
        expected = bytearray(DATA)
        for first, end in result.missing_bytes:
            expected[first:end] = bytes(end - first)
        assert got == bytes(expected)
        assert (result.stream, result.end_is_missing) == (stream, False)
        assert result.reception.source_bytes == 3000 - 608

    def test_missing_end_is_told(self, tmp_path):
        _, packets = coded(DATA)
        result, got = decoded(tmp_path, packets[:60], partial=True)
        assert (got, result.end_is_missing, result.missing_bytes) == (DATA[:1280], True, [])

    def test_complete_file_lacks_nothing(self, tmp_path):
        _, packets = coded(DATA)
        result, got = decoded(tmp_path, packets[::-1], partial=True)
        assert (got, result.missing_bytes, result.end_is_missing) == (DATA, [], False)

    def test_wrong_unit_is_left_out_and_not_written(self, tmp_path):
        _, packets = coded(DATA)
        units = [parse(packet) for packet in packets]
        wrong = [to_bytes(Packet(p.unit, p.index, p.payload ^ 1)) if p.unit.number == 1 else to_bytes(p) for p in units]
        result, got = decoded(tmp_path, wrong, partial=True)
        assert result.missing_bytes == [(256, 512)]
        assert got == DATA[:256] + bytes(256) + DATA[512:]
        with pytest.raises(StreamIncomplete, match=r"unit 1: .* decode to bytes without its checksum"):
            decoded(tmp_path, wrong)

    def test_a_forged_number_does_not_fill_the_disk(self, tmp_path):
        stream, packets = coded(DATA)
        far = forged(parse(packets[0]).unit, number=1 << 31)
        with pytest.raises(CodecError, match="units 11 to 2147483647 have no packet"):
            decoded(tmp_path, [*packets[:132], far], partial=True)
        assert decoded(tmp_path, [*packets, far])[0].stream == stream  # behind the end that the stream names

    def test_the_header_of_most_packets_is_believed(self, tmp_path):
        _, packets = coded(DATA)
        liar = forged(parse(packets[0]).unit, r=9, number=3)
        result, got = decoded(tmp_path, [liar, *packets])
        assert got == DATA
        assert result.reception.units == 12


def test_a_header_alone_makes_no_check_matrix(tmp_path, monkeypatch):
    """A matrix takes milliseconds: of 49 bytes each, and a seed of its own, packets would take minutes a megabyte."""

    def made(*_, **__):
        raise AssertionError("a matrix was made")

    monkeypatch.setattr("capsmodel.codec.ldpc._matrix", made)
    encoder = StreamEncoder(k=100, r=50, packet_bytes=1, code="ldpc", rng=1)
    unit = Unit(encoder.stream, 0, "ldpc", 10, 100, 50, 1, 1, 100, 0, False)
    packets = [forged(unit, number=number, seed=number + 1) for number in range(20)]
    decoder = StreamDecoder(stream=encoder.stream)
    assert [decoder.add(packet) for packet in packets] == 20 * [b""]
    assert decoded(tmp_path, packets, partial=True)[0].missing_bytes
    unit = parse(packets[0]).unit
    assert not unit.block_code().determines(np.arange(99))
    with pytest.raises(AssertionError, match="was made"):
        unit.block_code().determines(np.arange(100))
