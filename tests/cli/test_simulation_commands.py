"""Contract: simulate, compare, schemes and rerun from the command line, and how they fail."""

import csv
import io
import json
import re
import shutil
from contextlib import nullcontext, redirect_stdout
from pathlib import Path

import pandas as pd
import pytest
from cli.commands import printed, refused, succeed, succeeded

from capsim import Result, schemes
from capsim.results.files import read_manifest, read_table
from capsim.run.simulation import Loading
from capsmodel.cli import main
from capsmodel.cli.schemes import GUESSED, OTHERS, PAPERS, TODAY, in_groups
from capsmodel.datafiles import data_path
from capsmodel.experiments.results import part_files

WRITTEN = {"runs", "results", "runs.csv", "table.csv", "by_size.csv", "scenario.toml", "compare.png", "fct_cdf.png"}
SCREEN_LINES = 48  # of a terminal that fills a laptop; with 100 columns
SMALL = ["--fabric", "leaf-spine:2x2x2", "--workload", "solar2022", "--flows", "20", "--load", "0.5"]
FEW = [*SMALL[:4], "--flows", "4", "--load", "0.5"]


def test_simulate_prints_the_summary_and_what_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(printed(["simulate", *SMALL], capsys).split())
    for word in (
        "mean FCT, short",
        "short flows with a timeout",
        "mean FCT of the other short flows",
        "0-100KB",
        "dropped or mean queue, links number packets lost, %",  # two lines of heads
        "link traversals",
        "events",
        "CPU s",
        "peak memory",
        "packets dropped",
    ):
        assert word in out


def test_the_line_after_a_run_names_compiling_or_loading_with_its_time(capsys, monkeypatch) -> None:
    """Wrong line: the time is taken after the engine is compiled, and half a minute is called 0.00 s of loading."""
    for compiled, word in ((True, "compiling"), (False, "loading")):
        loading = Loading(compiled=compiled, cpu_s=31.5)
        monkeypatch.setattr("capsim.run.simulation.compile_if_needed", lambda *_, told=loading, **__: told)
        out = " ".join(printed(["simulate", *SMALL], capsys).split())
        assert f"after 31.50 s of {word}, " in out


def test_totals_of_a_comparison_are_whole_numbers(blank, capsys, tmp_path) -> None:
    line = ["compare", *SMALL, "--schemes", "ecmp", "--seeds", "2", "--jobs", "1"]
    out = " ".join(printed([*line, "--out", str(tmp_path)], capsys).split())
    assert re.search(r"2 runs, [1-9]\d* link traversals, [\d.]+ CPU s, \d+ flows unfinished", out)


