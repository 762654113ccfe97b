"""Contract: ``choose-unit`` and the loss options; each question of the how-to has its answer to the digit.

The numbers of the worked example were computed with 50 digits, apart from this package.
"""

import json

import numpy as np
import pytest
from cli.commands import ended, printed, refused
from rich.console import Console

import capsmodel as cm
from capsmodel.cli import app
from capsmodel.cli.units import unit_choice
from capsmodel.codec.files import arrivals, decodes
from capsmodel.codec.registry import CODES

PATHS = """loss,delay_us,jitter_us,count
0.001,20,20,8
0.005,30,30,4
0.02,40,60,3
0.1,60,150,1
"""
CORNERS = """
3 5 37.5 9.055e-07 4.367e-06 4.241 3.84
4 16 20 9.138e-07 5.107e-06 10.51 9.6
5 30 14.29 8.15e-07 2.932e-06 20.61 16.8
6 47 11.32 8.887e-07 2.442e-06 28.63 25.44
7 68 9.333 9.362e-07 1.405e-06 38.45 36
8 91 8.081 8.981e-07 1.855e-06 52.91 47.52
9 118 7.087 9.789e-07 1.045e-06 62.27 60.96
10 128 7.246 2.6e-07 3.759e-07 254.7 66.24
"""


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "paths.csv").write_text(PATHS, encoding="utf-8")
    return f"--path-file {tmp_path / 'paths.csv'} --spread in-turn"


def asked(paths, more=""):
    return f"choose-unit 128 {paths} --failure-prob 1e-6 --rate 25Gbps {more}"


def rows(line, capsys):
    return json.loads(printed(f"{line} --json", capsys))


def row(line, capsys):
    (only,) = rows(line, capsys)
    return only


def in_one_line(text):
    return " ".join(text.split())


def test_the_corners_of_the_worked_example(paths, capsys):
    text = printed(asked(paths), capsys)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for corner in CORNERS.strip().splitlines():
        assert corner in lines
    told = in_one_line(text)
    assert "Independent losses are assumed" in told
    assert "k = 118, r = 9: 7.09% of the packets sent are repair packets, also when nothing is lost" in told
    assert "one unit in 62.3 s fails" in told
    assert "worst first path, from which 1.045e-06 of the units fail: from there k = 118 needs r = 10" in told
    assert (
        "Independent losses are assumed: in runs of 2 packets of a path k = 118 would need r = 20 instead of 9" in told
    )
    assert {"r", "k", "repair_share", "failure_interval_s", "send_s"} <= set(rows(asked(paths), capsys)[0])


def test_one_size_of_the_worked_example(paths, capsys):
    found = row(asked(paths, "--k 64"), capsys)
    assert (found["k"], found["r"]) == (64, 7)
    assert found["failure_prob"] == pytest.approx(6.037e-7, rel=1e-4)
    assert found["worst_failure_prob"] == pytest.approx(1.276e-6, rel=1e-3)
    assert found["elasticity"] == pytest.approx(7.34, abs=5e-3)
    text = in_one_line(printed(asked(paths, "--k 64"), capsys))
    assert "one unit in 56.5 s fails" in text
    assert "Were each loss 1.5 times as high, 1.227e-05 of the units would fail, 20.3 times as many" in text
    assert "from there k = 64 needs r = 8" in text
    assert "k = 64 would need r = 14 instead of 7" in text


@pytest.mark.parametrize(("deadline", "r"), [(200, 30), (300, 20), (500, 12)])
def test_deadlines_of_the_worked_example(deadline, r, paths, capsys):
    assert row(asked(paths, f"--k 64 --deadline {deadline}us"), capsys)["r"] == r


@pytest.mark.parametrize(("deadline", "r", "apart"), [(150, 48, 21), (1000, 8, 7)])
def test_deadlines_of_the_worked_example_tell_what_packets_drawn_apart_would_need(deadline, r, apart, paths, capsys):
    text = in_one_line(printed(asked(paths, f"--k 64 --deadline {deadline}us"), capsys))
    assert f"were each packet's drawn anew, r = {apart} would do for k = 64, instead of {r}" in text


