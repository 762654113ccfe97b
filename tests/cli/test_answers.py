"""Contract: answers say what they cost, what packets say about them, and which run a verdict belongs to."""

import json
import re

import pytest
from cli.commands import printed

import capsmodel as cm
from capsmodel.experiments.words import MEANINGS
from capsmodel.papers import claims
from capsmodel.papers.measurements.unit_delays import mean_window_delays

SETTING = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}


def in_one_line(text):
    return " ".join(text.split())


def test_the_best_unit_comes_with_its_cost_its_flatness_and_what_packets_say(capsys):
    (row,) = json.loads(printed("optimal-k 64 --blocking-prob 0.2 --json", capsys))
    assert row["repair_share"] == pytest.approx(row["r"] / (row["k"] + row["r"]))
    text = in_one_line(printed("optimal-k 64 --blocking-prob 0.2", capsys))
    assert "35% of the packets sent are repair packets (15 of 43 in a unit)" in text
    near = re.search(r"(\d+) sizes from k = (\d+) to (\d+) are within 1%.*k = (\d+), r = (\d+) has the smallest", text)
    count, first, last, cheapest, its_r = map(int, near.groups())
    curve = cm.delay_curve(64, blocking_prob=0.2, **SETTING)
    close = [k for k, delay_s in zip(curve.k, curve.delay_s, strict=True) if delay_s <= 1.01 * min(curve.delay_s)]
    assert (count, first, last) == (len(close), close[0], close[-1])
    shares = {int(k): int(r) / int(k + r) for k, r in zip(curve.k, curve.r, strict=True) if k in close}
    assert its_r == curve.r[cheapest - 1]
    assert shares[cheapest] == min(shares.values())
    assert "How large a unit?" in text
    assert "caps-unit-shape" in text


def test_the_best_unit_of_a_large_window_is_the_least_of_its_curve(capsys):
    text = in_one_line(
        printed("optimal-k 2500 --blocking-prob 0.65 --rate 100Gbps --rtt-long 3ms --rtt-short 100us", capsys)
    )
    assert "from 0.7917 ms (k = 806) to 3 ms" in text
    assert "(1708 of 2514 in a unit)" in text
    assert "does not pay" not in text


@pytest.mark.parametrize("line", ["optimal-k 256 --blocking-prob 0.5", "optimal-k 64 --blocking-prob 0"])
def test_where_coding_does_not_pay_it_says_so(line, capsys):
    """What packets say is about an optimum that is not there."""
    text = in_one_line(printed(line, capsys))
    assert "Coding does not pay here" in text
    assert "What packets say" not in text


def test_simulated_windows_are_those_of_the_papers_measurement(capsys, monkeypatch):
    """In the setting of the paper the command sends what `mean_window_delays` sends, by other random numbers."""
    monkeypatch.setattr("capsmodel.cli.units.sent_windows.WINDOWS", 100)
    rows = json.loads(printed("optimal-k 64 --blocking-prob 0.2 --simulate --json", capsys))
    best = cm.optimal_coding_unit(64, blocking_prob=0.2, **SETTING)
    assert {best.k, 64, 32, 16} == {row["k"] for row in rows}
    assert {(row["n_paths"], row["blocked_paths"]) for row in rows} == {(10, 2)}
    for row in rows:
        found = mean_window_delays(row["k"], r=row["r"], n_paths=10, long_flows=2, windows=100, seed=5)
        for name in ("window_delay", "packet_delay"):
            other_s = (found[f"{name}_high_s"] - found[f"{name}_low_s"]) / 2
            allowed_s = 2.5 * (row[f"{name}_half_width_s"] ** 2 + other_s**2) ** 0.5  # 5 standard errors
            assert row[f"{name}_s"] == pytest.approx(found[f"{name}_s"], abs=allowed_s)
    text = in_one_line(printed("optimal-k 64 --blocking-prob 0.2 --simulate", capsys))
    assert f"to the last ACK k = {best.k} takes" in text
    assert "k = 64 is fastest" in text


def test_other_rates_and_round_trips_are_simulated_as_asked(capsys):
    line = "optimal-k 32 --blocking-prob 1/3 --simulate --rate 2.5Gbps --rtt-short 50us --rtt-long 1ms --json"
    rows = json.loads(printed(line, capsys))
    assert {(row["n_paths"], row["blocked_paths"]) for row in rows} == {(9, 3)}
    for row in rows:
        # A round trip without long flows, and the time to send 32 packets of 4.8 us, at least; RTT_L more at most.
        least_s = 50e-6 + 32 * 4.8e-6
        assert least_s < row["window_delay_s"] < least_s + 1.3e-3
        assert row["packet_delay_s"] < row["window_delay_s"]


def test_none_that_fails_is_an_answer_with_the_counts(capsys):
    text = in_one_line(printed("claims --paper cdcps --verdict fails", capsys))
    words = [row.entry.verdict for row in claims("cdcps")]
    assert f"None of the {len(words)} claims of cdcps has the verdict fails" in text
    assert f"agrees {words.count('agrees')}, holds {words.count('holds')}" in text
    assert f"differs {words.count('differs')}" in text


def test_the_help_of_claims_says_what_each_verdict_means(capsys):
    text = in_one_line(printed("claims --help", capsys).replace("│", " "))
    assert all(f"{word}: {meaning}." in text for word, meaning in MEANINGS.items())


def test_claims_that_fail_are_told_with_the_reason(capsys):
    text = in_one_line(printed("claims --paper caps --verdict fails", capsys))
    rows = claims("caps", "fails")
    assert rows
    for row in rows:
        assert f"{row.claim.id}: fails" in text
        assert f"The paper ({row.claim.where}): {in_one_line(row.claim.text)}" in text  # our words, so no quotation
        assert in_one_line(row.entry.reason).rstrip(".") in text
    assert f"fails {len(rows)}" in text


def test_numbers_of_claims_are_numbers_in_json(capsys):
    rows = {row["id"]: row for row in json.loads(printed("claims --paper caps --json", capsys))}
    optimum = rows["caps-optk-0.2"]
    assert (optimum["low"], optimum["high"], optimum["value"], optimum["interval"]) == (29.0, 29.0, [61.0], [])
    assert all(isinstance(row["low"], float | None) and isinstance(row["value"], list) for row in rows.values())


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["claims", "--verdict", "not testable", "--paper", "caps"], "not testable"),
        (["equations", "--numbers", "--paper", "caps"], "Ours: 61 packets."),
        (["claims", "--paper", "caps", "--verdict", "holds"], "a ratio of"),
    ],
)
def test_every_kind_of_claim_has_its_words(line, told, capsys):
    assert told in in_one_line(printed(line, capsys))


def test_references_are_bibtex_here_and_in_python(capsys):
    assert printed("cite --paper caps", capsys).strip() == cm.papers.cite("caps")
    assert cm.papers.cite("caps").startswith("@")
