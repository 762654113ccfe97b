"""Contract: whatever the disk, the terminal or the reader of the output refuses ends in one line or quietly."""

import errno
import io
import json
import os
import signal
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

import capsmodel_command
from capsim import Result
from capsmodel.checks import ParameterError
from capsmodel.cli import main
from capsmodel.cli.shared.output import Output, console, print_table, text_curve
from capsmodel.units import parse_rate_bps, parse_size_bytes, parse_time_s

WRITERS = ["simulate", "compare --schemes ecmp --seeds 1", "gallery caps-fig9a", "study caps-incast1", "demo"]
SMALL = ["--fabric", "leaf-spine:2x2x2", "--flows", "20", "--load", "0.5"]


def ending(*arguments: str) -> object:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line on standard error of a command that must fail with exit status 2."""
    assert ending(*arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("capsmodel: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize(
    ("place", "rule"),
    [("file/out", "Not a directory: check the name"), ("n" * 300, "File name too long: give a shorter name")],
)
def test_a_place_that_cannot_be_is_told_before_the_work(
    command: str, place: str, rule: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch
) -> None:
    def works(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    for work in ("simulate._run", "compare.Study.run_in", "gallery._drawn", "study.Study.run", "demo._visit_all"):
        monkeypatch.setattr(f"capsmodel.cli.{work}", works)
    (tmp_path / "file").touch()
    line = told(capsys, *command.split(), "--out", str(tmp_path / place))
    assert rule in line


@pytest.mark.parametrize("command", WRITERS)
def test_a_disk_that_takes_nothing_is_told_before_the_work(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/somewhere")

    monkeypatch.setattr("capsmodel._files.tempfile", SimpleNamespace(TemporaryFile=full))
    line = told(capsys, *command.split(), "--out", str(tmp_path / "out"))
    assert line.startswith(f"capsmodel: {tmp_path}")
    assert "No space left on device: free some space" in line
    assert list(tmp_path.iterdir()) == []


def test_figures_are_printed_though_the_disk_is_full_at_the_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "out"))

    monkeypatch.setattr(Result, "save", full)
    assert ending("simulate", *SMALL, "--json", "--out", str(tmp_path / "out")) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)[0]["flows"] == 20
    assert "No space left on device" in printed.err


def test_names_are_no_markup_and_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "scenario.toml"
    text = r'name = "[/x] [bold]b[/bold] :smile: \u001b[31mred\u0007"' + "\n[fabric]\nkind = 'dumbbell'\n"
    file.write_text(
        text + "hosts_per_side = 1\n[[traffic]]\nkind = 'batch'\nflows = 1\nflow_bytes = 9\npairs = 'sides'\n"
    )
    assert ending("simulate", str(file), "--engine", "reference") == 0
    assert r"[/x] [bold]b[/bold] :smile: \x1b[31mred\x07: summary" in capsys.readouterr().out
    assert ending("gallery", "caps-fig9a", "--out", "[/x]") == 0
    assert "wrote [/x]/gallery.html" in capsys.readouterr().out
    console().print("[/y]\x1b[2J")
    assert capsys.readouterr().out == "[/y]\\x1b[2J\n"
    assert r"'no\x1b[2Jsuch'" in told(capsys, "simulate", "no\x1b[2Jsuch")


def test_a_reader_that_has_gone_ends_a_command_quietly(
    capsys: pytest.CaptureFixture[str], monkeypatch, tmp_path: Path
) -> None:
    file = tmp_path / "data"
    file.write_bytes(bytes(9000))
    assert ending("codec", "encode", str(file)) == 0
    capsys.readouterr()
    coded = [["codec", "inspect", f"{file}.caps"], ["codec", "decode", f"{file}.caps", "--out", "-"]]
    for arguments in (["claims", "--csv"], ["claims"], ["optimal-k", "8"], ["cite"], *coded):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            monkeypatch.setattr(sys, "stdout", pipe)
            assert ending(*arguments) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.linux
def test_an_output_that_is_full_is_told(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    for arguments in (["claims", "--csv"], ["claims"], ["optimal-k", "8"]):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            monkeypatch.setattr(sys, "stdout", full)
            assert "No space left on device" in told(capsys, *arguments)


def test_an_ascii_terminal_gets_escapes(monkeypatch) -> None:
    taken = io.BytesIO()
    with io.TextIOWrapper(taken, encoding="ascii") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert ending("optimal-k", "8") == 0
        assert ending("claims", "--paper", "caps") == 0
        assert text_curve([0.0, 1.0], height=1) == [".#"]
        text = taken.getvalue().decode("ascii")
    assert "####" in text


@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGHUP", marks=pytest.mark.linux)])
def test_a_signal_to_end_cleans_up_like_an_interrupt(name: str, tmp_path: Path, monkeypatch) -> None:
    """Else the processes of a comparison go on without their parent, and half-written files stay."""
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_DFL)  # it may be ignored here, as nohup does with SIGHUP

    def killed(*_: object) -> None:
        signal.raise_signal(number)

    monkeypatch.setattr("capsmodel._files.os.fsync", killed)
    try:
        assert ending("gallery", "caps-fig9a", "--out", str(tmp_path)) == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.linux
def test_a_signal_that_is_ignored_stays_ignored(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr("capsmodel.cli.equations.references", lambda *_, **__: signal.raise_signal(signal.SIGHUP))
    try:
        assert ending("cite") == 0
    finally:
        signal.signal(signal.SIGHUP, before)
    capsys.readouterr()


class Interrupted:
    """A module during whose import Ctrl-C is pressed."""

    def __getattr__(self, name: str) -> NoReturn:
        raise KeyboardInterrupt


def test_an_interrupt_during_the_import_ends_without_a_traceback(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "capsmodel.cli", Interrupted())
    with pytest.raises(SystemExit) as stop:
        capsmodel_command.main()
    assert stop.value.code == 130


def test_what_does_not_fit_in_memory_is_told(capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    def too_large(**_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("capsmodel.cli.equations.references", lambda *_, **__: too_large())
    assert "does not fit in memory" in told(capsys, "cite")


def test_a_long_value_is_cut_in_the_middle(capsys: pytest.CaptureFixture[str]) -> None:
    line = told(capsys, "optimal-k", "--rate", "9" * 5000)
    assert len(line) < 700
    assert line.endswith("as in 1Gbps\n")


def test_a_quantity_of_any_length_is_refused_in_one_line(subtests: pytest.Subtests) -> None:
    """With one way to read each sign: the time to refuse 100 000 digits by trying all ways would be hours."""
    cases = ["1" * 100_000 + " x y", "1e999999Gbps", "1e999999s", "1e" + "9" * 5000 + "GB", "1_0B", "١s", "2**53B"]
    for text in cases:
        for parse in [parse_rate_bps, parse_time_s, parse_size_bytes]:
            with (
                subtests.test(text=text, parse=parse),
                pytest.raises(ParameterError, match=r"is not a (rate|time|size)"),
            ):
                parse(text)


def test_a_size_is_exact_or_refused() -> None:
    assert parse_size_bytes("9007199254740991B") == 2**53 - 1
    for text in ("9007199254740993B", "1e99GB"):
        with pytest.raises(ParameterError, match=r"below 2\*\*53"):
            parse_size_bytes(text)


def test_json_has_null_for_what_is_infinite_or_does_not_apply(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"fct": float("inf"), "gain": float("nan"), "load": 0.5, "name": "a"}
    print_table([row], output=Output(json=True))
    assert json.loads(capsys.readouterr().out) == [{"fct": None, "gain": None, "load": 0.5, "name": "a"}]
    print_table([row], output=Output(csv=True))
    assert capsys.readouterr().out.splitlines()[1] == "inf,,0.5,a"


@pytest.mark.parametrize(
    ("line", "rule"),
    [("load = inf", "traffic[0].load"), ("load = nan", "traffic[0].load"), ("load = 0.5\nstart_s = inf", "start_s")],
)
def test_what_is_infinite_is_refused_since_no_manifest_could_hold_it(
    line: str, rule: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "scenario.toml"
    traffic = "[[traffic]]\nkind = 'poisson'\nworkload = 'websearch'\nflows = 2\n"
    file.write_text(f"[fabric]\nkind = 'dumbbell'\nhosts_per_side = 1\n{traffic}{line}\n")
    assert f"{rule}" in told(capsys, "simulate", str(file))
    assert "--load = inf" in told(capsys, "simulate", "--load", "inf")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("seed = " + "9" * 5000, "s.toml is not TOML"),
        ("seed = " + "[" * 5000, "s.toml: its tables and lists are nested too deeply"),
        (f"[{'a.' * 20_000}a]", "s.toml: its tables and lists are nested too deeply, more than 64 within each other"),
        (f"x = {{{'a . ' * 20_000}a = 1}}", "s.toml: its tables and lists are nested too deeply"),
        ("[[traffic]]\n" + 20_000 * '"a".' + "a = 1", "s.toml: its tables and lists are nested too deeply"),
        (f"x = {'{a.b.c.d.e = ' * 40}1{'}' * 40}", "s.toml: its tables and lists are nested too deeply"),
        ("seed = 'x", "s.toml is not TOML"),
        ("\x00", "s.toml is not TOML"),
    ],
)
def test_a_scenario_that_cannot_be_read_is_told(
    text: str, rule: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Keys of many parts would take gigabytes to read."""
    (tmp_path / "s.toml").write_text(text)
    tracemalloc.start()
    try:
        assert rule in told(capsys, "simulate", str(tmp_path / "s.toml"))
        assert rule in told(capsys, "study", str(tmp_path / "s.toml"))
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        pytest.param("/dev/zero", "a device, which may have no end: name a file", marks=pytest.mark.linux),
        (".", "Is a directory"),
        (r"\u0000", "names no file"),
        ("a/b", "No such file"),
    ],
)
def test_a_flow_file_that_cannot_be_opened_is_told(
    file: str, rule: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fabric = "[fabric]\nkind = 'dumbbell'\nhosts_per_side = 1\n"
    (tmp_path / "s.toml").write_text(f'{fabric}[[traffic]]\nkind = "csv"\nfile = "{file}"\n')
    assert rule in told(capsys, "simulate", str(tmp_path / "s.toml"))
