"""Contract: every figure found in the folder gives data with units, is drawn, and shows what the paper prints."""

import csv
import hashlib
import io
import re
from functools import cache

import numpy as np
import pytest
from cli.commands import printed, refused, succeeded

import capsmodel as cm
from capsmodel.datafiles import data_path
from capsmodel.papers import claims
from capsmodel.papers.figures import published_figure, published_figures
from capsmodel.papers.figures._drawing import PUBLISHED
from capsmodel.papers.index import read_ledger
from capsmodel.papers.ledger import CLOSED_FORM_TEST
from capsmodel.papers.studies import simulated_studies

pytestmark = pytest.mark.agreement

NAMES = list(published_figures())
FIGURES = [
    *(f"caps-fig{panel}" for panel in ("6a", "6b", "8a", "8b", "9a", "9b", "10a", "10b")),
    *(f"cdcps-fig{number}" for number in (4, 7, 8)),
    *(f"repflow-fig{number}" for number in (4, 5, 6, 7)),
]
SUFFIXES = ("_s", "_bytes", "_bps", "_packets", "_paths", "_prob", "_ratio", "_pct")
# Columns without a unit: words of the glossary, and text.
WORDS = {"k", "r", "load", "slowdown", "scheme", "form"}
PAPERS = {"caps", "mmptcp", "repflow", "cdcps", "dc2mtcp"}


def test_all_figures_are_there_in_order():
    assert NAMES == FIGURES


@cache
def data_of(name, quick):
    return published_figure(name).data(quick=quick)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_data_have_rows_units_and_no_gaps(name, quick):
    frame = data_of(name, quick)
    assert len(frame) >= 8
    strange = [column for column in frame if column not in WORDS and not column.endswith(SUFFIXES)]
    assert not strange
    numbers = frame.select_dtypes("number").to_numpy()
    assert np.isfinite(numbers).all()
    assert not frame.duplicated().any()


@pytest.mark.parametrize("name", NAMES)
def test_quick_is_no_larger_and_has_the_same_columns(name):
    quick, full = data_of(name, True), data_of(name, False)
    assert len(quick) <= len(full)
    assert list(quick) == list(full)


def artists_of_the_paper(drawn):
    return [artist for axes in drawn.axes for artist in axes.get_children() if artist.get_gid() == PUBLISHED]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_with_what_the_paper_prints_and_the_verdicts_of_the_ledger(name):
    figure = published_figure(name)
    drawn = figure.drawn(data_of(name, True))
    for axes in drawn.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert len(axes.get_legend().get_texts()) >= 2
    assert artists_of_the_paper(drawn)
    below = drawn.get_supxlabel().replace("\n    ", " ")
    for claim in figure.claims:
        assert re.search(rf"\b{re.escape(claim)}\b.*: {read_ledger()[claim].verdict}$", below, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_it_names_its_paper_its_claims_and_its_choices(name):
    figure = published_figure(name)
    known = {row.claim.id: row.claim for row in claims()}
    assert name.split("-")[0] in PAPERS
    assert {known[claim].paper for claim in figure.claims} <= {name.split("-")[0]}
    assert figure.claims
    assert figure.title.endswith(".")
    assert "Not stated:" in figure.choices
    assert "Chosen:" in figure.choices


def test_points_of_the_paper_lie_on_the_curves_that_reproduce_them():
    frame = published_figure("caps-fig6a").data().query("k == 10")
    blocked_of_twelve = (1, 2, 3, 4)
    ours = [frame.loc[np.isclose(frame["blocking_prob"], blocked / 12), "r"].item() for blocked in blocked_of_twelve]
    assert ours == [1, 2, 4, 5]


def test_the_data_are_those_of_the_library():
    frame = published_figure("caps-fig9b").data(quick=True)
    row = frame[(frame["scheme"] == "without coding") & np.isclose(frame["blocking_prob"], 0.1)].iloc[0]
    expected = cm.uncoded_window_delay_s(64, blocking_prob=0.1, rtt_short_s=1e-4, rtt_long_s=3e-3)
    assert row["window_delay_s"] == pytest.approx(expected, rel=1e-12)


def test_an_unknown_figure_is_reported():
    with pytest.raises(cm.ParameterError, match="no figure 'caps-fig99'"):
        published_figure("caps-fig99")


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["caps-fig6b", "repflow-fig5"])
def test_the_command_writes_table_and_picture_the_same_each_time(name, tmp_path, capsys):
    line = f"study {name} --quick --out"
    told = succeeded(f"{line} {tmp_path / 'out'}", capsys)
    assert not told.err  # no progress bar: not a terminal
    names = {f"{name}.csv", f"{name}.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert all(f"{name}.{end}" in told.out for end in ("csv", "png"))
    assert (tmp_path / "out" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    printed(f"{line} {tmp_path / 'again'}", capsys)
    assert sha256(tmp_path / "again" / f"{name}.csv") == sha256(tmp_path / "out" / f"{name}.csv")


def test_a_claim_that_a_figure_decides_leads_to_it(tmp_path, capsys):
    assert "caps-f9a-r: holds" in printed(f"study caps-f9a-r --quick --out {tmp_path}", capsys)
    assert {path.name for path in tmp_path.iterdir()} == {"caps-fig9a.csv", "caps-fig9a.png"}


def test_the_hash_in_the_picture_is_that_of_its_table(tmp_path, capsys, monkeypatch):
    drawn = []
    monkeypatch.setattr("capsmodel.cli.figures.save_figure", lambda figure, path: drawn.append(figure))
    printed(f"study caps-fig6b --out {tmp_path}", capsys)
    captions = [text.get_text() for text in drawn[0].texts]
    assert f"capsmodel study caps-fig6b · SHA-256 of the data {sha256(tmp_path / 'caps-fig6b.csv')[:16]}" in captions


def test_the_list_names_every_figure_and_study_with_each_claim_once(capsys):
    rows = list(csv.DictReader(io.StringIO(printed("study --list --csv", capsys))))
    assert [row["name"] for row in rows] == [*NAMES, *simulated_studies()]
    assert all(row["title"] for row in rows)
    listed = {claim: row["name"] for row in rows for claim in row["claims"].split(", ") if claim}
    assert sum(len(row["claims"].split(", ")) for row in rows if row["claims"]) == len(listed)
    ledger = read_ledger()
    assert all(ledger[claim].decided_by in (name, "") for claim, name in listed.items())
    by_other = {name for name, entry in ledger.items() if name not in listed}
    assert all(ledger[name].decided_by in ("", CLOSED_FORM_TEST) for name in by_other)


def test_a_file_is_no_folder_for_a_figure(capsys):
    assert "is a file" in refused(f"study caps-fig6a --out {data_path('workloads/index.toml')}", capsys)