def test_each_line_of_the_summary_has_the_unit_of_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches milliseconds that are called seconds."""
    line = ["simulate", *SMALL]
    (row,) = json.loads(printed([*line, "--json"], capsys))
    lines = printed(line, capsys).splitlines()
    for words, key, unit, factor in (
        ("mean FCT, short", "mean_fct_short_s", "ms", 1e3),
        ("short flows with a timeout", "timeout_ratio_short", "%", 1e2),
        ("mean throughput, long", "mean_throughput_long_bps", "Mbit/s", 1e-6),
        ("timeouts", "timeouts", "", 1),
    ):
        (shown,) = (one for one in lines if one.startswith(f"{words}  "))
        number, *rest = shown.removeprefix(words).split()
        assert float(number) == pytest.approx(row[key] * factor, rel=1e-3)
        assert " ".join(rest) == unit


@pytest.mark.parametrize(("warm_up", "lines"), [("0s", 0), ("1ms", 1)])
def test_what_long_flows_get_since_the_warm_up_is_told_where_there_is_one(
    capsys: pytest.CaptureFixture[str], warm_up: str, lines: int
) -> None:
    """Without one it is the line before."""
    out = printed(["simulate", *SMALL, "--set", f"warm_up_s={warm_up}"], capsys)
    assert out.count("mean throughput, long") == 1
    assert out.count("throughput, long, since the warm-up") == lines


def test_timeouts_of_long_flows_are_in_the_summary(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    small = ["--set", "short_bytes=1000B", "--set", "fabric.buffer_packets=3"]
    out = printed(["simulate", *SMALL, *small, "--flows-csv", str(tmp_path / "flows.csv")], capsys)
    (shown,) = (one for one in out.splitlines() if one.startswith("long flows with a timeout"))
    flows = csv.DictReader((tmp_path / "flows.csv").read_text(encoding="utf-8").splitlines())
    long = [flow for flow in flows if flow["short"] == "False" and flow["counted"] == "True"]
    expired = [int(flow["winner_timeouts"]) > 0 for flow in long]
    assert 0 < sum(expired) < len(expired)
    assert float(shown.split()[-2]) == pytest.approx(100 * sum(expired) / len(expired), rel=1e-3)
    assert shown.split()[-1] == "%"


def test_flags_and_file_describe_the_same_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flags = ["--rate", "10Gbps", "--delay", "2us", "--buffer", "64KB", "--seed", "3", "--scheme", "rps"]
    flags += ["--nic", "round_robin"]
    succeed("simulate", *SMALL, *flags, "--out", str(tmp_path / "a"))
    manifest = read_manifest(tmp_path / "a" / "flows.parquet")
    file = tmp_path / "scenario.toml"
    file.write_text(
        "scheme = 'rps'\nseed = 3\nnic = 'round_robin'\n"
        "[fabric]\nkind = 'leaf-spine'\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n"
        "rate_bps = '10Gbps'\ndelay_s = '2us'\nbuffer_bytes = '64KB'\n"
        "[[traffic]]\nkind = 'poisson'\nworkload = 'solar2022'\nload = 0.5\nflows = 20\nstart = 'steady'\n",
        encoding="utf-8",
    )
    succeed("simulate", str(file), "--out", str(tmp_path / "b"), "--engine", "reference")
    assert read_manifest(tmp_path / "b" / "flows.parquet")["id"] == manifest["id"]
    assert read_table(tmp_path / "a" / "flows.parquet").equals(read_table(tmp_path / "b" / "flows.parquet"))
    capsys.readouterr()


def test_flags_change_a_preset(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(["simulate", "websearch-load-60", *SMALL, "--end", "5s", "--json"], capsys)
    assert json.loads(text)[0]["flows"] <= 20


def test_flow_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,bytes,start_s\n0,3,14000,0\n3,0,14000,0.001\n", encoding="utf-8")
    text = printed(["simulate", "--fabric", "leaf-spine:2x2x2", "--flow-file", str(file), "--csv"], capsys)
    (row,) = csv.DictReader(text.splitlines())
    assert (row["flows"], row["unfinished_flows"], float(row["mean_slowdown"])) == ("2", "0", 1.0)


def test_no_trace_needs_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """The word is "off": a check for "none" refuses it."""
    assert json.loads(printed(["simulate", *SMALL, "--trace", "off", "--json"], capsys))[0]["flows"] == 20


def test_a_capture_is_written_and_needs_all_packets(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "run.pcap"
    command = ["simulate", *SMALL, "--pcap", str(file), "--out", str(tmp_path / "out")]
    succeed(*command)
    everywhere = file.read_bytes()
    trace = read_table(tmp_path / "out" / "trace.parquet")
    sent = int(((trace["event"] == "enqueued") & (trace["layer"] == "host>leaf")).sum())
    assert len(everywhere) == 24 + 70 * sent
    succeed(*command, "--trace", "packets", "--pcap-ports", "host0>*,*>host0")
    assert 24 < len(file.read_bytes()) < len(everywhere)
    assert "--pcap needs all packets: leave out --trace drops" in refused([*command, "--trace", "drops"], capsys)
    assert "--pcap-ports: no port 'hots'" in refused([*command, "--pcap-ports", "hots"], capsys)
    assert "add --pcap FILE" in refused(["simulate", *SMALL, "--pcap-ports", "host*"], capsys)
    assert "is a folder: name a file" in refused(["simulate", *SMALL, "--pcap", str(tmp_path)], capsys)
    assert "make it first" in refused(["simulate", *SMALL, "--pcap", str(tmp_path / "no" / "run.pcap")], capsys)


def test_columns_of_a_flow_file_are_in_the_results_and_run_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,flow_kb,start_us,job\n0,3,14,5,x\n3,0,14,0,y\n", encoding="utf-8")
    flags = ["--fabric", "leaf-spine:2x2x2", "--flow-file", str(file), "--out", str(tmp_path / "run")]
    succeed("simulate", *flags)
    file.unlink()
    flows = read_table(tmp_path / "run" / "flows.parquet")
    assert (flows["job"].tolist(), flows["input_row"].tolist()) == (["y", "x"], [1, 0])
    capsys.readouterr()
    assert "compared flows.parquet, ports" in printed(["rerun", str(tmp_path / "run" / "flows.parquet")], capsys)


def triangle(folder: Path, *, last: str = "a,c,1Gbps,1us") -> str:
    """Write hosts at two corners of a triangle of switches, and return what --fabric takes."""
    (folder / "nodes.csv").write_text("name,kind\nx,host\ny,host\na,switch\nb,switch\nc,switch\n", encoding="utf-8")
    links = ["a,b,rate_bps,delay_s", "x,a,1Gbps,1us", "y,b,1Gbps,1us", "a,b,1Gbps,1us", "b,c,1Gbps,1us", last]
    (folder / "links.csv").write_text("\n".join(links), encoding="utf-8")
    return f"file:{folder / 'nodes.csv'},{folder / 'links.csv'}"


def test_a_topology_from_files_is_run_again_without_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flags = ["--fabric", triangle(tmp_path), "--buffer", "20", "--workload", "solar2022", "--flows", "5"]
    flags += ["--out", str(tmp_path / "run")]
    succeed("simulate", "websearch-load-60", *flags[:-2])
    succeed("simulate", *flags)
    for file in ("nodes.csv", "links.csv"):
        (tmp_path / file).unlink()
    capsys.readouterr()
    assert "identical" in printed(["rerun", str(tmp_path / "run" / "flows.parquet"), "--engine", "reference"], capsys)


def test_each_fault_of_a_topology_is_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["simulate", "--fabric", triangle(tmp_path, last="a,c,fast,1h")])
    assert raised.value.code == 2
    begins = ["capsmodel: links.csv line 6: rate_bps: 'fast' is", "capsmodel: links.csv line 6: delay_s: '1h' is"]
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(begin) for line, begin in zip(lines, begins, strict=True)] == [True, True]
    fabric = triangle(tmp_path)
    for flag, value in (("--rate", "1Gbps"), ("--delay", "1us")):
        assert f"{flag}: each link of this topology" in refused(["simulate", "--fabric", fabric, flag, value], capsys)


def test_rerun_is_identical_or_says_what_differs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    succeed("simulate", *SMALL, "--trace", "packets", "--out", str(tmp_path / "run"))
    capsys.readouterr()
    assert "identical" in printed(["rerun", str(tmp_path / "run" / "ports.parquet")], capsys)
    assert "identical" in printed(["rerun", str(tmp_path / "run" / "trace.parquet"), "--engine", "reference"], capsys)
    other = tmp_path / "other"
    succeed("simulate", *SMALL, "--trace", "packets", "--seed", "9", "--out", str(other))
    manifest_of_first, _ = (tmp_path / "run" / "flows.parquet"), capsys.readouterr()
    table = read_table(other / "flows.parquet")
    _with_manifest_of(manifest_of_first, table, other / "flows.parquet")
    with pytest.raises(SystemExit) as raised:
        main(["rerun", str(other / "flows.parquet")])
    assert raised.value.code == 1
    assert "differs in flows.parquet" in capsys.readouterr().out


def test_a_run_is_repeated_whose_scheme_adds_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    succeed("simulate", *SMALL, "--scheme", "caps", "--out", str(tmp_path / "run"))
    capsys.readouterr()
    assert "identical" in printed(["rerun", str(tmp_path / "run" / "flows.parquet"), "--engine", "reference"], capsys)


def _with_manifest_of(source: Path, table, target: Path) -> None:
    from capsim.base.schema import FLOWS
    from capsim.results.files import write_table

    write_table(table, target, manifest=read_manifest(source), meanings=FLOWS)


CLAIMS = """
title = "not run"
[axes]
scheme = ["rps", "ecmp"]
[scenario]
base = "p64"
[[claim]]
id = "sprayed"
metric = "reorder_ratio"
subject = "rps"
baseline = "ecmp"
is = "higher"
[[claim]]
id = "all"
metric = "flows"
subject = "rps"
is = "equal"
printed = "4 flows"
"""


def test_compare_decides_the_claims_of_a_study_by_its_runs(
    blank: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The study that --write gives, with the claim in it, says the same of the same runs."""
    (tmp_path / "claims.toml").write_text(CLAIMS)
    asked = ["compare", *FEW, "--schemes", "ecmp,rps", "--jobs", "1"]
    claims = ["--claims", str(tmp_path / "claims.toml"), "--seeds", "8"]
    kept = [*asked, *claims, "--out", str(tmp_path / "DIR")]
    shown = printed(kept, capsys)
    assert "2 claims: " in shown
    assert "Short flows" in shown
    assert re.search(r"16 runs, \d+ link traversals", shown), "a count is a whole number"
    rows = json.loads(printed([*kept, "--json"], capsys))
    assert [row["id"] for row in rows] == ["sprayed", "all"]
    assert (rows[1]["seeds"], rows[1]["ours"]) == (8, 4.0)
    assert "sprayed" in (tmp_path / "DIR/verdicts.csv").read_text()
    succeed(*asked, *claims, "--write", str(tmp_path / "study.toml"))
    capsys.readouterr()
    shutil.copytree(tmp_path / "DIR/runs", tmp_path / "other/runs")
    study = ["study", str(tmp_path / "study.toml"), "--jobs", "1", "--out", str(tmp_path / "other"), "--json"]
    assert json.loads(printed(study, capsys)) == rows
    assert len(part_files(tmp_path / "other/runs")) == 16  # none was made again
    (tmp_path / "claims.toml").write_text(CLAIMS.split("[[claim]]", maxsplit=1)[0])
    assert "it has no claim: write [[claim]]" in refused([*asked, *claims], capsys)


