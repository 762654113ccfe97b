"""Contract: each command prints its table as text, JSON and CSV, and the optimal coding unit is the library's."""

import csv
import io
import json
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from threading import Event

import pytest
from cli.commands import printed
from rich.console import Console

import capsmodel as cm
from capsmodel import papers
from capsmodel.cli import app, demo, main
from capsmodel.cli._commands import COMMANDS
from capsmodel.cli.tour.section import Station
from capsmodel.experiments.number_texts import number

TABLES = ["optimal-k", "decode-prob", "redundancy", "reordering", "fct"]


@pytest.mark.parametrize("command", TABLES)
def test_text_json_and_csv_hold_the_same_rows(command, capsys):
    rows = json.loads(printed(f"{command} --json", capsys))
    table = list(csv.DictReader(io.StringIO(printed(f"{command} --csv", capsys))))
    assert len(rows) == len(table) > 0
    assert list(rows[0]) == list(table[0])
    for row, cells in zip(rows, table, strict=True):
        assert {name: str(value) for name, value in row.items()} == cells
    lines = printed(command, capsys).splitlines()
    for row in rows:
        first = number(next(iter(row.values())))
        assert any(line.split()[:1] == [first] for line in lines)


def test_equations_in_latex(capsys):
    rows = json.loads(printed("equations --paper caps --latex --json", capsys))
    formulas = {row["equation"]: row["latex"] for row in rows}
    assert "binom" in formulas["Eq. 2"]
    assert formulas["u (VII, Alg. 1) switch rule"] == ""


@pytest.mark.parametrize("command", ["equations --numbers", "claims", "claims --all --paper caps", "cite --style text"])
def test_the_index_prints(command, capsys):
    assert printed(command, capsys).count("\n") > 5


def test_numbers_are_claims_with_the_same_columns_and_verdicts(capsys):
    rows = json.loads(printed("equations --numbers --json", capsys))
    table = list(csv.DictReader(io.StringIO(printed("equations --numbers --csv", capsys))))
    assert [row["id"] for row in table] == [row["id"] for row in rows]
    assert list(table[0]) == list(rows[0])
    claims = {row["id"]: row for row in json.loads(printed("claims --json", capsys))}
    assert rows == [claims[row.claim.id] for row in papers.numbers()]


def test_a_verdict_stands_with_what_it_depends_on(capsys):
    hanging = {row["claim"]: row for row in json.loads(printed("claims --paper caps --depends-on --json", capsys))}
    text = " ".join(printed("claims --paper caps", capsys).split())
    for start in ("depends on", "robust"):
        row = next(row for row in hanging.values() if row["in_other_settings"].startswith(start))
        _, found = text.split(f"{row['claim']}: {row['verdict']} ", 1)
        assert found.split(" Settings: ", 1)[1].startswith(f"{row['in_other_settings']}.")


def test_claims_list_what_was_run_and_left_open_apart_from_what_waits(capsys, monkeypatch):
    rows = [row for row in papers.claims("caps") if row.entry.verdict != "open" or not row.entry.was_run]
    run_row = next(i for i, row in enumerate(rows) if row.entry.was_run)
    reason = "30 runs do not decide: why"
    rows[run_row] = replace(rows[run_row], entry=replace(rows[run_row].entry, verdict="open", reason=reason))
    monkeypatch.setattr("capsmodel.cli.equations.claim_rows", lambda paper=None, verdict=None: rows)
    shown = json.loads(printed("claims --json", capsys))
    assert [row["reason"] for row in shown if row["verdict"] == "open"] == [reason]
    assert {row["id"] for row in shown} == {row.claim.id for row in rows if row.entry.was_run}
    assert len(json.loads(printed("claims --all --json", capsys))) == len(rows)
    totals = {row["verdict"]: row["caps"] for row in json.loads(printed("claims --totals --json", capsys))}
    assert totals["open"] == 1 + sum(not row.entry.was_run for row in rows)
    assert totals["claims"] == sum(row.claim.is_counted for row in rows)
    assert reason in printed("claims", capsys)


@pytest.mark.parametrize(
    ("objective", "k", "r"),
    [("eq4", [61, 64, 61, 64], [16, 22, 27, 35]), ("with_redundancy_cost", [28, 31, 32, 35], [15, 20, 25, 32])],
)
def test_optimal_k_in_the_setting_of_the_paper(objective, k, r, capsys):
    rows = json.loads(printed(f"optimal-k 64 --objective {objective} --json", capsys))
    assert [row["k"] for row in rows] == k
    assert [row["r"] for row in rows] == r


def test_units_and_path_counts_reach_the_model(capsys):
    units = "--rate 10Gbps --rtt-short 50us --rtt-long 0.4ms --packet-size 9000B"
    (row,) = json.loads(printed(f"optimal-k 32 --paths 40 --blocked-paths 8 {units} --json", capsys))
    best = cm.optimal_coding_unit(
        32, blocking_prob=0.2, rtt_short_s=50e-6, rtt_long_s=400e-6, packet_bytes=9000, rate_bps=10e9
    )
    assert (row["k"], row["r"]) == (best.k, best.r)
    assert row["delay_s"] == best.delay_s


def test_a_plot_for_a_paper_has_no_font_of_type_3(tmp_path, capsys):
    printed(f"optimal-k --plot {tmp_path / 'curve.pdf'}", capsys)
    text = (tmp_path / "curve.pdf").read_bytes()
    assert text.startswith(b"%PDF")
    assert b"/Subtype /Type3" not in text
    assert b"/FontFile2" in text


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot_is_written_whole(suffix, tmp_path, capsys):
    target = tmp_path / f"delay.{suffix}"
    printed(f"optimal-k --plot {target}", capsys)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_bytes()[:4] in (b"\x89PNG", b"<?xm")


