"""Contract: every figure found in the folder gives data with units, is drawn, and shows what the paper prints."""

import csv
import io
from functools import cache
from hashlib import sha256

import numpy as np
import pytest
from cli.commands import printed, refused, succeeded

import capsmodel as cm
from capsmodel.datafiles import data_path
from capsmodel.experiments.manifest import table_id
from capsmodel.papers import claims
from capsmodel.papers.figures import published_figure, published_figures
from capsmodel.papers.figures._drawing import PUBLISHED
from capsmodel.papers.index import read_ledger
from capsmodel.papers.ledger import CLOSED_FORM_TEST
from capsmodel.papers.studies import own_studies, simulated_studies

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
def data_of(name):
    return published_figure(name).compute()


@pytest.mark.parametrize("name", NAMES)
def test_data_have_rows_units_and_no_gaps(name):
    frame = data_of(name)
    assert len(frame) >= 8
    strange = [column for column in frame if column not in WORDS and not column.endswith(SUFFIXES)]
    assert not strange
    numbers = frame.select_dtypes("number").to_numpy()
    assert np.isfinite(numbers).all()
    assert not frame.duplicated().any()


def artists_of_the_paper(drawn):
    return [artist for axes in drawn.axes for artist in axes.get_children() if artist.get_gid() == PUBLISHED]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_with_what_the_paper_prints_and_has_the_verdicts_of_the_ledger(name):
    figure = published_figure(name)
    drawn = figure.draw(data_of(name))
    for axes in drawn.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert len(axes.get_legend().get_texts()) >= 2
    assert artists_of_the_paper(drawn)
    for claim, found in figure.verdicts().items():
        assert read_ledger()[claim].verdict == found.verdict


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
    frame = data_of("caps-fig6a").query("k == 10")
    blocked_of_twelve = (1, 2, 3, 4)
    ours = [frame.loc[np.isclose(frame["blocking_prob"], blocked / 12), "r"].item() for blocked in blocked_of_twelve]
    assert ours == [1, 2, 4, 5]


def test_the_data_are_those_of_the_library():
    frame = data_of("caps-fig9b")
    row = frame[(frame["scheme"] == "without coding") & np.isclose(frame["blocking_prob"], 0.1)].iloc[0]
    expected = cm.uncoded_window_delay_s(64, blocking_prob=0.1, rtt_short_s=1e-4, rtt_long_s=3e-3)
    assert row["window_delay_s"] == pytest.approx(expected, rel=1e-12)


def test_an_unknown_figure_is_reported():
    with pytest.raises(cm.ParameterError, match="no figure 'caps-fig99'"):
        published_figure("caps-fig99")


@pytest.mark.parametrize("name", ["caps-fig6b", "caps-f6b-nl"])
def test_the_command_draws_it_by_its_name_or_that_of_a_claim_and_writes_its_numbers(name, tmp_path, capsys):
    out = tmp_path / "out"
    result = succeeded(f"gallery {name} --out {out} --plot {tmp_path / 'one.png'}", capsys)
    assert not result.err  # no progress bar: not a terminal
    assert {path.name for path in out.iterdir()} == {"gallery.html", "caps-fig6b.csv"}
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"
    page = (out / "gallery.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 1
    assert "capsmodel gallery caps-fig6b" in page
    assert table_id(data_of("caps-fig6b")) == sha256((out / "caps-fig6b.csv").read_bytes()).hexdigest()


def test_the_list_names_every_study_with_each_claim_once(capsys):
    rows = list(csv.DictReader(io.StringIO(printed("study --list --csv", capsys))))
    assert [row["name"] for row in rows] == [*own_studies(), *simulated_studies()]
    assert all(row["title"] for row in rows)
    rows = [row for row in rows if row["name"] not in own_studies()]
    listed = {claim: row["name"] for row in rows for claim in row["claims"].split(", ") if claim}
    assert sum(len(row["claims"].split(", ")) for row in rows if row["claims"]) == len(listed)
    ledger = read_ledger()
    assert all(ledger[claim].decided_by in (name, "") for claim, name in listed.items())
    by_other = {name for name, entry in ledger.items() if name not in listed}
    assert all(ledger[name].decided_by in ("", CLOSED_FORM_TEST, *NAMES) for name in by_other)


def test_a_file_is_no_folder_for_a_figure(capsys):
    assert "is a file" in refused(f"gallery caps-fig6a --out {data_path('workloads/index.toml')}", capsys)
