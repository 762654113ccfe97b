"""Contract: what is printed fits the terminal; a head, a number or a word of a table is never cut."""

import json
import math
import re
import sys

import pandas as pd
import pytest
from cli.commands import printed
from rich.cells import cell_len
from rich.console import Console

from capsim.study.scheme_runs import metric_table
from capsmodel.cli import main
from capsmodel.cli.compare import _remarks
from capsmodel.cli.shared.run_output import fewer_seeds, metric_rows, missing_ratios
from capsmodel.cli.shared.table import Column, laid_out
from capsmodel.datafiles import data_path

pytestmark = pytest.mark.agreement

SMALL = "--fabric leaf-spine:2x2x2 --flows 20"
STYLE = re.compile("\x1b" + r"\[[0-9;]*m")
COMMANDS = [
    "optimal-k",
    "optimal-k 16 --blocking-prob 0.2 --simulate",
    "choose-unit --blocking-prob 0.01 --failure-prob 1e-6",
    "choose-unit --k 8 --blocking-prob 0.01 --failure-prob 1e-6 --deadline 1ms --retransmit 300us",
    "decode-prob 10,20 --blocking-prob 0.1,0.2",
    "redundancy",
    "reordering",
    "fct",
    f"simulate {SMALL}",
    f"compare {SMALL} --schemes ecmp,rps --seeds 2 --jobs 1",
    f"compare {SMALL} --schemes ecmp,caps_dark,repflow --seeds 1 --jobs 1",
    "schemes",
    "schemes caps",
    "presets",
    "workloads",
    "workloads websearch",
    "claims --paper caps",
    "claims --totals",
    "equations --paper caps",
    "claims caps-f17a-rps",
    "claims --by-setting repflow-overhead",
    "study --list",
    "study caps-incast1 --costs",
    "codec inspect FILE",
    "codec simulate-loss FILE --receptions 50",
]


@pytest.fixture(scope="module")
def packets(tmp_path_factory):
    """Return a file of packets."""
    folder = tmp_path_factory.mktemp("packets")
    with pytest.raises(SystemExit):
        main(["codec", "encode", str(data_path("workloads/stats.csv")), "--k", "4", "--r", "2", "--packet-size", "200B",
              "--out", str(folder / "p.caps")])  # fmt: skip
    return folder / "p.caps"


def text_of(line, packets, capsys):
    return STYLE.sub("", printed([packets if word == "FILE" else word for word in line.split()], capsys))


def fits(text, width):
    """Return the lines that are too long; names of files that a command wrote are as long as they are."""
    return [line for line in text.splitlines() if cell_len(line) > width and not line.startswith("wrote")]


def words(text):
    return {word for word in text.split() if set(word) != {"─"}}


