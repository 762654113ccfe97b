"""Contract: simulate, compare, schemes and rerun from the command line, and how they fail."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from capsim.files import read_manifest, read_table
from capsmodel.cli import main
from capsmodel.cli._progress import _Bar, simulated_time, waiting

SMALL = ["--fabric", "leaf-spine:2x2x2", "--flows", "20", "--load", "0.5"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    succeed(*arguments)
    return capsys.readouterr().out


def succeed(*arguments: str) -> None:
    with pytest.raises(SystemExit) as raised:
        main(list(arguments))
    assert raised.value.code in (0, None)


def test_simulate_prints_the_summary_and_what_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "simulate", *SMALL)
    for word in (
        "mean_fct_short_s",
        "timeout_ratio_short",
        "mean_fct_short_without_timeouts_s",
        "link traversals",
        "events",
        "CPU s",
        "peak memory",
        "packets dropped",
    ):
        assert word in out


def test_flags_and_file_describe_the_same_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flags = ["--rate", "10Gbps", "--delay", "2us", "--buffer", "64KB", "--seed", "3", "--scheme", "rps"]
    succeed("simulate", *SMALL, *flags, "--out", str(tmp_path / "a"))
    manifest = read_manifest(tmp_path / "a" / "flows.parquet")
    file = tmp_path / "scenario.toml"
    file.write_text(
        "scheme = 'rps'\nseed = 3\n[fabric]\nkind = 'leaf-spine'\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n"
        "rate_bps = '10Gbps'\ndelay_s = '2us'\nbuffer_bytes = '64KB'\n"
        "[[traffic]]\nkind = 'poisson'\nworkload = 'websearch'\nload = 0.5\nflows = 20\n",
        encoding="utf-8",
    )
    succeed("simulate", str(file), "--out", str(tmp_path / "b"), "--engine", "reference")
    assert read_manifest(tmp_path / "b" / "flows.parquet")["id"] == manifest["id"]
    assert read_table(tmp_path / "a" / "flows.parquet").equals(read_table(tmp_path / "b" / "flows.parquet"))
    capsys.readouterr()


def test_flags_change_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "simulate", "websearch-load-60", *SMALL, "--end", "5s", "--json")
    assert json.loads(text)[0]["flows"] <= 20


def test_flow_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,bytes,start_s\n0,3,14000,0\n3,0,14000,0.001\n", encoding="utf-8")
    text = printed(capsys, "simulate", "--fabric", "leaf-spine:2x2x2", "--flow-file", str(file), "--csv")
    (row,) = csv.DictReader(text.splitlines())
    assert (row["flows"], row["unfinished_flows"], float(row["mean_slowdown"])) == ("2", "0", 1.0)


def test_rerun_is_identical_or_says_what_differs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    succeed("simulate", *SMALL, "--trace", "packets", "--out", str(tmp_path / "run"))
    capsys.readouterr()
    assert "identical" in printed(capsys, "rerun", str(tmp_path / "run" / "ports.parquet"))
    assert "identical" in printed(capsys, "rerun", str(tmp_path / "run" / "trace.parquet"), "--engine", "reference")
    other = tmp_path / "other"
    succeed("simulate", *SMALL, "--trace", "packets", "--seed", "9", "--out", str(other))
    manifest_of_first, _ = (tmp_path / "run" / "flows.parquet"), capsys.readouterr()
    table = read_table(other / "flows.parquet")
    _with_manifest_of(manifest_of_first, table, other / "flows.parquet")
    with pytest.raises(SystemExit) as raised:
        main(["rerun", str(other / "flows.parquet")])
    assert raised.value.code == 1
    assert "differs in flows.parquet" in capsys.readouterr().out


def _with_manifest_of(source: Path, table, target: Path) -> None:
    from capsim.files import write_table
    from capsim.schema import FLOWS

    write_table(table, target, manifest=read_manifest(source), meanings=FLOWS)


def test_compare_prints_a_table_and_writes_a_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "compared"
    text = printed(capsys, "compare", *SMALL, "--schemes", "ecmp,rps", "--seeds", "2", "--out", str(out))
    assert "±" in text
    assert text.index("mean_fct_short_s") < text.index("timeout_ratio_short") < text.index("p99_fct_short_s")
    assert {entry.name for entry in out.iterdir()} == {"runs.csv", "table.csv", "scenario.toml", "compare.png"}
    again = printed(capsys, "compare", str(out / "scenario.toml"), "--json")
    rows = json.loads(again)
    assert {row["scheme"] for row in rows} == {"ecmp", "rps"}
    with (out / "table.csv").open(encoding="utf-8") as file:
        saved = [float(row["mean"]) for row in csv.DictReader(file) if row["figure"] == "mean_fct_short_s"]
    assert saved == [row["mean"] for row in rows if row["figure"] == "mean_fct_short_s"]


def test_schemes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(capsys, "schemes", "--json"))
    assert {"ecmp", "rps"} <= {row["scheme"] for row in rows}
    assert all(row["source"] and row["summary"] for row in rows)


BAD = [
    ("simulate nosuch.toml", "nosuch.toml"),
    ("simulate --scheme nosuch", "nosuch"),
    ("simulate --engine fast", "engine"),
    ("simulate --fabric ring:8", "--fabric ring:8"),
    ("simulate --fabric leaf-spine:8x8", "LEAVESxHOSTS_PER_LEAFxSPINES"),
    ("simulate --fabric leaf-spine:8x8xmany", "LEAVESxHOSTS_PER_LEAFxSPINES"),
    ("simulate --fabric leaf-spine:0x8x8", "fabric.leaves"),
    ("simulate --fabric fat-tree:3", "even number"),
    ("simulate --fabric leaf-spine:1x1x1", "one host only"),
    ("simulate --rate 10", "'10' is not a rate"),
    ("simulate --delay 5", "'5' is not a time"),
    ("simulate --buffer lots", "'lots' is not a size"),
    ("simulate --buffer 0", "fabric.buffer_packets"),
    ("simulate --workload nosuch", "nosuch"),
    ("simulate --load 0", "traffic[0].load"),
    ("simulate --flows 0", "traffic[0].flows"),
    ("simulate --seed -1", "seed"),
    ("simulate --flow-file nosuch.csv", "nosuch.csv"),
    ("simulate --flow-file nosuch.csv --load 0.5", "--load"),
    ("simulate --flows 10000000000000", "flows: Expected `int` <= 100000000, but it is 10000000000000"),
    ("simulate p64 --load 0.5", "no Poisson traffic"),
    ("compare p64", "--schemes"),
    ("compare p64 --schemes ecmp,nosuch", "nosuch"),
    ("compare p64 --schemes ecmp,ecmp", "twice"),
    ("compare p64 --schemes ecmp --seeds 0", "seeds"),
    ("rerun nosuch.parquet", "nosuch.parquet"),
]


@pytest.mark.parametrize(("command", "named"), BAD)
def test_bad_input_is_one_line_and_status_2(command: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(command.split())
    err = capsys.readouterr().err
    assert raised.value.code == 2
    assert err.count("\n") == 1
    assert named in err


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ("0,0,10,0", "row 1: src and dst are the same host"),
        ("0,1,-5,0", "row 1: bytes = -5, but it must be from 1 to"),
        ("0,1,10,0\n0,9,10,0", "row 2: hosts are numbered 0 to 3"),
        ("0,1,10,later", "line 2"),
    ],
)
def test_a_bad_flow_is_named_by_its_row(
    rows: str, named: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "flows.csv"
    file.write_text(f"src,dst,bytes,start_s\n{rows}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as raised:
        main(["simulate", "--fabric", "leaf-spine:2x2x2", "--flow-file", str(file)])
    err = capsys.readouterr().err
    assert raised.value.code == 2
    assert err.count("\n") == 1
    assert named in err


def test_a_foreign_file_is_no_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    for command in (["rerun", str(tmp_path / "thesis.txt")], ["simulate", *SMALL, "--out", str(tmp_path)]):
        with pytest.raises(SystemExit) as raised:
            main(command)
        assert raised.value.code == 2
        assert "thesis.txt" in capsys.readouterr().err


def test_an_interrupted_comparison_leaves_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("capsmodel.cli.compare.save_figure", interrupted)
    with pytest.raises(SystemExit) as raised:
        main(["compare", *SMALL, "--schemes", "ecmp,rps", "--seeds", "1", "--out", str(tmp_path / "out")])
    assert raised.value.code == 130
    assert list(tmp_path.iterdir()) == []
    capsys.readouterr()


def test_progress_is_in_simulated_time_and_waits_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    bar = _Bar(Console(file=screen, force_terminal=True, width=100), 1.0)
    bar.show(0.125)
    assert screen.getvalue() == ""
    monkeypatch.setattr("capsmodel.cli._progress.PATIENCE_S", 0.0)
    bar.show(0.25)
    bar.progress.refresh()
    bar.progress.stop()
    assert "250.0 ms simulated" in screen.getvalue()


def test_nothing_is_shown_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with simulated_time(1.0) as show, waiting("loading"):
        assert show is None
    assert capsys.readouterr() == ("", "")
