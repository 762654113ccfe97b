"""Contract: ``capsmodel codec`` codes and decodes files, and says in one line what it refuses."""

import errno
import json
import os
import sys
from io import BytesIO, TextIOWrapper
from threading import Thread

import numpy as np
import pytest
from cli.commands import printed, refused

import capsmodel as cm
from capsmodel.cli import main
from capsmodel.codec.packets import parse, to_bytes


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(np.random.default_rng(1).bytes(20_000))
    return path


OPTIONS = [
    "--code rs --convention backblaze",
    "--code rlnc --density 9",
    "--code rs",
    "--code rs --convention zfec",
    "--code ldpc --n1 4 --seed 7",
    "--code rlnc",
    "--code rlnc --all-coded",
]


@pytest.mark.parametrize("options", OPTIONS)
def test_encode_lose_decode(options, source, tmp_path, capsys):
    packets, lossy, back = (tmp_path / name for name in ("p.caps", "lossy.caps", "back.bin"))
    sizes = "--k 10 --r 10 --packet-size 500B"
    printed(["codec", "encode", source, *options.split(), *sizes.split(), "--out", packets], capsys)
    loss = ["--blocking-prob", "0.1", "--receptions", "50", "--seed", "3"]
    printed(["codec", "simulate-loss", packets, *loss, "--out", lossy], capsys)
    assert lossy.stat().st_size < packets.stat().st_size
    printed(["codec", "decode", lossy, "--out", back], capsys)
    assert back.read_bytes() == source.read_bytes()


def test_inspect_lists_the_header_of_every_unit(source, tmp_path, capsys):
    packets = tmp_path / "p.caps"
    options = [
        "--k",
        "10",
        "--r",
        "5",
        "--packet-size",
        "1000B",
        "--code",
        "ldpc",
        "--n1",
        "5",
        "--seed",
        "9",
        "--stream-seed",
        "1",
    ]
    printed(["codec", "encode", source, *options, "--out", packets], capsys)
    rows = json.loads(printed(["codec", "inspect", packets, "--json"], capsys))
    assert [row["unit"] for row in rows] == [0, 1]
    for row in rows:
        header = {name: row[name] for name in ("code", "variant", "k", "r", "packet_bytes", "source_bytes", "seed")}
        assert header == {
            "code": "ldpc",
            "variant": "n1=5",
            "k": 10,
            "r": 5,
            "packet_bytes": 1000,
            "source_bytes": 10_000,
            "seed": 9,
        }
        assert (row["arrived_packets"], row["repeated_packets"], row["decodes"]) == (15, 0, True)
    assert [row["last"] for row in rows] == [False, True]
    packets.write_bytes(packets.read_bytes()[: 9 * 1048] + b"xyz")
    assert "truncated" in printed(["codec", "inspect", packets], capsys)


def test_loss_table_holds_the_closed_forms(source, tmp_path, capsys):
    printed(["codec", "encode", source, "--k", 10, "--r", 4, "--packet-size", "500B", "--out", tmp_path / "p"], capsys)
    options = ["--paths", "40", "--blocked-paths", "8", "--receptions", "2000", "--json"]
    (row,) = json.loads(printed(["codec", "simulate-loss", tmp_path / "p", *options], capsys))
    assert row["decode_prob"] == cm.decode_prob(10, r=4, blocking_prob=0.2)
    assert row["decode_prob_rlnc"] == cm.decode_prob_rlnc(10, r=4, blocking_prob=0.2)
    assert abs(row["decoded_ratio"] - row["decode_prob"]) < 4 * row["standard_error"]


def test_same_rng_same_file(source, tmp_path, capsys):
    for name in "ab":
        printed(["codec", "encode", source, "--stream-seed", 5, "--out", tmp_path / name], capsys)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_default_names_and_existing_files(source, capsys):
    printed(["codec", "encode", source], capsys)
    packets = source.with_name("data.bin.caps")
    assert "exists" in refused(["codec", "decode", packets], capsys)
    content = source.read_bytes()
    source.write_bytes(b"old")
    printed(["codec", "decode", packets, "--force"], capsys)
    assert source.read_bytes() == content


def test_too_few_packets(source, tmp_path, capsys):
    packets = tmp_path / "p.caps"
    printed(["codec", "encode", source, "--k", 10, "--r", 0, "--packet-size", "1000B", "--out", packets], capsys)
    packets.write_bytes(packets.read_bytes()[2 * 1048 :])
    line = refused(["codec", "decode", packets, "--out", tmp_path / "back"], capsys)
    told = "1 of 2 units cannot be decoded (unit 0: 8 packets arrived, at least 2 more needed for k = 10)"
    assert line == f"capsmodel: {told}; --partial writes the rest, codec inspect lists all\n"
    assert not (tmp_path / "back").exists()


