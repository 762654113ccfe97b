"""Contract: every figure found in the folder gives data with units, is drawn, and shows what the paper prints.

Full data of figures from packets are those kept in ``data/results/runs``; quick data are simulated.
"""

import csv
import hashlib
import io
import re
from functools import cache

import numpy as np
import pytest
from capsmodel.papers.experiments import published_experiments

import capsmodel as cm
from capsmodel.datafiles import data_path
from capsmodel.experiments.results import finished_tasks
from capsmodel.papers import claims
from capsmodel.papers.figures import published_figure, published_figures
from capsmodel.papers.figures._drawing import PUBLISHED
from capsmodel.papers.index import read_ledger
from capsmodel.papers.ledger import computed_experiments

NAMES = list(published_figures())
# The closed-form figures of the papers; figures from packets add to them.
CLOSED_FORM = [
    *(f"caps-fig{panel}" for panel in ("6a", "6b", "8a", "8b", "9a", "9b", "10a", "10b")),
    *(f"cdcps-fig{number}" for number in (4, 7, 8)),
    *(f"repflow-fig{number}" for number in (4, 5, 6, 7)),
]
SUFFIXES = ("_s", "_bytes", "_bps", "_packets", "_paths", "_prob", "_ratio", "_pct")
# Columns without a unit: words of the glossary, counts, and text.
COUNTS = {"flows", "units", "timeouts", "winner_timeouts"}
WORDS = {"k", "r", "load", "slowdown", "scheme", "form", "seed", "part"} | COUNTS
PAPERS = {"caps", "mmptcp", "repflow", "cdcps", "dc2mtcp"}


def test_all_closed_form_figures_are_there_in_order():
    assert len(NAMES) >= 15
    assert [name for name in NAMES if name in CLOSED_FORM] == CLOSED_FORM


@pytest.fixture
def data_of(results):
    return lambda name, quick: computed(name, quick, results if quick else data_path("results/runs"))


@cache
def computed(name, quick, folder):
    figure = published_figure(name)
    assert quick or {task.id for task in figure.tasks()} <= finished_tasks(folder).keys(), "run make ledger"
    return figure.data(quick=quick, results=folder)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_data_have_rows_units_and_no_gaps(name, quick, data_of):
    frame = data_of(name, quick)
    assert len(frame) >= 8
    strange = [column for column in frame if column not in WORDS and not column.endswith(SUFFIXES)]
    assert not strange
    numbers = frame.select_dtypes("number").to_numpy()
    assert np.isfinite(numbers).all()
    assert not frame.duplicated().any()


@pytest.mark.parametrize("name", NAMES)
def test_quick_is_no_larger_and_has_the_same_columns(name, data_of):
    quick, full = data_of(name, True), data_of(name, False)
    assert len(quick) <= len(full)
    assert list(quick) == list(full)


def artists_of_the_paper(drawn):
    return [artist for axes in drawn.axes for artist in axes.get_children() if artist.get_gid() == PUBLISHED]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_with_what_the_paper_prints_and_the_verdicts_of_its_own_table(name, data_of):
    """The verdict of another run never stands below a drawing: a quick simulation has none."""
    figure = published_figure(name)
    drawn = figure.drawn(data_of(name, True), quick=True)
    for axes in drawn.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert len(axes.get_legend().get_texts()) >= 2
    assert artists_of_the_paper(drawn)
    full = figure.drawn(data_of(name, False)).get_supxlabel().replace("\n    ", " ")
    quick = drawn.get_supxlabel().replace("\n    ", " ")
    for claim in figure.claims:
        assert re.search(rf"\b{re.escape(claim)}\b.*: {read_ledger()[claim].verdict}$", full, re.MULTILINE)
    assert ("not judged" in quick) == bool(figure.judges)
    assert quick == full or figure.judges


@pytest.mark.parametrize("name", NAMES)
def test_it_names_its_paper_its_claims_and_its_choices(name):
    figure = published_figure(name)
    known = {row.claim.id: row.claim for row in claims()}
    assert name.split("-")[0] in PAPERS
    assert {known[claim].paper for claim in figure.claims} <= {name.split("-")[0]}
    assert figure.claims or "No claim is judged by these runs" in " ".join(figure.choices.split())
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


def test_the_command_writes_table_and_picture_and_names_the_table_by_its_hash(tmp_path, capsys):
    code, out, err = ended(f"reproduce caps-fig6b repflow-fig5 --quick --out {tmp_path / 'out'}", capsys)
    assert code in (0, None)
    assert not err  # no progress bar: not a terminal
    names = {"caps-fig6b.csv", "caps-fig6b.png", "repflow-fig5.csv", "repflow-fig5.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert all(name in out for name in names)
    assert (tmp_path / "out" / "caps-fig6b.png").read_bytes()[:4] == b"\x89PNG"
    before = hashlib.sha256((tmp_path / "out" / "caps-fig6b.csv").read_bytes()).hexdigest()
    ended(f"reproduce caps-fig6b --quick --out {tmp_path / 'again'}", capsys)
    assert hashlib.sha256((tmp_path / "again" / "caps-fig6b.csv").read_bytes()).hexdigest() == before


def test_the_list_names_every_figure_and_experiment(capsys):
    code, out, _ = ended("reproduce --list --csv", capsys)
    assert code in (0, None)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["name"] for row in rows] == [*NAMES, *published_experiments(), *computed_experiments()]
    claims = [claim for row in rows for claim in row["claims"].split(", ") if claim]
    assert len(claims) == len(set(claims)), "a claim stands where the ledger has it from"
    assert claims.index("caps-f19-rtt") < claims.index("caps-f17d-best")  # of a figure, of an experiment


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("reproduce", "--all"),
        ("reproduce caps-fig6a --all", "--all"),
        ("reproduce nosuch", "no figure or experiment nosuch"),
        (f"reproduce caps-fig6a --out {data_path('workloads/index.toml')}", "is a file"),
        ("reproduce --all --json", "--list"),
        ("reproduce caps-fig6a --budget 2h", "go with simulated experiments"),
        ("reproduce caps-fig6a --shard 1/2", "go with simulated experiments"),
        ("reproduce caps-incast1 --shard 3/2", "--shard 3/2, but it must be 1/2 to 2/2"),
        ("reproduce caps-incast1 --budget soon", "'soon'"),
    ],
)
def test_a_bad_request_ends_in_one_line_and_status_2(line, message, capsys):
    code, _, err = ended(line, capsys)
    assert code == 2
    assert err.count("\n") == 1
    assert message in err