def test_rerun_compares_the_file_itself_whatever_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    succeed("simulate", *SMALL, "--out", str(tmp_path / "run"))
    flows, alone = tmp_path / "run" / "flows.parquet", tmp_path / "alone" / "mine.parquet"
    alone.parent.mkdir()
    alone.write_bytes(flows.read_bytes())
    capsys.readouterr()
    assert "compared mine.parquet" in printed(["rerun", str(alone)], capsys)
    assert "compared flows.parquet, ports.parquet" in printed(["rerun", str(flows)], capsys)
    table = read_table(flows)
    _with_manifest_of(flows, table.assign(fct_s=-table["fct_s"]), alone)
    with pytest.raises(SystemExit) as raised:
        main(["rerun", str(alone)])
    assert (raised.value.code, "differs in mine.parquet" in capsys.readouterr().out) == (1, True)
    _with_manifest_of(flows, table.drop(columns="fct_s"), alone)
    assert "columns of no table" in refused(["rerun", str(alone)], capsys)
    assert "rows of a sweep" in refused(["rerun", str(data_path("results/runs") / "caps-fig1.parquet")], capsys)


WHOLE = ["compare", *SMALL, "--schemes", "ecmp,rps", "--seeds", "2"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder of a comparison and what it has printed, for tests that change neither."""
    out, text = tmp_path_factory.mktemp("compared") / "whole", io.StringIO()
    with redirect_stdout(text):
        succeed(*WHOLE, "--out", str(out))
    return out, text.getvalue()


def test_compare_prints_a_table_and_writes_a_figure(
    whole: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out, text = whole
    assert "±" in text
    assert "ratio to" in text
    assert {entry.name for entry in out.iterdir()} == WRITTEN
    assert (out / "compare.png").read_bytes()[:4] == b"\x89PNG"
    assert Result.load(out / "results" / "rps-seed2").flows["counted"].sum() == 20
    with (out / "by_size.csv").open(encoding="utf-8") as file:
        assert sum(int(row["flows"]) for row in csv.DictReader(file)) == 80
    again = printed(["compare", str(out / "scenario.toml"), "--json"], capsys)
    rows = json.loads(again)
    assert {row["scheme"] for row in rows} == {"ecmp", "rps"}
    with (out / "table.csv").open(encoding="utf-8") as file:
        saved = [float(row["mean"]) for row in csv.DictReader(file) if row["metric"] == "mean_fct_short_s"]
    assert saved == [row["mean"] for row in rows if row["metric"] == "mean_fct_short_s"]


def test_tables_that_no_run_has_a_value_for_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Catches a table of dashes where no flow is short."""
    flows = tmp_path / "long.csv"
    flows.write_text("src,dst,flow_bytes,start_s\n0,2,200000,0\n1,3,200000,0\n", encoding="utf-8")
    line = ["compare", "--fabric", "leaf-spine:2x2x2", "--flow-file", str(flows), "--schemes", "ecmp", "--seeds", "1"]
    out = " ".join(printed([*line, "--jobs", "1"], capsys).split())
    assert "Long flows" in out
    assert "Short flows" not in out
    assert "left out, since no run has a value: mean FCT, short; p99 FCT, short; " in out


def test_schemes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(["schemes", "--json"], capsys))
    assert {"ecmp", "rps"} <= {row["scheme"] for row in rows}
    assert all(row["source"] and row["summary"] for row in rows)