def test_units_of_which_nothing_arrived_count_as_undecoded(source, tmp_path, capsys):
    """Catches a count of gaps, of which each may hold several units: 1 and 2, 9 at the end; half of 4 is there."""
    packets = tmp_path / "p.caps"
    printed(["codec", "encode", source, "--k", 2, "--r", 0, "--packet-size", "1000B", "--out", packets], capsys)
    data = packets.read_bytes()
    packets.write_bytes(data[: 2 * 1048] + data[6 * 1048 : 9 * 1048] + data[10 * 1048 : -2 * 1048])
    line = refused(["codec", "decode", packets, "--out", tmp_path / "back"], capsys)
    assert "4 of 10 units cannot be decoded (units 1 to 2: no packet arrived); --partial" in line


def test_bad_input_ends_in_one_line(source, subtests, capsys, monkeypatch):
    monkeypatch.chdir(source.parent)
    cases = [
        ("encode FILE --k 0", "k = 0"),
        ("encode FILE --k 250 --r 50", "smaller units"),
        ("encode FILE --code ldpc --r 2", "n1 = 3"),
        ("encode FILE --code ldpc --n1 20", "n1 3, 4, 5"),
        ("encode FILE --n1 3", "--n1 belongs to --code ldpc"),
        ("encode FILE --all-coded", "--all-coded belongs to --code rlnc"),
        ("encode FILE --convention fermat", "cauchy, zfec"),
        ("encode FILE --code rlnc --density 16", "density 15, 14"),
        ("encode FILE --k 2.7", "'2.7' is not a whole number"),
        ("encode FILE --seed 2.7", "'2.7' is not a whole number"),
        ("encode FILE --stream-seed -1", "--stream-seed = -1"),
        ("encode FILE --out .", ". is a folder"),
        ("encode .", ". is a folder"),
        ("encode ..", ".. is a folder"),
        ("decode .", ". is a folder"),
        ("decode / --out out", "/ is a folder"),
        ("inspect .", ".: Is a directory"),
        ("decode FILE --out out --stream xyz", "16 hexadecimal digits"),
        ("encode FILE --packet-size 2000000B", "1048576"),
        ("encode FILE --code raptor", "--code"),
        ("encode FILE --out FILE", "is the input"),
        ("encode nosuch", "nosuch"),
        ("decode FILE --out out", "holds no packet"),
        ("decode nosuch --out out", "nosuch"),
        ("inspect FILE", "holds no packet"),
        ("simulate-loss FILE", "holds no packet"),
        ("simulate-loss FILE --blocking-prob 2 --out x", "--blocking-prob: 2 is no probability: 2% is 0.02"),
        ("simulate-loss FILE --paths 4", "--blocked-paths"),
        ("simulate-loss FILE --paths 0 --blocked-paths 0", "--paths = 0"),
        ("simulate-loss FILE --paths 4 --blocked-paths 1 --blocking-prob 0.1", "exclude each other"),
        ("simulate-loss FILE --spread in-turn", "--paths"),
    ]
    for line, message in cases:
        with subtests.test(line=line):
            words = [str(source) if word == "FILE" else word for word in line.split()]
            assert message in refused(["codec", *words], capsys)
            assert [path.name for path in source.parent.iterdir()] == [source.name]


def test_stream_is_named_by_its_number(source, tmp_path, capsys):
    streams = {}
    for rng in (1, 2):
        packets = tmp_path / f"{rng}.caps"
        printed(["codec", "encode", source, "--stream-seed", rng, "--out", packets], capsys)
        (streams[rng],) = {
            row["stream"] for row in json.loads(printed(["codec", "inspect", packets, "--json"], capsys))
        }
    both, back = tmp_path / "both", tmp_path / "back"
    both.write_bytes((tmp_path / "1.caps").read_bytes() + (tmp_path / "2.caps").read_bytes())
    assert streams[1] in refused(["codec", "decode", both, "--out", back], capsys)
    told = printed(["codec", "decode", both, "--out", back, "--stream", streams[2]], capsys)
    assert f"stream {streams[2]}" in told
    assert "22 of other streams" in told
    assert back.read_bytes() == source.read_bytes()


def test_partial_result_lists_what_is_missing(source, tmp_path, capsys):
    packets, back = tmp_path / "p.caps", tmp_path / "back"
    printed(["codec", "encode", source, "--k", 10, "--r", 0, "--packet-size", "1000B", "--out", packets], capsys)
    packets.write_bytes(packets.read_bytes()[2 * 1048 : -1048])
    with pytest.raises(SystemExit) as stop:
        main(["codec", "decode", str(packets), "--partial", "--out", str(back)])
    told = capsys.readouterr().out
    assert stop.value.code == 3
    assert told.startswith(f"wrote {back}: 20000 bytes, 17000 of them known, from ")
    assert "3000 bytes in 2 ranges are missing" in told
    assert "  bytes 0 to 1999\n  bytes 19000 to 19999\n" in told
    assert back.read_bytes() == bytes(2000) + source.read_bytes()[2000:19000] + bytes(1000)


