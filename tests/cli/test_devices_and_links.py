"""Contract: no device is read, no device, pipe or link is replaced, and each error of the disk names its file."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from cli.commands import refused

from capsmodel._files import atomic_writer, file_to_write, read_text
from capsmodel.codec.files import decode_file, encode_file, lose_packets
from capsmodel.codec.streams import StreamEncoder

SMALL = "simulate --fabric leaf-spine:2x2x2 --flows 5 --load 0.5 --engine reference"
pytestmark = pytest.mark.linux
ENDLESS = "/dev/null"  # which a missing guard reads as an empty file; of /dev/zero it would read until memory is full


@pytest.mark.parametrize(
    "command",
    [
        "simulate --flow-file",
        "simulate --workload",
        "workloads",
        "study",
        "merge",
        "simulate",
        "compare --schemes ecmp",
        "simulate --fabric file:/dev/null,",
        "rerun",
        "codec encode --out x",
        "codec decode --out x",
        "codec inspect",
        "codec simulate-loss --paths 4 --blocked-paths 1",
    ],
)
def test_a_device_is_no_input(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = refused(f"{command}{'' if command[-1] == ',' else ' '}{ENDLESS}", capsys)
    assert "a device, which may have no end: name a file" in told or "no file '/dev/null'" in told, told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "call",
    [
        lambda there, out: encode_file(there, out, StreamEncoder(k=2, r=1, packet_bytes=100, rng=1)),
        decode_file,
        lambda there, out: lose_packets(
            there, out, draw=lambda *_: np.ones((1, 3), bool), rng=np.random.default_rng(1)
        ),
    ],
    ids=["encode", "decode", "lose"],
)
def test_the_codec_reads_no_device(call, tmp_path):
    with pytest.raises(OSError, match="a device, which may have no end"):
        call(Path(ENDLESS), tmp_path / "out")


@pytest.fixture
def kinds(tmp_path):
    """What may be where a file is to be written, and is none."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link_to_pipe").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    return [tmp_path / name for name in ("pipe", "link_to_pipe", "loop")]


@pytest.mark.parametrize(
    "command",
    [f"{SMALL} --pcap", "optimal-k 8 --plot", "codec encode data --force --out", "codec decode data --force --out"],
)
def test_what_is_no_file_is_not_replaced(command, kinds, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").write_bytes(bytes(5000))
    suffix = ".png" if "--plot" in command else ""
    for place in kinds:
        target = place.rename(place.with_name(place.name + suffix))
        if target.is_symlink():
            target.unlink()
            target.symlink_to(target.name if "loop" in target.name else f"pipe{suffix}")
        before = target.lstat()
        assert "a device or a pipe, which no file replaces: name a file" in refused(f"{command} {target}", capsys)
        assert (target.lstat().st_ino, target.lstat().st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_the_file_behind_it_is_written(there, tmp_path):
    """On its disk: what is half-written is beside the file, not beside the link."""
    (tmp_path / "disk").mkdir()
    target, link = tmp_path / "disk" / "target", tmp_path / "link"
    if there:
        target.write_bytes(b"old")
    link.symlink_to("disk/target")
    with atomic_writer(link) as file:
        file.write(b"new")
        assert len(list((tmp_path / "disk").glob(".target.*.part"))) == 1
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError), atomic_writer(tmp_path):
        pass


def test_an_absent_file_may_be_written(tmp_path):
    assert file_to_write(tmp_path / "none") == (tmp_path / "none").resolve()


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    """The system refuses a file that grows beyond a limit as it refuses one on a full disk."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="big") as refusal, atomic_writer(tmp_path / "big") as file:
            file.write(bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (refusal.value.errno, refusal.value.filename) == (errno.EFBIG, str(tmp_path / "big"))
    assert not list(tmp_path.iterdir())


def test_an_error_of_reading_names_the_file(capsys):
    """Of a process's memory the first page cannot be read."""
    place = Path("/proc/self/mem")
    with pytest.raises(OSError, match="mem") as refusal:
        read_text(place)
    assert (refusal.value.errno, refusal.value.filename) == (errno.EIO, str(place))
    assert "/proc/self/mem: Input/output error: check the name" in refused(f"simulate --flow-file {place}", capsys)
