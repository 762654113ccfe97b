"""Agreement: words on claims are false as often as docs/verdict_rules.md says, by kept runs that are drawn again.

The page shows the table that ``benchmarks/measure_levels.py`` writes for all studies; here four of them.
"""

import numpy as np
import pytest
from measure_levels import IN_USE, MOST_SEEDS, RULES, coverage, kept_samples, noisiest, shares, values_of
from page_tables import read_table

from capsim.study.claims.decide import Sample, decide
from capsim.study.claims.relations import Relation
from capsim.study.scheme_runs import TAIL_SEEDS
from capsmodel.experiments.statistics.sequential import FALSE_ALARM, FIRST_LOOK_SEEDS, looks
from capsmodel.experiments.words import NOT_WORSE

pytestmark = pytest.mark.agreement
NAMES = ("mmptcp-incast", "caps-cloud", "caps-incast2", "dc2mtcp-random-fct")
MOST = {"means": 0.01, "tails": 0.02, "noisiest points": 0.01}
STUDIES = 1000


@pytest.fixture(scope="module")
def samples():
    return kept_samples(NAMES)


def rows_of_page():
    """Return the shares of each rule on the page, by what a claim is about, first look and level."""
    cells = read_table("levels")[1:]
    numbers = [[float(cell.rstrip("%")) / 100 for cell in line[2:]] for line in cells]
    return {
        (line[0], int(line[1]), row[0]): dict(zip(MOST, row[1:4], strict=True))
        for line, row in zip(cells, numbers, strict=True)
    }


def qualifies(row):
    return all(row[name] <= most for name, most in MOST.items())


def test_the_page_has_all_rules_and_the_one_in_use_is_of_those_that_qualify():
    page = rows_of_page()
    assert list(page) == [(rule.about, rule.first, pytest.approx(rule.level)) for rule in RULES]
    assert (IN_USE.first, IN_USE.level) == (FIRST_LOOK_SEEDS, FALSE_ALARM)
    found = [key for key, row in page.items() if qualifies(row)]
    assert {about for about, *_ in found} == {IN_USE.about}
    assert (IN_USE.about, IN_USE.first, IN_USE.level) in found


def test_the_rule_in_use_is_false_as_seldom_as_the_page_says(samples):
    """No comparison beyond the level either: its share has the standard error 0.003."""
    found = shares(IN_USE, samples, studies=STUDIES)
    error = (FALSE_ALARM / STUDIES) ** 0.5
    row = rows_of_page()[IN_USE.about, IN_USE.first, IN_USE.level]
    assert found.size > 200
    assert found.mean() == pytest.approx(row["means"], abs=0.001)
    assert found.max() <= FALSE_ALARM + 5 * error
    assert shares(IN_USE, noisiest(samples), studies=STUDIES).mean() <= MOST["noisiest points"] + error


def test_students_interval_is_false_more_often_than_is_allowed(samples):
    """What the page says of means at any first look: it is not the level 0.005 that they have."""
    for rule in RULES[:3]:
        assert shares(rule, samples, studies=100).mean() > MOST["means"]


def test_no_word_on_several_points_of_unequal_noise_is_false_more_often(samples):
    """Real points on common seeds: the noisiest lies where "lower" is no longer allowed to be, the others at half.

    All that the decision adds is tried: parts of the level, the mean over points, what is absent.
    """
    lower = Relation("lower").of_ratio()
    groups = {}
    for one in samples:
        if one.is_ratio:
            groups.setdefault((one.claim, one.subject.size), []).append(one.compared)
    groups = [np.array(rows) for rows in groups.values() if 2 <= len(rows) <= 8]
    rng, false, studies = np.random.default_rng(4), 0, 0
    for rows in groups:
        centred = rows - np.median(rows, axis=1)[:, None] + np.log(0.5)
        centred[rows.std(axis=1).argmax()] += np.log(NOT_WORSE / 0.5)
        for _ in range(40):
            drawn = centred[:, rng.integers(0, rows.shape[1], MOST_SEEDS)]
            false += first_word(drawn, lower) in ("holds", "fails", "absent")
            studies += 1
    assert len(groups) >= 10
    assert false <= FALSE_ALARM * studies + 4 * (FALSE_ALARM * studies) ** 0.5


def first_word(rows, says):
    """Return the word at the first look that has one."""
    for seeds in looks(MOST_SEEDS):
        points = [
            Sample(name=str(number), samples=row[:seeds], says=says, logarithmic=True)
            for number, row in enumerate(rows)
        ]
        word = decide(points, is_last=seeds == MOST_SEEDS).word
        if word != "open":
            return word
    return "open"


def test_what_is_printed_behind_a_mean_covers_it(samples):
    """In the median of all values 90 to 97%: of means from 5 seeds on, of tails from those on that are printed."""
    values = values_of(samples)
    for is_tail, seeds in ((False, 5), (True, TAIL_SEEDS)):
        assert 0.90 <= np.median(coverage(values[is_tail], seeds, studies=STUDIES)) <= 0.97
    assert np.median(coverage(values[True], 5, studies=STUDIES)) < 0.90