@pytest.mark.parametrize(("kept", "status"), [((10, 10), None), ((10, 2), 3), ((10, 0), 3), ((2, 2), 4), ((2, 0), 4)])
def test_the_status_of_a_partial_result_says_how_much_is_known(kept, status, source, tmp_path, capsys):
    """Two units of ten packets, each of them a random combination, so that two packets of a unit tell nothing."""
    packets, unit_bytes = tmp_path / "p.caps", 10 * (48 + 100)
    source.write_bytes(bytes(2000))
    options = ["--k", 10, "--r", 0, "--code", "rlnc", "--all-coded", "--packet-size", "100B"]
    printed(["codec", "encode", source, *options, "--out", packets], capsys)
    stream = packets.read_bytes()
    assert len(stream) == 2 * unit_bytes
    units = stream[:unit_bytes], stream[unit_bytes:]
    packets.write_bytes(b"".join(unit[: count * unit_bytes // 10] for unit, count in zip(units, kept, strict=True)))
    with pytest.raises(SystemExit) as stop:
        main(["codec", "decode", str(packets), "--partial", "--out", str(tmp_path / "back")])
    assert stop.value.code == status or (status is None and stop.value.code == 0)
    capsys.readouterr()


def test_standard_input_and_output(source, capsysbinary, monkeypatch):
    """Status goes to standard error, so that the result can be piped on."""
    data = source.read_bytes()
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))
    with pytest.raises(SystemExit):
        main(["codec", "encode", "-"])
    packets, told = capsysbinary.readouterr()
    assert told.startswith(b"wrote -: ")
    assert len(packets) > len(data)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(packets)))
    with pytest.raises(SystemExit):
        main(["codec", "decode", "-"])
    decoded, told = capsysbinary.readouterr()
    assert told.startswith(b"wrote -: ")
    assert decoded == data


@pytest.mark.linux
@pytest.mark.parametrize("command", ["encode", "decode", "inspect", "simulate-loss"])
def test_a_device_that_never_ends_is_refused(command, tmp_path, capsys):
    out = [] if command == "inspect" else ["--out", tmp_path / "out"]
    line = refused(["codec", command, "/dev/zero", *out], capsys)
    assert "/dev/zero: a device, which may have no end: name a file" in line


@pytest.mark.linux
def test_a_pipe_with_a_name_is_read_to_its_end(source, tmp_path, capsys):
    packets, pipe, back = (tmp_path / name for name in ("p.caps", "pipe", "back"))
    printed(["codec", "encode", source, "--out", packets], capsys)
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_bytes(packets.read_bytes()))
    writer.start()
    printed(["codec", "decode", pipe, "--out", back], capsys)
    writer.join()
    assert back.read_bytes() == source.read_bytes()


def test_units_that_make_no_code_are_listed_with_the_others(source, tmp_path, capsys):
    packets = tmp_path / "p.caps"
    printed(["codec", "encode", source, "--k", 10, "--r", 5, "--packet-size", "1000B", "--out", packets], capsys)
    packet = parse(packets.read_bytes()[:1048])
    forged = [packet.unit._replace(number=7, variant=99), packet.unit._replace(number=8, k=300, source_bytes=300_000)]
    with packets.open("ab") as file:
        file.writelines(to_bytes(type(packet)(unit, 0, packet.payload)) for unit in forged)
    rows = json.loads(printed(["codec", "inspect", packets, "--json"], capsys))
    assert [(row["unit"], row["decodes"]) for row in rows] == [(0, True), (1, True), (7, None), (8, None)]
    assert rows[2]["variant"] == "unknown=99"
    assert "rs has the variants 0, 1, 2, 3" in rows[2]["problem"]
    assert "smaller units" in rows[3]["problem"]


def test_a_full_disk_is_told_without_none(source, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    line = refused(["codec", "encode", source, "--out", tmp_path / "p"], capsys)
    assert f"{tmp_path / 'p'}: No space left on device: free some space" in line


@pytest.mark.agreement
def test_losses_of_large_units_take_no_decoding(source, tmp_path, capsys):
    """A unit of 1500 packets and 200 receptions; one packet after the other this took minutes."""
    packets = tmp_path / "p.caps"
    options = ["--code", "rlnc", "--k", 1500, "--r", 400, "--packet-size", "10B"]
    printed(["codec", "encode", source, *options, "--out", packets], capsys)
    rows = json.loads(printed(["codec", "simulate-loss", packets, "--receptions", 200, "--json"], capsys))
    assert [row["k"] for row in rows] == [1500, 500]
    assert all(row["decoded_ratio"] == 1 for row in rows)