@pytest.mark.parametrize(("runs", "r"), [(2, 14), (3, 16), (5, 19), (10, 21)])
def test_runs_of_the_worked_example(runs, r, paths, capsys):
    assert row(asked(paths, f"--k 64 --burst {runs}"), capsys)["r"] == r


def test_sendings_of_the_worked_example(paths, capsys):
    line = asked(paths, "--k 64 --deadline 1ms --retransmit 200us")
    found = rows(line, capsys)
    assert [one["r"] for one in found] == [7, 6, 3, 1, 0]
    expected = [6.037e-07, 9.888e-08, 9.934e-07, 3.545e-07, 1.433e-08]
    assert [one["failure_prob"] for one in found] == pytest.approx(expected, rel=1e-3)
    sent = [one["sent_per_source_packet"] for one in found]
    assert sent == pytest.approx([1.1094, 1.0938, 1.047, 1.0191, 1.0119], abs=6e-5)
    assert all(one["fits"] for one in found)
    assert "Do not code: 5 sendings of a packet fit" in in_one_line(printed(line, capsys))
    assert rows(asked(paths, "--k 64 --retransmit 200us"), capsys) == found  # no deadline: all fit
    short = rows(asked(paths, "--k 64 --deadline 300us --retransmit 200us"), capsys)
    assert [one["fits"] for one in short] == [True, True, False, False, False]
    text = in_one_line(printed(asked(paths, "--k 64 --deadline 300us --retransmit 200us"), capsys))
    assert "2 sendings fit; the code then needs r = 6, and 7 alone" in text
    assert "3 too late 3" in text
    assert (
        "7 repair packets complete a unit sooner than sending again where a round trip takes longer than 6.12" in text
    )


def test_the_last_packet_arrives_after_all_are_sent_and_the_longest_least_delay(tmp_path, capsys):
    """71 packets of 12 us each and 500 us: delays count without a deadline too."""
    (tmp_path / "two.csv").write_text("loss,delay_us\n0.01,100\n0.01,500\n")
    line = f"choose-unit --k 64 --path-file {tmp_path / 'two.csv'} --spread in-turn --failure-prob 1e-6"
    unit = rows(line, capsys)[0]
    assert unit["r"] == 7
    text = in_one_line(printed(line, capsys))
    assert f"The last packet is there {71 * 12 + 500} us after the first begins to be sent" in text
    assert "The last packet" not in printed(f"{line} --deadline 5ms", capsys)


def test_sendings_that_fit_exactly_are_in_time(capsys):
    """50 packets of 1 us, 100 us between sendings and 150 us in all: two sendings, with which r = 5 is enough."""
    line = "choose-unit --k 45 --blocking-prob 0.01 --failure-prob 1e-6 --rate 12Gbps --retransmit 100us"
    exact = {one["sendings"]: one for one in rows(f"{line} --deadline 150us", capsys)}
    assert (exact[2]["fits"], exact[2]["r"]) == (True, 5)
    assert "2 sendings fit; the code then needs r = 5" in in_one_line(printed(f"{line} --deadline 150us", capsys))
    assert "1 sending fits; the code then" in in_one_line(printed(f"{line} --deadline 149us", capsys))


def test_half_of_a_round_trip_is_taken_from_the_deadline(capsys, paths):
    """Catches a whole round trip, none, and one beside the delays of a file."""
    line = "choose-unit --blocking-prob 0.01 --failure-prob 1e-6 --rate 12Gbps"
    assert rows(f"{line} --deadline 150us --rtt 100us", capsys) == rows(f"{line} --deadline 100us", capsys)
    again = f"{line} --k 45 --retransmit 100us --deadline"
    fits = [[one["fits"] for one in rows(f"{again} {times}", capsys)] for times in ("200us --rtt 100us", "150us")]
    assert fits[0] == fits[1]
    assert "taken as" not in in_one_line(printed(f"{line} --deadline 150us --rtt 100us", capsys))
    assert "--rtt needs --deadline" in refused(f"{line} --rtt 100us", capsys)
    file = f"choose-unit {paths} --failure-prob 1e-6 --deadline 1ms --rtt 100us"
    assert "--path-file holds the delays" in refused(file, capsys)


