"""Published kind: the verdict on each claim and number that needs no simulation, mismatches included."""

import numpy as np
import pytest

from capsmodel._paper_index import read_ledger
from capsmodel.experiments.published import closed_form_verdicts, number_verdicts
from capsmodel.experiments.verdicts import VERDICT_WORDS, registered_claims, registered_numbers

CLAIMS = {claim.id: (claim, verdict) for claim, verdict in closed_form_verdicts()}
NUMBERS = {number.id: (number, verdict) for number, verdict in number_verdicts()}

# Every claim that does not reproduce, with the kind of mismatch and our value. All others must reproduce.
CLAIM_MISMATCHES = {
    "caps-f7c": ("refuted", (0.54, 3.375)),
    "caps-f8b-dw": ("differs in size", (110,)),
    "caps-optk-0.2": ("refuted", (61,)),
    "caps-optk-0.25": ("refuted", (64,)),
    "caps-optk-0.3": ("refuted", (61,)),
    "caps-optk-0.35": ("refuted", (64,)),
    "caps-f10a-g": ("refuted", (100 * 0.25 / 7.75, 100 * 0.25 / 75.25)),
    "caps-f10a-max": ("differs in size", (100 * 0.35 / 6.85,)),
    "caps-f10b-max": ("differs in size", (100 * 0.35 / 6.85,)),
    "repflow-f6": ("differs in size", (39.37, 63.64)),
    "repflow-s4d": ("differs in size", (14.15, 40.18)),
    "repflow-f5": ("differs in size", (1.00294, 1.20833)),
    "repflow-f7": ("differs in size", (1.00394, 1.22881)),
    "repflow-eps": ("differs in size", (0.0103,)),
    "dc2mtcp-s4a-wv": ("not testable", ()),
    "dc2mtcp-s4a-ws": ("differs in size", (14,)),
    "dc2mtcp-s4b-small": ("not testable", ()),
}

NUMBER_MISMATCHES = {
    "caps-fig7b-fraction": ("differs in size", (729,)),
    "caps-fig7c": ("refuted", (0,)),
    "caps-fig7d": ("not testable", (0.178, 0.325, 0.431, 0.613)),
    "caps-fig10a": ("differs in size", (0.35 / 6.85,)),
    "caps-fig10b": ("differs in size", (0.35 / 6.85,)),
    "caps-optk-0.2": ("differs in size", (61,)),
    "caps-optk-0.25": ("differs in size", (64,)),
    "caps-optk-0.3": ("differs in size", (61,)),
    "caps-optk-0.35": ("differs in size", (64,)),
    "mmptcp-t1-100": ("differs in size", (7.9365,)),
    "mmptcp-t1-5x": ("differs in size", (7.331,)),
    "mmptcp-t3-all": ("refuted", (0,)),
    "mmptcp-t7-rounds20": ("not testable", (800,)),
    "mmptcp-t7-rounds40": ("not testable", (800,)),
    "mmptcp-t7-feas": ("refuted", (0,)),
    "mmptcp-t8-li": ("refuted", (0,)),
    "mmptcp-perm": ("differs in size", (11200 / 127,)),
    "repflow-k": ("differs in size", (8.192,)),
    "repflow-t1-mean": ("differs in size", (40,)),
    "repflow-t1-10x": ("differs in size", (12.963, 33.793)),
    "repflow-fig46": ("differs in size", (8.0587, 44.4597)),
    "repflow-fig46-tail": ("differs in size", (16.703, 81.055)),
    "repflow-long": ("not testable", (0.7032, 3.5088, 20.833, 74.38)),
    "repflow-t3": ("differs in size", (3.24875,)),
    "cdcps-fig4b": ("not testable", (0.25, 0.8125, 0.98926, 0.99998)),
    "cdcps-fig8": ("not testable", (0.9885, 0.9298, 0.6778)),
    "cdcps-t2": ("differs in size", (20,)),
    "cdcps-host": ("not testable", (32, 4)),
    "dc2mtcp-eq7": ("differs in size", (80 / 12,)),
    "dc2mtcp-opt-space": ("differs in size", (44,)),
    "dc2mtcp-csw": ("differs in size", (46,)),
    "dc2mtcp-eq6": ("not testable", (0.19, 0.271, 0.0523, 2.341e-05)),
    "dc2mtcp-co-h": ("differs in size", (0.0005,)),
    "dc2mtcp-co-l": ("differs in size", (0.003335,)),
    "dc2mtcp-co-x": ("differs in size", (2.011, 3.602)),
    "dc2mtcp-gp": ("differs in size", (32,)),
    "dc2mtcp-fct": ("differs in size", (34,)),
}


def test_every_closed_form_claim_and_every_number_is_judged() -> None:
    assert len(CLAIMS) == 50
    assert len(NUMBERS) >= 80
    assert set(CLAIMS) == registered_claims()
    assert set(NUMBERS) == registered_numbers()
    assert CLAIM_MISMATCHES.keys() <= CLAIMS.keys()
    assert NUMBER_MISMATCHES.keys() <= NUMBERS.keys()


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_verdict_on_a_claim(claim_id: str) -> None:
    _, verdict = CLAIMS[claim_id]
    word, value = CLAIM_MISMATCHES.get(claim_id, ("reproduced", verdict.value))
    assert verdict.verdict == word
    assert verdict.verdict in VERDICT_WORDS
    assert verdict.reason
    np.testing.assert_allclose(verdict.value, value, rtol=1e-3)


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_the_ledger_says_the_same(claim_id: str) -> None:
    _, verdict = CLAIMS[claim_id]
    entry = read_ledger()[claim_id]
    assert (entry.verdict, entry.reason) == (verdict.verdict, verdict.reason)
    np.testing.assert_allclose(entry.value, verdict.value, rtol=1e-9)


@pytest.mark.parametrize("number_id", NUMBERS)
def test_verdict_on_a_printed_number(number_id: str) -> None:
    number, verdict = NUMBERS[number_id]
    word, value = NUMBER_MISMATCHES.get(number_id, ("reproduced", verdict.value))
    assert verdict.verdict == word
    np.testing.assert_allclose(verdict.value, value, rtol=1e-3)
    if word == "reproduced" and number.relation == "equal":
        np.testing.assert_allclose(verdict.value, number.printed, rtol=0, atol=number.reading_error * (1 + 1e-9))


def test_absolute_claims_that_reproduce_lie_within_half_a_unit_of_their_last_digit() -> None:
    sizes = {"0.34": 0.005, "0.66": 0.005, "0.07": 0.005, "1.5": 0.05}
    checked = 0
    for claim, verdict in CLAIMS.values():
        if claim.relation == "absolute" and claim.low and verdict.verdict == "reproduced":
            assert abs(verdict.value[0] - float(claim.low)) <= sizes.get(claim.low, 0.5)
            checked += 1
    assert checked >= 10
