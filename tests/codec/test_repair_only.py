"""Contract: repair packets beside the file that was coded restore it when bytes of it are wrong or its end is gone."""

import io

import numpy as np
import pytest
from cli.commands import ended, printed, refused
from hypothesis import given, settings
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.codec.files import decode_file, decodes, encode_file, read_packets
from capsmodel.codec.inputs import CodecError
from capsmodel.codec.packets import HEADER_BYTES, Packet, PayloadApart, parse
from capsmodel.codec.registry import build_code
from capsmodel.codec.rlnc import RandomLinear
from capsmodel.codec.streams import StreamEncoder, StreamIncomplete

SIZES = {"k": 5, "r": 3, "packet_bytes": 40}
UNIT_BYTES = SIZES["k"] * SIZES["packet_bytes"]


def encoded(data, folder, *, repair_only=True, **changes):
    """Write `data` to a file, and its repair packets beside it; return both."""
    (folder / "data").write_bytes(data)
    encoder = StreamEncoder(**SIZES | changes, rng=1, repair_only=repair_only)
    encode_file(folder / "data", folder / "data.caps", encoder)
    return folder / "data", folder / "data.caps"


def restored(packets, original, folder):
    decode_file(packets, folder / "back", original=original)
    return (folder / "back").read_bytes()


def random_bytes(size, seed=1):
    return np.random.default_rng(seed).bytes(size)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("repair")