def test_each_scheme_stands_in_one_group_and_those_in_use_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(["schemes"], capsys)
    heads = [shown.index(title) for title in (TODAY, PAPERS, GUESSED, OTHERS)]
    assert heads == sorted(heads)
    groups = in_groups(schemes().values())
    assert sorted(one.name for group in groups.values() for one in group) == sorted(schemes())
    assert {"ecmp", "letflow", "rps", "dctcp", "rps_trim", "uet", "ec_rack"} <= {one.name for one in groups[TODAY]}
    assert {one.name for one in groups[GUESSED]} == {one.name for one in schemes().values() if one.reconstructed}


def test_all_schemes_are_on_one_screen_with_their_summaries(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = printed(["schemes"], capsys).splitlines()
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= 100
    for one in schemes().values():
        entry = re.compile(rf"(^|  ){one.name} +{re.escape(one.summary)}(  |$)")
        assert sum(bool(entry.search(line)) for line in lines) == 1, one.name


def test_schemes_keep_to_80_columns_and_presets_to_one_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, printed(["schemes"], capsys).splitlines())) <= 80
    presets = printed(["presets"], capsys).splitlines()
    assert len(presets) <= SCREEN_LINES
    assert max(map(len, presets)) <= 80


def test_meanings_of_parameters_are_printed_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(["schemes", "caps", "layer"], capsys)
    assert "`" not in shown
    assert ":mod:" not in shown
    assert "capsim.protocols.layers.params" in shown