@pytest.mark.parametrize("command", COMMANDS)
def test_it_fits_a_terminal_of_any_width_and_a_pipe(command, packets, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    piped = text_of(command, packets, capsys)
    assert fits(piped, 80) == []
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    shown = {}
    for width in (80, 100, 160):
        monkeypatch.setenv("COLUMNS", str(width))
        shown[width] = text_of(command, packets, capsys)
        assert fits(shown[width], width) == []
        assert "…" not in shown[width]
    if not re.search("CPU s", piped):  # which is another one each time
        assert words(shown[80]) == words(shown[160]), "a word was cut, or a column is missing"


ROWS = [{"scheme": "caps", "mean_fct_short_s": 0.0033742, "half": 0.00041, "summary": "short flows are coded"}]
COLUMNS = [
    Column("scheme", "scheme"),
    Column("mean_fct_short_s", "mean FCT, short, ms", 1e3, "half"),
    Column("summary", "summary"),
]


def lines_of(width, capsys):
    Console(width=width).print(laid_out(ROWS, COLUMNS, width=width))
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_units_heads_and_errors_of_a_table(capsys):
    assert lines_of(60, capsys) == [
        "          mean FCT,",
        "scheme    short, ms  summary",
        "──────────────────────────────────────────",
        "caps    3.37 ± 0.41  short flows are coded",
    ]


def test_texts_are_wrapped_between_words_before_anything_is_cut(capsys):
    assert lines_of(32, capsys)[-2:] == [
        "caps    3.37 ± 0.41  short flows",
        "                     are coded",
    ]


def test_a_row_becomes_a_list_where_columns_do_not_fit(capsys):
    assert lines_of(24, capsys)[0].split() == ["scheme", "caps"]
    assert any("3.37 ± 0.41" in line for line in lines_of(24, capsys))


def test_the_paired_ratio_to_the_first_scheme_is_printed(packets, capsys):
    line = f"compare {SMALL} --schemes ecmp,rps --seeds 3 --jobs 1"
    rows = json.loads(text_of(f"{line} --json", packets, capsys))
    (row,) = (row for row in rows if (row["scheme"], row["metric"]) == ("rps", "mean_fct_short_s"))
    text = text_of(line, packets, capsys)
    assert "ratio to" in text
    mine = next(re.split(r"\s{2,}", line) for line in text.splitlines() if line.startswith("rps"))
    value, ends = mine[2].split()  # behind the name, and the mean with its error or interval
    assert float(value) == pytest.approx(row["ratio"], abs=0.06 * (row["ratio"] - row["ratio_low"]))
    low, high = ends.strip("()").split("-")
    assert float(low) == pytest.approx(row["ratio_low"], rel=0.06)
    assert float(high) == pytest.approx(row["ratio_high"], rel=0.06)


def test_what_a_ratio_lacks_is_said_below_the_table():
    """The first scheme has no timeout with seed 2, and no long flow with seed 3."""
    runs = pd.DataFrame({"scheme": ["a"] * 3 + ["b"] * 3, "seed": [1, 2, 3] * 2, "timeouts": [1.0, 0, 2, 3, 4, 5]})
    runs["mean_fct_long_s"] = [1.0, 2.0, math.nan, 1.0, 2.0, 3.0]
    runs["mean_fct_short_s"] = 1.0
    metrics = ["timeouts", "mean_fct_long_s", "mean_fct_short_s"]
    table = metric_table(runs, [{"scheme": name} for name in "ab"], metrics, first_scheme="a")
    assert missing_ratios(table, ["scheme"], metrics, runs=runs, first_scheme="a") == [
        "timeouts: no ratio where a run has 0, which has no logarithm: a (1 of 3); b (1 of 3)",
        "mean FCT, long: a ratio over fewer seeds where some have no such flows: a (2 of 3); b (2 of 3)",
    ]


def test_a_scheme_whose_claims_are_decided_has_its_own_count_of_seeds():
    """Wrong line: its fewer runs are taken for seeds without such flows, or stand beside others without a count."""
    runs = pd.DataFrame({"scheme": ["a"] * 4 + ["b"] * 2, "seed": [1, 2, 3, 4, 1, 2], "mean_fct_short_s": 1.0})
    table = metric_table(runs, [{"scheme": name} for name in "ab"], ["mean_fct_short_s"], first_scheme="a")
    assert missing_ratios(table, ["scheme"], ["mean_fct_short_s"], runs=runs, first_scheme="a") == []
    assert fewer_seeds(runs, ["scheme"]) == ["fewer seeds, since the claims on them are decided: b (2 of 4)"]
    assert fewer_seeds(runs[runs["seed"] < 3], ["scheme"]) == []
    rows, columns = metric_rows(table, ["scheme"], ["mean_fct_short_s"], first_scheme=None)
    assert [row["seeds"] for row in rows] == [4, 2]
    assert [column.key for column in columns][:2] == ["scheme", "seeds"]


def test_one_seed_has_no_interval(packets, capsys):
    text = text_of(f"compare {SMALL} --schemes ecmp,rps --seeds 1 --jobs 1", packets, capsys)
    assert "±" not in text
    assert "nan" not in text
    assert "no interval" in text


def test_a_mean_above_the_99th_percentile_is_explained():
    runs = pd.DataFrame(
        {"scheme": ["a", "b"], "seed": 1, "mean_fct_short_s": [3.7, 1.0], "p99_fct_short_s": [0.2, 2.0]}
    )
    (remark,) = _remarks(runs)
    assert remark.startswith("a: the mean is above the 99th percentile")