def test_a_deadline_without_delays_says_that_it_takes_none(capsys):
    line = "choose-unit --k 45 --blocking-prob 0.01 --failure-prob 1e-6 --rate 12Gbps --deadline 150us"
    for option in ("", "--retransmit 100us"):
        text = in_one_line(printed(f"{line} {option}", capsys))
        assert "The delay of the paths is taken as 0: give --rtt, or delay_us in --path-file." in text
        assert ("as many packets are sent again as the unit lacks, those lost beyond r" in text) == bool(option)


def test_packets_that_end_exactly_at_the_deadline_are_in_time(tmp_path, capsys):
    """60 packets of 1 us behind a delay of 10 us, in 70 us."""
    (tmp_path / "two.csv").write_text("loss,delay_us,count\n0,10,2\n", encoding="utf-8")
    line = f"choose-unit --k 60 --path-file {tmp_path / 'two.csv'} --spread in-turn --failure-prob 1e-6 --rate 12Gbps"
    assert row(f"{line} --deadline 70us", capsys)["r"] == 0
    assert "misses the deadline" in refused(f"{line} --deadline 69us", capsys)


def test_a_window_of_a_hundred_thousand_packets(capsys):
    found = rows("choose-unit 100000 --blocking-prob 0.01 --failure-prob 1e-6", capsys)
    assert (found[-1]["k"], found[-1]["r"]) == (100_000, cm.repair_packets_for(1e5, losses=0.01, failure_prob=1e-6))


def test_help_is_one_screen(capsys, monkeypatch):
    """Of 100 columns; each option is a line, but for the choices of one."""
    monkeypatch.setattr(app, "console", Console(width=100))
    screens = [printed(f"{command} --help", capsys) for command in ("choose-unit", "optimal-k")]
    assert ["--deadline" in one for one in screens] == [True, False]
    assert all(len(one.splitlines()) <= 36 for one in screens)


def test_optimal_k_says_where_its_options_are(subtests, capsys):
    cases = [
        "failure-prob=1e-6",
        "k 45",
        "deadline 1ms",
        "retransmit 1ms",
        "lost 1/9",
        "code rs",
        "path-file paths.csv",
        "spread in-turn",
        "first-path 3",
        "burst 5",
        "interleave 3",
    ]
    for option in cases:
        with subtests.test(option=option):
            name = option.replace("=", " ").split()[0]
            told = refused(f"optimal-k 64 --{option} --blocking-prob 0.1", capsys)
            assert told == f"capsmodel: --{name} is an option of capsmodel choose-unit: see its --help\n"