BAD = [
    ("simulate nosuch.toml", "nosuch.toml"),
    ("simulate --scheme nosuch", "nosuch"),
    ("simulate --engine fast", "engine"),
    ("simulate --fabric ring:8", "--fabric ring:8"),
    ("simulate --fabric file:nodes.csv", "write file:NODES.csv,LINKS.csv"),
    ("simulate --fabric file:nosuch.csv,links.csv", "nosuch.csv: No such file"),
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
    ("simulate --load 0", "--load = 0"),
    ("simulate --flows 0", "--flows = 0"),
    ("simulate --seed -1", "seed"),
    ("simulate --flow-file nosuch.csv", "nosuch.csv"),
    ("simulate --flow-file nosuch.csv --load 0.5", "--load"),
    ("simulate --flows 10000000000000", "flows: Expected `int` <= 100000000, but it is 10000000000000"),
    ("simulate p64 --load 0.5", "no Poisson traffic"),
    ("simulate p64 --flows 10", "its traffic is of the kind batch: change that with --set traffic.KEY=VALUE"),
    ("simulate p64 --set transport.rto=10ms", "is not a parameter of newreno: did you mean min_rto_s or max_rto_s"),
    ("compare p64", "--schemes"),
    ("compare p64 --schemes ecmp,nosuch", "nosuch"),
    ("compare p64 --schemes ecmp,ecmp", "twice"),
    ("compare p64 --schemes ecmp --seeds 0", "--seeds 0, but"),
    ("compare p64 --schemes ecmp --seeds 1000000000", "--seeds 1000000000, but"),
    ("compare p64 --schemes ecmp --jobs 0", "jobs = 0"),
    ("compare p64 --schemes ecmp --jobs -2", "jobs = -2"),
    ("compare p64 --schemes ecmp --jobs 1000000", "jobs = 1000000"),
    (f"simulate --buffer {'9' * 5000}", "is not a size"),
    (f"simulate --fabric fat-tree:{'9' * 5000}", "write fat-tree:PODSxHOSTS_PER_EDGE"),
    ("simulate --fabric leaf-spine:٣x3x3", "LEAVESxHOSTS_PER_LEAFxSPINES"),
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


HEAD = "src,dst,bytes,start_s\n"


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("flows.csv", f"{HEAD}0,0,10,0", "flows.csv line 2: src = dst = 0, but a flow needs two hosts"),
        ("flows.csv", f"{HEAD}0,1,-5,0", "flows.csv line 2: bytes: '-5' is not a size"),
        ("flows.csv", f"{HEAD}0,1,10,0\n0,9,10,0", "flows.csv line 3: dst = 9, but hosts are numbered 0 to 3"),
        ("flows.csv", f"{HEAD}0,1,10,later", "flows.csv line 2: start_s: 'later' is not a time"),
        ("m.cm", "0->1 start 0 size 2MB", "m.cm line 1: size: '2MB' is no whole number"),
        ("m.cm", "0->1 start 0 size 5\n0->9 start 0 size 5", "m.cm line 2: dst = 9, but hosts are numbered 0 to 3"),
        ("m.cm", "\udcfc", "m.cm is no UTF-8 text"),
    ],
)
def test_a_bad_flow_is_named_by_its_line(
    name: str, text: str, named: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(f"{text}\n", encoding="utf-8", errors="surrogateescape")
    with pytest.raises(SystemExit) as raised:
        main(["simulate", "--fabric", "leaf-spine:2x2x2", "--flow-file", str(file)])
    err = capsys.readouterr().err
    assert raised.value.code == 2
    assert err.count("\n") == 1
    assert named in err


def test_a_foreign_file_is_no_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    compare = ["compare", *SMALL, "--schemes", "ecmp", "--out", str(tmp_path)]
    for command in (["rerun", str(tmp_path / "thesis.txt")], ["simulate", *SMALL, "--out", str(tmp_path)], compare):
        with pytest.raises(SystemExit) as raised:
            main(command)
        assert raised.value.code == 2
        assert "thesis.txt" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.agreement)])
