"""Files of packets: round trip, damage anywhere in the file, and targets that are whole or untouched."""

import io

import numpy as np
import pytest

from capsmodel._files import atomic_writer
from capsmodel.codec import CodecError, PacketError, StreamEncoder, StreamIncomplete
from capsmodel.codec.files import decode_file, encode_file, read_packets
from capsmodel.codec.packets import HEADER_BYTES

KINDS = pytest.mark.parametrize(("code", "variant"), [("rs", None), ("ldpc", 5), ("rlnc", 0), ("rlnc", 1)])
PACKET_BYTES = 64


def packet_file(folder, size, *, code="rs", variant=None):
    """Write `size` random bytes and their packets; return both paths."""
    source, packets = folder / "source", folder / "source.caps"
    source.write_bytes(np.random.default_rng(size).bytes(size))
    encode_file(source, packets, StreamEncoder(k=8, r=8, packet_bytes=PACKET_BYTES, code=code, variant=variant, rng=1))
    return source, packets


@KINDS
@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 100_000])
def test_round_trip(tmp_path, code, variant, size):
    source, packets = packet_file(tmp_path, size, code=code, variant=variant)
    back = tmp_path / "back"
    result = decode_file(packets, back)
    assert back.read_bytes() == source.read_bytes()
    assert not result.rejected.count
    assert result.reception.source_bytes == size


@KINDS
def test_damaged_file_gives_the_right_bytes_or_none(tmp_path, code, variant):
    source, packets = packet_file(tmp_path, 5000, code=code, variant=variant)
    written = packets.read_bytes()
    rng = np.random.default_rng(5)
    outcomes = set()
    for trial in range(0, 120, 3):
        damaged = bytearray(written)
        for at in rng.integers(len(written), size=trial):
            damaged[at] = rng.integers(256)
        for at in rng.integers(len(written), size=trial % 4):
            if rng.random() < 0.5:
                del damaged[at : at + int(rng.integers(1, 200))]
            else:
                damaged[at:at] = rng.bytes(int(rng.integers(1, 200)))
        packets.write_bytes(damaged)
        back = tmp_path / f"back-{trial}"
        try:
            decode_file(packets, back)
        except StreamIncomplete:
            outcomes.add("incomplete")
            assert not back.exists()
        else:
            outcomes.add("decoded")
            assert back.read_bytes() == source.read_bytes()
    assert outcomes == {"incomplete", "decoded"}
    assert not list(tmp_path.glob(".*")), "a temporary file was left behind"


def test_reader_resumes_at_the_next_packet_and_gives_offsets(tmp_path):
    _, packets = packet_file(tmp_path, 2000)
    size = HEADER_BYTES + PACKET_BYTES
    data = bytearray(packets.read_bytes())
    data[3 * size + 50] ^= 1
    data[5 * size : 5 * size] = b"noise CAPS noise"
    found = list(read_packets(io.BytesIO(data)))
    wrong = [(offset, str(value)) for offset, value in found if isinstance(value, PacketError)]
    assert [offset for offset, _ in wrong] == [3 * size, 5 * size, 5 * size + 6]
    assert "the packet is damaged" in wrong[0][1]
    assert len(found) - len(wrong) == len(data) // size - 1


def test_reader_holds_little_of_a_long_file():
    class Zeros(io.RawIOBase):
        """A file of 64 MiB of zeros that is never in memory."""

        left = 1 << 26

        def read(self, size=-1):
            size = min(size, self.left)
            self.left -= size
            return bytes(size)

    ((offset, error),) = read_packets(Zeros())
    assert offset == 0
    assert "of this format with b'CAPS'" in str(error)


@pytest.mark.parametrize(("content", "told"), [(b"", "it is empty"), (b"plain text " * 20, "begins with b'plai'")])
def test_file_without_packets(tmp_path, content, told):
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(CodecError, match=told):
        decode_file(tmp_path / "text", tmp_path / "back")
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"old")

    def write_half():
        with atomic_writer(target) as file:
            file.write(b"half")
            raise RuntimeError("power fails")

    with pytest.raises(RuntimeError, match="power"):
        write_half()
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
    with atomic_writer(target) as file:
        file.write(b"new")
    assert target.read_bytes() == b"new"