def test_one_failure_a_day(paths, capsys):
    for spread, r in ((paths, 10), (f"{paths} --burst 5", 29)):
        assert row(f"choose-unit 64 {spread} --failure-prob 4e-10 --k 64 --rate 25Gbps", capsys)["r"] == r


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        # 1. The loss is known: which r?
        ("redundancy 64 --blocking-prob .01175 --failure-prob 1e-6", "r_for_target", 8),
        ("redundancy 64 --blocking-prob .01175 --failure-prob 1e-12", "r_for_target", 13),
        ("choose-unit --k 64 --blocking-prob .01175 --failure-prob 1e-6", "r", 8),
        # 2. What is left, of units and of packets?
        ("decode-prob 20 --r 10 --blocking-prob 0.1 --spread random", "failure_prob", 8.908e-05),
        ("decode-prob 20 --r 10 --blocking-prob 0.1 --spread random", "residual_loss_prob", 3.326e-05),
        # 4. Paths differ.
        ("redundancy 64 PATHS --failure-prob 1e-6", "r_for_target", 7),
        ("decode-prob 64 --r 7 PATHS", "failure_prob", 6.037e-07),
        ("decode-prob 64 --r 7 PATHS --first-path 0", "failure_prob", 2.094e-07),
        # 5. Whole blocks are lost: does interleaving help?
        ("decode-prob 20 --r 4 --blocking-prob 0.01 --burst 10", "failure_prob", 0.0190),
        ("decode-prob 20 --r 4 --blocking-prob 0.01 --burst 10 --interleave 5", "failure_prob", 0.0116),
        ("decode-prob 20 --r 4 --blocking-prob 0.01 --burst 10 --interleave 24", "failure_prob", 8.40e-5),
        ("decode-prob 20 --r 4 --blocking-prob 0.01 --burst 10 --interleave 100", "failure_prob", 3.63e-6),
        ("decode-prob 20 --r 4 --blocking-prob 0.01 --burst 10 --failure-prob 1e-4", "least_interleave", 24),
        # 7. Before the deadline?
        ("choose-unit --k 64 PATHS --failure-prob 1e-6 --rate 25Gbps --deadline 200us", "r", 30),
        # 9. 12 of 1000 packets were lost.
        ("choose-unit --k 64 --lost 12/1000 --failure-prob 1e-6", "r", 9),
    ],
)
def test_answers_to_what_engineers_ask(line, key, value, paths, capsys):
    assert row(line.replace("PATHS", paths), capsys)[key] == pytest.approx(value, rel=6e-3)