def test_a_comparison_that_was_stopped_goes_on_where_it_was(
    jobs: str,
    blank: None,
    whole: tuple[Path, str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows of runs that have ended stay, nothing half-written does, and the files are those of an undisturbed one."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def told_to_stop(**_: object) -> object:
        return nullcontext(interrupted)

    command, out = [*WHOLE, "--out"], tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr("capsmodel.experiments.progress.counted", told_to_stop)
        with pytest.raises(SystemExit) as raised:
            main([*command, str(out), "--jobs", jobs])
    assert raised.value.code == 130
    assert {entry.name for entry in out.iterdir()} == {"runs", "results"}
    (row,) = part_files(out / "runs")
    written_ns = row.stat().st_mtime_ns
    succeed("compare", *SMALL, "--schemes", "rps,ecmp", "--seeds", "1", "--out", str(out))
    assert (len(part_files(out / "runs")), row.stat().st_mtime_ns) == (2, written_ns)
    succeed(*command, str(out))
    assert {entry.name for entry in out.iterdir()} == WRITTEN
    assert (len(part_files(out / "runs")), row.stat().st_mtime_ns) == (4, written_ns)
    for name in ("table.csv", "scenario.toml"):
        assert (out / name).read_text() == (whole[0] / name).read_text()
    capsys.readouterr()


def test_a_killed_worker_of_a_comparison_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise ChildProcessError("a worker process was killed: run again")

    monkeypatch.setattr("capsim.study.study.Study.run", killed)
    assert "worker process was killed" in refused(["compare", *SMALL, "--schemes", "ecmp,rps", "--jobs", "2"], capsys)


def test_pictures_and_flows_are_files_of_their_own(tmp_path: Path) -> None:
    """Catches flows of one seed or scheme, and a picture that only --out would write."""
    succeed("simulate", *SMALL, "--plot", tmp_path / "one.png", "--flows-csv", tmp_path / "one.csv")
    assert pd.read_csv(tmp_path / "one.csv")["counted"].sum() == 20
    where = ["--out", tmp_path / "kept", "--flows-csv", tmp_path / "all.csv"]
    compared = ["--schemes", "ecmp,rps", "--seeds", "2", "--jobs", "1"]
    succeed("compare", *SMALL, *compared, *where, "--plot", tmp_path / "two.svg")
    rows = pd.read_csv(tmp_path / "all.csv")
    assert rows.groupby(["scheme", "seed"])["counted"].sum().to_dict() == {
        (name, seed): 20 for name in ("ecmp", "rps") for seed in (1, 2)
    }
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("one.png", "two.svg"))


def test_an_empty_file_is_called_empty(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("empty.toml").write_text("# nothing but a comment\n", encoding="utf-8")
    for command in ("simulate", "study"):
        assert refused(f"{command} empty.toml", capsys).startswith("capsmodel: empty.toml is empty: write tables, as [")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("simulate p64 --plot x.txt", "x.txt has no known figure suffix: use .png, .pdf or .svg"),
        ("compare p64 --schemes ecmp --plot none/x.pdf", "none is no folder"),
        ("compare p64 --schemes ecmp --flows-csv x.csv", "the flows of all runs are kept in DIR: give --out DIR"),
        ("simulate p64 --flows-csv none/x.csv", "none"),
        ("compare p64 --schemes ecmp,rps+ecn", "ecn is no scheme but the queue of dctcp: write rps+dctcp"),
        ("simulate p64 --profile 100g --rate 1Gbps", "is for hosts of 100 Gbps, but theirs is 1 Gbps"),
    ],
)
def test_what_could_not_be_written_or_run_is_refused_before_the_run(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refused(line, capsys)


def test_a_profile_is_printed_and_defaults_of_1_gbps_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    shown = " ".join(printed(["simulate", *SMALL, "--profile", "100g"], capsys).split())
    assert "profile: packets of 4150 bytes, base RTT 9.348 us, BDP 29 packets; fabric.rate_bps = 100Gbps" in shown
    assert "transport.max_window_bytes = 1430280B, transport.min_rto_s = 1ms" in shown
    told = succeeded(["simulate", *SMALL, "--rate", "100Gbps"], capsys)
    assert "profile:" not in told.out
    (remark,) = (one for one in told.err.splitlines() if "defaults" in one)
    assert remark.startswith("capsmodel: defaults of 1 Gbps where hosts have 100 Gbps: minimum RTO 200 ms, window 1 MB")


@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_a_long_run_of_the_reference_engine_says_so_before(command, capsys, monkeypatch) -> None:
    """Catches minutes of silence: a steady start of 4 flows brings hundreds of others."""
    line = [command, *FEW[:4], "--load", "0.5", "--engine", "reference", "--set", "traffic.start=steady"]
    line += ["--scheme", "ecmp"] if command == "simulate" else ["--schemes", "ecmp,rps", "--seeds", "1", "--jobs", "1"]
    assert "reference engine" not in succeeded([*line, "--flows", "4"], capsys).err
    monkeypatch.setattr("capsim.run.needs.REFERENCE_PER_S", 10.0)
    message = succeeded([*line, "--flows", "4"], capsys).err.splitlines()[0]
    assert re.match(r"capsmodel: the reference engine takes up to \d+ min, with \d+ flows of a steady start", message)
    assert "compiled engine" in message
    line[line.index("reference")] = "compiled"
    assert "reference engine" not in succeeded([*line, "--flows", "4"], capsys).err
