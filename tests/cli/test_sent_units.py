"""Contract: units sent over unequal paths stand beside the exact probability, in packets and in bytes."""

import json

import pytest
from cli.commands import printed

from capsmodel import ParameterError, PathLosses, repair_packets_for, unit_corners, unit_failure_prob
from capsmodel.cli.shared.output import Output
from capsmodel.cli.units import sent_windows
from capsmodel.cli.units.sent_windows import print_sent_units

LOSSES = PathLosses([0.05, 0.1, 0.3], spread="in-turn", burst_packets=2.0)


def rows(capsys, k, r, losses=LOSSES):
    capsys.readouterr()
    print_sent_units(k, r, losses=losses, output=Output(json=True))
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def few_units(monkeypatch):
    """Send 600 units in a row, 20 of them with bytes; tests/agreement compares laws with thousands."""
    monkeypatch.setattr(sent_windows, "UNITS", 600)
    monkeypatch.setattr(sent_windows, "UNITS_WITH_BYTES", 20)
    return sent_windows.UNITS


@pytest.mark.agreement
def test_a_row_for_repair_packets_that_units_are_seen_to_fail_with(few_units, capsys):
    found = rows(capsys, 10, 8)
    assert [row["r"] for row in found] == sorted({row["r"] for row in found})
    assert (found[0]["r"], len(found), found[0]["bytes_failed"] > 0) == (0, 5, True)
    for row in found:
        exact = unit_failure_prob(10, r=row["r"], losses=LOSSES)
        assert row["failure_prob"] == exact >= 20 / few_units
        assert row["packets_low"] < row["packets_failure_prob"] < row["packets_high"]
        assert abs(row["packets_failure_prob"] - exact) < 4 * (exact * (1 - exact) / row["packets_units"]) ** 0.5
        assert row["bytes_failed"] == row["bytes_packets_failed"]
        assert 20 <= row["bytes_units"] < row["packets_units"]


def test_units_too_large_for_reed_solomon_have_no_bytes(capsys, monkeypatch):
    monkeypatch.setattr(sent_windows, "UNITS", 60)
    for k in (300, 200):  # all packets sent are computed: their numbers are k to 2 k + r - 1, and a code has 256
        found = rows(capsys, k, 0, PathLosses([0.01, 0.002]))
        assert [(row["bytes_units"], row["bytes_failed"]) for row in found] == [(None, None)]
    print_sent_units(200, 0, losses=PathLosses([0.01, 0.002]), output=Output())
    assert "Units have no bytes where 2 k + r is above 256." in " ".join(capsys.readouterr().out.split())


def test_text_says_what_the_answer_itself_would_need(few_units, capsys):
    print_sent_units(6, 8, losses=PathLosses([0.02, 0.1]), output=Output())
    text = " ".join(capsys.readouterr().out.split())
    assert f"{unit_failure_prob(6, r=8, losses=PathLosses([0.02, 0.1])):.3g} for r = 8, too seldom" in text


@pytest.mark.parametrize(
    ("losses", "told"),
    [
        (PathLosses(1e-6), "--simulate sends 2000 units, of which too few fail even without repair packets"),
        (PathLosses([0.1, 0.2], down_prob=0.1), "losses with paths that are down are not simulated: leave that out"),
    ],
)
def test_refusals(losses, told):
    with pytest.raises(ParameterError) as refusal:
        print_sent_units(10, 2, losses=losses, output=Output())
    assert str(refusal.value) == told


def test_the_command_sends_the_unit_that_it_chooses(few_units, tmp_path, capsys):
    """With delays in the file, which count with a deadline only; for one k, and for the least share of all."""
    (tmp_path / "p.csv").write_text("loss,delay_us,jitter_us\n0.05,20,20\n0.2,60,150\n", encoding="utf-8")
    line = f"choose-unit 9 --path-file {tmp_path / 'p.csv'} --spread in-turn --failure-prob 0.05 --simulate --json"
    losses = PathLosses([0.05, 0.2], spread="in-turn")
    corners = unit_corners(losses, failure_prob=0.05, max_k=9)
    best = int(corners.k[corners.best]), int(corners.r[corners.best])
    for option, (k, r) in {"--k 5": (5, repair_packets_for(5, losses=losses, failure_prob=0.05)), "": best}.items():
        found = json.loads(printed(f"{line} {option}", capsys))
        exact = [unit_failure_prob(k, r=row["r"], losses=losses) for row in found]
        assert [row["failure_prob"] for row in found] == exact
        assert found[-1]["r"] == r