def test_at_most_five_percent_of_repair_packets(capsys):
    """3. The corners say from which size on: the least k of whose repair packets, a nineteenth, are enough."""
    for loss in (0.001, 0.01):
        found = rows(f"choose-unit 1024 --blocking-prob {loss} --failure-prob 1e-6", capsys)
        cheap = [one["repair_share"] <= 0.05 for one in found]
        first = cheap.index(True)
        k = np.arange(1, 1025)
        enough = cm.decode_failure_prob(k, r=k // 19, blocking_prob=loss) <= 1e-6
        assert found[first - 1]["k"] < k[enough].min() <= found[first]["k"]


@pytest.mark.parametrize(("r", "decoded"), [(5, 1.0), (4, 0.75)])
def test_a_dead_path_in_turn_is_covered_for_certain(r, decoded, tmp_path, capsys):
    """6. One of 16 paths is dead, 68 packets in turn: exact beside drawn, on bytes."""
    (tmp_path / "data").write_bytes(bytes(6400))
    k = 68 - r
    made = ["codec", "encode", tmp_path / "data", "--k", k, "--r", r, "--packet-size", f"{6400 // k + 1}B"]
    printed([*made, "--out", tmp_path / "p"], capsys)
    options = ["--paths", 16, "--blocked-paths", 1, "--spread", "in-turn", "--json"]
    found = json.loads(printed(["codec", "simulate-loss", tmp_path / "p", *options], capsys))[0]
    assert (found["k"], found["decode_prob"]) == (k, pytest.approx(decoded, abs=1e-12))
    assert abs(found["decoded_ratio"] - decoded) < 0.06


def test_paths_of_which_some_are_blocked(capsys):
    """CAPS: 8 of 40 paths carry a long flow. In turn eight repair packets are enough for any unit on 40 paths."""
    line = "choose-unit 64 --paths 40 --blocked-paths 8 --spread in-turn --failure-prob 1e-6"
    corners = {one["r"]: one for one in rows(line, capsys)}
    assert (corners[8]["k"], corners[8]["failure_prob"], corners[8]["failure_interval_s"]) == (32, 0.0, None)
    found = row(f"{line} --k 32", capsys)
    assert (found["r"], found["residual_loss_prob"], found["elasticity"]) == (8, None, None)
    assert "one unit in an endless time fails" in in_one_line(printed(f"{line} --k 32", capsys))


def test_another_code_needs_a_little_more(paths, capsys):
    """10. Dense random linear packets over GF(256)."""
    mds, rlnc = (
        row(f"decode-prob 64 --r 7 {paths} --code {code}", capsys)["failure_prob"] for code in ("rs", "rlnc")
    )  # fmt: skip
    assert rlnc / mds == pytest.approx(1.07, abs=0.02)
    found = rows(f"choose-unit 128 {paths} --failure-prob 1e-6 --code rlnc", capsys)
    assert all(one["failure_prob"] <= 1e-6 for one in found)


def test_drawn_losses_of_a_file_of_paths_are_those_computed(paths, tmp_path, capsys):
    """12. Is the estimate real? Packets on bytes beside the formula."""
    (tmp_path / "data").write_bytes(bytes(6400))
    printed(
        ["codec", "encode", tmp_path / "data", "--k", 64, "--r", 2, "--packet-size", "100B", "--out", tmp_path / "p"],
        capsys,
    )
    line = f"codec simulate-loss {tmp_path / 'p'} {paths} --burst 3 --receptions 4000 --json"
    (found,) = json.loads(printed(line, capsys))
    assert abs(found["decoded_ratio"] - found["decode_prob"]) < 4 * found["standard_error"]
    assert found["lost_ratio"] == pytest.approx(0.01175, rel=0.15)


def test_a_run_may_be_a_time(paths, capsys):
    needed = [row(asked(paths, f"--k 64 --burst {run}"), capsys)["r"] for run in ("1ns", "120us")]
    assert needed[0] == 7
    assert needed[1] > 14


def test_the_same_first_path_always(paths, capsys):
    """80 packets over 16 paths: the next unit begins where this one did."""
    found = row(f"choose-unit 128 {paths} --failure-prob 1e-6 --k 72", capsys)
    assert found["k"] + found["r"] == 80
    text = in_one_line(printed(f"choose-unit 128 {paths} --failure-prob 1e-6 --k 72", capsys))
    assert "With n = 80 over 16 paths all units start at the same path" in text


def test_the_corners_are_drawn(paths, tmp_path, capsys):
    printed(asked(paths, f"--plot {tmp_path / 'corners.png'}"), capsys)
    assert (tmp_path / "corners.png").stat().st_size > 1000


def test_the_repair_packets_of_ldpc_are_measured_on_its_decoder(capsys):
    line = "choose-unit --k 12 --code ldpc --blocking-prob 0.1 --failure-prob 0.02"
    (found,) = json.loads(printed(f"{line} --json", capsys))
    assert found["r"] > found["r_mds"] == cm.repair_packets_for(12, blocking_prob=0.1, failure_prob=0.02)
    assert found["failure_prob"] < found["failure_prob_high"] <= 0.02
    code = CODES["ldpc"](12, r=found["r"], packet_bytes=1)
    fails = np.mean(~decodes(code, arrivals(code.n, blocking_prob=0.1, receptions=4000, rng=1)))
    assert fails == pytest.approx(found["failure_prob"], abs=5 * (0.02 / 4000) ** 0.5)


def test_a_long_time_is_told_in_days():
    assert [unit_choice._time_words(time_s) for time_s in (56.4, 600.0, 1e4, 1e6, float("inf"))] == [
        "56.4 s", "10 minutes", "2.78 hours", "11.6 days", "an endless time"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("choose-unit 64 --blocking-prob 0.1 --failure-prob 0", "failure_prob = 0"),
        ("choose-unit 64 --blocking-prob 0.1 --failure-prob 1", "failure_prob = 1"),
        ("choose-unit 64 --failure-prob 1e-6", "no blocking probabilities for one question"),
        ("choose-unit 64 --blocking-prob 0.1,0.2 --failure-prob 1e-6", "'0.1,0.2' is not a number"),
        ("choose-unit 64 PATHS", "Give --failure-prob"),
        ("choose-unit 64 PATHS --blocking-prob 0.1 --failure-prob 1e-6", "--path-file holds the losses"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --k 65", "--k = 65"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --interleave 3", "--interleave changes nothing without --burst"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --burst 1.05", "runs of 1.11111"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --burst many", "--burst many: write packets of a path, as in 5"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --deadline 10us --rate 25Gbps", "deadline_s = 1e-05"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --deadline 60us --rate 25Gbps --k 64", "misses the deadline"),
        (
            "choose-unit --k 200 --blocking-prob 0.01 --failure-prob 1e-6 --rate 1Gbps --deadline 2.4ms",
            "misses the deadline, and k packets take 0.0024 s at least: lower k, or give more time",
        ),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --first-path 16", "first_path = 16"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --lost 12/1000", "--lost is the loss of equal, independent packets"),
        ("choose-unit 64 --failure-prob 1e-6 --lost 12", "--lost 12: write lost/sent"),
        ("choose-unit 64 --failure-prob 1e-6 --lost 0/10", "--lost 0/10"),
        (
            "choose-unit PATHS --failure-prob 1e-6 --simulate --code rlnc",
            "--code is not simulated: leave it out with",
        ),
        ("choose-unit 9 --failure-prob 0.1 --lost 1/100 --simulate", "--lost is not simulated: leave it out with"),
        (
            "choose-unit PATHS --failure-prob 0.1 --simulate --deadline 1ms",
            "losses with a deadline are not simulated",
        ),
        ("choose-unit 64 PATHS --failure-prob 0.1 --simulate --plot a.png", "--plot draws the units of all sizes"),
        (
            "choose-unit 64 PATHS --failure-prob 0.1 --simulate --deadline 1ms --retransmit 1us",
            "--retransmit is not simulated: leave it out with",
        ),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --k 9 --plot a.png", "--plot draws the units of all sizes"),
        ("choose-unit 64 --failure-prob 1e-6 --path-file nowhere.csv", "nowhere.csv"),
        ("choose-unit 300 --blocking-prob 0.1 --failure-prob 1e-6 --burst 5", "at most 256"),
        ("choose-unit 64 PATHS --failure-prob 1e-6 --rtt-long 3ms", "Unknown option: --rtt-long"),
        ("choose-unit 64 --failure-prob 1e-6 --lost 1/9 --blocking-prob 0.1", "leave out other losses"),
        ("choose-unit --k 9 --blocking-prob 0.1 --failure-prob 1e-6 --interleave 1", "without --burst"),
        ("choose-unit 64 --lost 12/1000 --failure-prob 1e-6 --code rlnc", "--code counts for the code alone"),
        ("choose-unit 64 --lost 12/1000 --failure-prob 1e-6 --deadline 1ms", "--lost says nothing of delays"),
        ("redundancy 64 --failure-prob 1e-6 --target-prob 0.99", "give one of the two"),
        ("redundancy 64 PATHS --blocking-prob 0.1,0.2,0.3", "--path-file holds the losses"),
        ("decode-prob 64 PATHS --blocking-prob 0.2", "--path-file holds the losses"),
        ("decode-prob 64 --failure-prob 1e-6 --spread random", "give --burst"),
        ("choose-unit 64 --code raptor --blocking-prob 0.1 --failure-prob 1e-6", "--code"),
        ("choose-unit 64 --code ldpc --k 9 --blocking-prob 0.1 --failure-prob 1e-6", "with 10000 tries: ask for 0.001"),
        (
            "choose-unit --code ldpc --blocking-prob 0.1 --failure-prob 0.01",
            "measured for one size of unit: give --k",
        ),
        ("choose-unit 64 --code ldpc --k 1 --blocking-prob 0.9 --failure-prob 0.01", "is out of reach of --code ldpc"),
    ],
)
def test_refusals_are_one_line(line, told, paths, capsys):
    assert told in refused(line.replace("PATHS", paths), capsys)


def test_a_fault_of_the_file_names_its_line(tmp_path, capsys):
    (tmp_path / "p.csv").write_text("loss\n0.1\n1.5\n", encoding="utf-8")
    found = ended(f"choose-unit 9 --path-file {tmp_path / 'p.csv'} --failure-prob 0.1", capsys)
    assert found.status == 2
    assert "p.csv line 3: loss: loss = 1.5, but a probability lies in [0, 1]" in found.err