def test_the_file_has_headers_of_source_packets_and_the_repair_packets_of_the_whole(folder):
    data = random_bytes(2 * UNIT_BYTES + 90)
    whole = encoded(data, folder, repair_only=False)[1].read_bytes()
    found = list(read_packets(io.BytesIO(encoded(data, folder)[1].read_bytes())))
    every = [packet for _, packet in read_packets(io.BytesIO(whole))]
    kinds = [isinstance(packet, PayloadApart) for _, packet in found]
    assert kinds == [packet.index < packet.unit.k for packet in every]
    assert sum(kinds) == 5 + 5 + 3
    for (_, packet), known in zip(found, every, strict=True):
        if isinstance(packet, Packet):
            assert (packet.unit, packet.index, packet.payload.tobytes()) == (
                known.unit,
                known.index,
                known.payload.tobytes(),
            )
    assert found[1][0] == HEADER_BYTES


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_it_restores_what_the_code_can_and_never_gives_other_bytes(data, folder):
    """A unit is restored if and only if its code decodes from the source packets that are undamaged and all repair."""
    code = data.draw(st.sampled_from(["rs", "ldpc", "rlnc"]))
    source = random_bytes(data.draw(st.integers(1, 4 * UNIT_BYTES)))
    (file, packets), encoder = encoded(source, folder, code=code), StreamEncoder(**SIZES, code=code)
    damaged = bytearray(source)
    for place in data.draw(st.lists(st.integers(0, len(source) - 1), max_size=8)):
        damaged[place] ^= data.draw(st.integers(1, 255))
    damaged = damaged[: data.draw(st.integers(max(0, len(source) - 100), len(source)))]
    damaged += data.draw(st.binary(max_size=3))
    file.write_bytes(damaged)
    fine = True
    for first in range(0, len(source), UNIT_BYTES):
        unit = source[first : first + UNIT_BYTES]
        k = -(-len(unit) // 40)
        blocks = [slice(at, min(at + 40, first + len(unit))) for at in range(first, first + len(unit), 40)]
        same = [source[block] == bytes(damaged[block]).ljust(len(source[block]), b"\0") for block in blocks]
        built = build_code(code, k=k, r=3, packet_bytes=1, variant=encoder.variant, seed=encoder.seed)
        fine &= bool(decodes(built, [same + [True] * 3])[0])
    if fine:
        assert restored(packets, file, folder) == source
    else:
        with pytest.raises(StreamIncomplete):
            restored(packets, file, folder)


def test_files_of_every_length_cut_at_the_end(subtests, folder):
    """The first bytes are wrong too; what was behind the end does not count."""
    cases = [0, 1, 39, 40, UNIT_BYTES - 1, UNIT_BYTES, UNIT_BYTES + 1, 7 * UNIT_BYTES]
    for kept in [0, 1, 2]:
        for size in cases:
            with subtests.test(kept=kept, size=size):
                source = random_bytes(size)
                file, packets = encoded(source, folder)
                file.write_bytes(
                    (bytes([source[0] ^ 1]) + source[1:-kept] if kept and size > kept else source) + b"more"[:kept]
                )
                assert restored(packets, file, folder) == source


def test_a_damaged_header_costs_its_packet_and_no_more(folder):
    """Header, checksum of the payload, or a repair packet: three of a unit may be gone."""
    source = random_bytes(2 * UNIT_BYTES)
    file, packets = encoded(source, folder)
    whole = bytearray(packets.read_bytes())
    for place in (10, HEADER_BYTES + 45, 5 * HEADER_BYTES + 60):
        whole[place] ^= 4
    packets.write_bytes(whole)
    assert restored(packets, file, folder) == source
    damaged = bytearray(source)
    damaged[120] ^= 1
    file.write_bytes(damaged)
    with pytest.raises(StreamIncomplete, match="unit 0: 4 packets arrived, at least 1 more needed for k = 5"):
        restored(packets, file, folder)


def test_bytes_put_in_move_all_behind_them_which_is_then_damaged(folder):
    source = random_bytes(3 * UNIT_BYTES)
    file, packets = encoded(source, folder)
    file.write_bytes(b"x" + source)
    with pytest.raises(StreamIncomplete, match="unit 0: 3 packets arrived"):
        restored(packets, file, folder)


def test_repair_packets_alone_are_enough_when_there_are_as_many(folder):
    source = random_bytes(500)
    packets = encoded(source, folder, r=5)[1]
    assert restored(packets, None, folder) == source


def test_what_needs_the_original_says_so_and_what_does_not_refuses_it(folder):
    file, packets = encoded(random_bytes(500), folder)
    with pytest.raises(
        CodecError, match=r"^the source packets are in the file that was coded: give it with --original$"
    ):
        restored(packets, None, folder)
    file, packets = encoded(random_bytes(500), folder, repair_only=False)
    with pytest.raises(ParameterError, match=r"has no packets beside .*data: it needs no original$"):
        restored(packets, file, folder)
    with pytest.raises(ParameterError, match=r"^all packets of rlnc are repair packets: none can be left out$"):
        encoded(b"", folder, code="rlnc", variant=RandomLinear.variant_of(systematic=False))


def test_a_packet_whose_payload_is_apart_is_no_packet_of_a_network(folder):
    data = encoded(random_bytes(500), folder)[1].read_bytes()
    with pytest.raises(PayloadApart, match="payload of packet 0 of unit 0 is in the file that was coded"):
        parse(data[:HEADER_BYTES])


# -- as commands


def test_commands_repair_a_file_in_its_place(tmp_path, capsys):
    source = random_bytes(100_000)
    file, packets = tmp_path / "film.bin", tmp_path / "film.bin.caps"
    file.write_bytes(source)
    printed(["codec", "encode", file, "--k", 20, "--r", 4, "--repair-only"], capsys)
    assert packets.stat().st_size == 16 * (1500 + 48) + 67 * 48
    file.write_bytes(source[:40_000] + bytes(3000) + source[43_000:99_000])
    listed = printed(["codec", "inspect", packets, "--original", file, "--json"], capsys)
    assert listed.count('"decodes": true') == 4
    assert "exists" in refused(["codec", "decode", packets, "--original", file], capsys)
    told = printed(["codec", "decode", packets, "--original", file, "--force"], capsys)
    assert "bytes 39000 to 40499 of the original are damaged" in told
    assert file.read_bytes() == source


def test_commands_say_what_cannot_be_repaired_and_write_the_rest(tmp_path, capsys):
    source = random_bytes(100_000)
    file, packets, back = tmp_path / "film.bin", tmp_path / "film.bin.caps", tmp_path / "back"
    file.write_bytes(source)
    printed(["codec", "encode", file, "--k", 20, "--r", 1, "--repair-only"], capsys)
    file.write_bytes(bytes(3000) + source[3000:])
    line = refused(["codec", "decode", packets, "--original", file, "--out", back], capsys)
    assert line.startswith("capsmodel: 1 of 4 units cannot be decoded (unit 0: 19 packets arrived, at least 1 more")
    assert ended(["codec", "decode", packets, "--original", file, "--out", back, "--partial"], capsys).status == 3
    assert back.read_bytes() == bytes(3000) + source[3000:]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--r", 0], "--repair-only with --r 0 would write no packet: give --r of at least 1"),
        (["--code", "rlnc", "--all-coded"], "all packets of rlnc are repair packets: none can be left out"),
    ],
)
def test_commands_refuse_what_has_no_repair_packets(options, told, tmp_path, capsys):
    (tmp_path / "data").write_bytes(b"data")
    line = refused(["codec", "encode", tmp_path / "data", "--repair-only", *options], capsys)
    assert line == f"capsmodel: {told}\n"
    assert not (tmp_path / "data.caps").exists()


def test_losses_leave_the_headers_in_the_file(tmp_path, capsys):
    """They are no packets, so none is lost: repair packets that arrive still restore the file."""
    file, packets, lossy, back = (tmp_path / name for name in ("data", "data.caps", "lossy", "back"))
    file.write_bytes(random_bytes(20_000))
    printed(["codec", "encode", file, "--repair-only", "--k", 10, "--r", 5], capsys)
    printed(["codec", "simulate-loss", packets, "--receptions", 20, "--blocking-prob", 0.5, "--out", lossy], capsys)
    assert lossy.stat().st_size < packets.stat().st_size
    printed(["codec", "decode", lossy, "--original", file, "--out", back], capsys)
    assert back.read_bytes() == file.read_bytes()