@pytest.mark.parametrize(
    ("objective", "words"),
    [("eq4", "repair packets cost nothing"), ("with_redundancy_cost", "the time to send repair packets")],
)
def test_a_title_is_within_its_figure(objective, words, tmp_path, capsys, monkeypatch):
    drawn = []
    monkeypatch.setattr("capsmodel.plotting.save_figure", lambda figure, path: drawn.append(figure))
    printed(f"optimal-k 64 --objective {objective} --plot {tmp_path / 'delay.png'}", capsys)
    figure = drawn[0]
    figure.draw_without_rendering()
    title = figure.axes[0].title
    assert words in title.get_text()
    assert figure.bbox.contains(*title.get_window_extent().min)
    assert figure.bbox.contains(*title.get_window_extent().max)


class Resources(HTMLParser):
    """Collects what a page would load or open."""

    def __init__(self):
        super().__init__()
        self.tags, self.loaded, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        values = dict(attrs)
        self.loaded += [values[name] for name in ("src", "data") if name in values]
        self.links += [values["href"]] if "href" in values else []


def test_demo_leaves_a_page_that_stands_alone(blank, tmp_path, capsys):
    out = tmp_path / "out"
    text = printed(f"demo --quick --out {out}", capsys)
    tables = {"coding_unit", "optimal_k", "optimal_k_eq4", "redundancy", "reordering", "fct", "schemes", "port_wait"}
    figures = {"delay_eq4", "delay_with_redundancy_cost", "schemes", "port_wait", "recovery", "papers"}
    named = {f"{name}.csv" for name in tables | {"recovery", "papers"}} | {f"{name}.png" for name in figures}
    assert {path.name for path in out.iterdir()} == {"index.html"} | named
    page = Resources()
    page.feed((out / "index.html").read_text(encoding="utf-8"))
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert len(page.loaded) == len(figures)
    assert all(source.startswith("data:image/png;base64,") for source in page.loaded)
    assert {link for link in page.links if not link.startswith("#")} == named
    assert "recovered" in (out / "recovery.csv").read_text(encoding="utf-8")
    assert "wrote 17 files" in text


def test_what_the_tour_computes_beside_the_others_begins_first_and_keeps_its_place(monkeypatch):
    begun = Event()
    waiting = Station("waiting", "waiting", lambda quick, advance: begun.wait(timeout=60))
    beside = Station("beside", "setting", lambda quick, advance: begun.set(), beside=True)
    monkeypatch.setattr(demo, "STATIONS", (waiting, beside))
    assert list(demo._visit_all(quick=False).items()) == [("waiting", True), ("beside", None)]


def test_tables_are_written_where_nothing_can_draw(tmp_path, capsys, monkeypatch):
    line = "compare --fabric leaf-spine:2x2x2 --flows 20 --schemes ecmp,rps --seeds 1 "
    line += "--set traffic.exact_load=true --set traffic.start=steady --json"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit) as stop:
        main([*line.split(), "--out", str(tmp_path / "out")])
    printed = capsys.readouterr()
    assert stop.value.code in (0, None)
    assert printed.err.count("tables only, drawing needs matplotlib") == 1
    assert "pip install matplotlib" in printed.err
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"runs.csv", "table.csv"} <= written
    assert not any(name.endswith(".png") for name in written)


def test_what_is_infinite_is_json_all_the_same(capsys):
    """Copies of all bytes overload the queues: their times are infinite, which JSON has no word for."""
    (row,) = json.loads(printed("fct 0.8 --byte-share 1 --json", capsys), parse_constant=pytest.fail)
    assert row["mean_slowdown_short_rep"] is None
    assert row["mean_slowdown_short"] > 1


@pytest.mark.parametrize("command", ["optimal-k 1000000000", "reordering 10 --dup-acks 1000000000"])
def test_numbers_beyond_any_table_are_computed_or_cut(command, capsys):
    rows = json.loads(printed(f"{command} --json", capsys))
    assert all(value is not None for row in rows for value in row.values())
    assert "k = 1..8192" in printed("optimal-k 1000000000", capsys)


CODEC_PARTS = ("encode", "decode", "bench", "simulate-loss", "inspect")


@pytest.mark.parametrize("command", [*(one.name for one in COMMANDS), *(f"codec {part}" for part in CODEC_PARTS), ""])
def test_help_is_one_screen(command, capsys, monkeypatch):
    """48 lines of 100 columns, as a terminal has that fills a laptop."""
    monkeypatch.setattr(app, "console", Console(width=100))
    lines = printed(f"{command} --help", capsys).splitlines()
    assert len(lines) <= 48
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("command", ["simulate", "compare", "study", "optimal-k", "choose-unit", "codec encode"])
def test_help_is_running_text(command, capsys, monkeypatch):
    """Catches lines that end where those of a docstring do: of each next line the first word has no room before."""
    monkeypatch.setattr(app, "console", Console(width=80))
    lines = [line[1:-1] for line in printed(f"{command} --help", capsys).splitlines() if line.startswith("│")]
    for line, following in pairwise(lines):
        if following.startswith(" " * 8):
            word = following.split()[0]
            assert len(line.rstrip()) + 1 + len(word) > 76, f"{line.strip()} / {following.strip()}"
