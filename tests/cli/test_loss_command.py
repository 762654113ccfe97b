"""Contract: ``capsmodel codec simulate-loss`` takes an hour at most and little memory, or says what would fit."""

import json
import re

import numpy as np
import pytest

from capsmodel.cli import codec_loss, main
from capsmodel.codec import LdpcStaircase, RandomLinear, ReedSolomon
from capsmodel.codec.base import COEFFICIENTS_PER_S, BlockCode


def ended(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["codec", *map(str, arguments)])
    return stop.value.code, capsys.readouterr()


@pytest.fixture
def packets(tmp_path, capsys):
    """Return a file of two kinds of unit, the second with fewer packets."""
    (tmp_path / "data").write_bytes(np.random.default_rng(1).bytes(1500))
    file = tmp_path / "p.caps"
    options = ["--code", "rlnc", "--k", 10, "--r", 3, "--packet-size", "100B", "--stream-seed", 1]
    assert ended(["encode", tmp_path / "data", *options, "--out", file], capsys)[0] in (0, None)
    return file


@pytest.mark.parametrize("paths", [[], ["--paths", 20, "--blocked-paths", 3]])
def test_what_would_take_hours_is_refused_with_what_would_fit(paths, packets, capsys, monkeypatch):
    monkeypatch.setattr(codec_loss, "decodes", None)  # nothing is decoded before
    code, printed = ended(["simulate-loss", packets, "--receptions", 10**15, *paths], capsys)
    assert code == 2
    assert printed.err.count("\n") == 1
    assert "for units of 2 kinds" in printed.err
    fits = int(re.search(r"--receptions (\d+) would fit", printed.err)[1])
    for receptions, work in ((fits + 1, "would fit"), (fits, "'NoneType' object is not callable")):
        with pytest.raises(TypeError if receptions == fits else SystemExit) as stop:
            main(["codec", "simulate-loss", str(packets), "--receptions", str(receptions), *map(str, paths)])
        assert work in capsys.readouterr().err + str(stop.value)


def test_a_file_of_which_one_reception_takes_too_long_is_refused(packets, capsys, monkeypatch):
    monkeypatch.setattr(codec_loss, "_LONGEST_S", 1e-9)
    code, printed = ended(["simulate-loss", packets, "--receptions", 1], capsys)
    assert code == 2
    assert "take a part of the file" in printed.err


def test_receptions_are_drawn_a_part_at_a_time(packets, capsys, monkeypatch):
    rows = []
    for drawn in (10**6, 13 * 7, 1):
        monkeypatch.setattr(codec_loss, "_DRAWN", drawn)
        code, printed = ended(["simulate-loss", packets, "--receptions", 95, "--json"], capsys)
        assert code in (0, None)
        rows.append(json.loads(printed.out))
    assert rows[0] == rows[1] == rows[2]
    assert [row["k"] for row in rows[0]] == [10, 5]
    assert all(0.05 < row["lost_ratio"] < 0.15 for row in rows[0])


def test_losses_that_cannot_be_are_refused(subtests, packets, capsys):
    cases = [
        (["--receptions", 0], "--receptions = 0"),
        (["--paths", 4], "--paths and --blocked-paths go together"),
        (["--paths", 0, "--blocked-paths", 0], "--paths = 0, but it must be at least 1"),
        (["--paths", 10**9, "--blocked-paths", 1], "from 1 to 65536"),
        (["--paths", 4, "--blocked-paths", 5], "there are 4 paths"),
        (["--paths", 4, "--blocked-paths", -1], "--blocked-paths = -1"),
        (["--blocking-prob", 1.5], "1.5 is no probability: 1.5% is 0.015"),
    ]
    for options, told in cases:
        with subtests.test(options=options, told=told):
            code, printed = ended(["simulate-loss", packets, *options], capsys)
            assert code == 2
            assert told in printed.err


def test_estimates_count_what_has_to_be_solved():
    assert ReedSolomon(10, r=2, packet_bytes=1).elimination_s(2) == 0
    dense = RandomLinear(100, r=20, packet_bytes=1, systematic=False)
    assert dense.elimination_s(12) * COEFFICIENTS_PER_S == pytest.approx(108 * (100**2 + 30 * 100))
    known = RandomLinear(100, r=20, packet_bytes=1)
    assert known.elimination_s(12) * COEFFICIENTS_PER_S == pytest.approx(18 * (10**2 + 30 * 100))
    assert BlockCode.elimination_s(dense, 12) * COEFFICIENTS_PER_S == pytest.approx(108 * 100**2)


def test_estimates_of_ldpc_begin_where_peeling_ends():
    """Lost packets above 88% of the repair packets at N1 = 3, above 60% at N1 = 10; more than r are beyond help."""
    sparse, dense = (LdpcStaircase(4000, r=1000, packet_bytes=1, n1=n1) for n1 in (3, 10))
    assert (sparse.elimination_s(880), dense.elimination_s(600)) == (0, 0)
    assert sparse.elimination_s(900) == pytest.approx(3e-13 * 900**3)
    assert dense.elimination_s(900) == pytest.approx(10e-13 * 900**3)
    assert dense.elimination_s(3000) == dense.elimination_s(1000) == pytest.approx(10e-13 * 1000**3)
