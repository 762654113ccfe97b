"""Another simulator: capsim against htsim on the same flows; docs/validation.md explains what is left."""

import pytest
from other_simulators.compare_with_htsim import (
    capsim_outcome,
    compared,
    htsim_outcome,
    mean_of_several_us,
    printed_digits,
    values,
)
from other_simulators.htsim_cases import (
    ALL_TO_ALL_US,
    CASES,
    ONE_HOST_US,
    all_to_all,
    one_host,
)
from page_tables import by_first_cell

from capsim.protocols.transports.rack import RACK

pytestmark = pytest.mark.agreement

SEEDS = 1  # of four, for the time that a run takes
WITHIN = {  # shares of htsim's: of the mean, and of the end of a run
    "permutation": (0.01, 0.02),
    "permutation-bitmap": (0.01, 0.03),
    "permutation-reps": (0.01, 0.03),
    "permutation-mixed": (0.01, 0.03),
    "incast-8": (0.01, 0.01),
    "incast-32": (0.01, 0.01),
    "ring": (0.002, 0.002),
    "all-to-all": (0.002, 0.003),
    "uet-permutation": (0.01, 0.03),
    "uet-permutation-4": (0.01, 0.03),
    "uet-incast-8": (0.01, 0.06),
    "uet-incast-32": (0.02, 0.02),
    "uet-marks-permutation": (0.01, 0.03),
    "uet-marks-incast-32": (0.01, 0.02),
    "uet-drop-permutation": (0.03, 0.06),
    "uet-drop-incast-32": (0.015, 0.02),
    "ndp-permutation": (0.01, 0.02),
    "ndp-incast-8": (0.02, 0.05),
    "ndp-incast-32": (0.01, 0.01),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_values_are_of_this_case(name):
    assert values()["cases"][name]["inputs_sha256"] == CASES[name].inputs_sha256


@pytest.mark.parametrize("name", ["lone", "uet-lone", "ndp-lone"])
def test_lone_flows_take_the_time_that_htsim_prints_in_all_its_digits(name):
    htsim, ours = htsim_outcome(name), capsim_outcome(name)
    assert printed_digits(ours) == printed_digits(htsim)
    assert compared(name, htsim, ours)[1:] == by_first_cell("htsim")[name]


@pytest.mark.parametrize("name", WITHIN)
def test_capsim_agrees_with_htsim(name):
    htsim, ours = htsim_outcome(name), capsim_outcome(name, seeds=SEEDS)
    of_mean, of_last = WITHIN[name]
    shown_us, shown_ours_us, *_ = by_first_cell("htsim")[name]  # of all seeds
    assert shown_us == f"{htsim.mean_us:.2f}"
    assert float(shown_ours_us) == pytest.approx(ours.mean_us, rel=2 * of_mean)
    assert ours.mean_us == pytest.approx(htsim.mean_us, rel=of_mean)
    assert ours.last_us == pytest.approx(htsim.last_us, rel=of_last)
    runs = CASES[name].seeds / SEEDS
    assert runs * ours.sent_again == pytest.approx(htsim.sent_again, rel=0.25, abs=50)
    assert ours.headers == pytest.approx(ours.sent_again if CASES[name].trims else 0, rel=0.01)


def test_what_rack_guesses_is_the_difference_to_a_sender_that_never_does():
    htsim, ours = htsim_outcome("permutation"), capsim_outcome("permutation", seeds=1, transport=RACK)
    assert ours.mean_us > 1.05 * htsim.mean_us
    assert ours.sent_again > 5 * ours.headers


@pytest.mark.parametrize("count", ONE_HOST_US)
def test_several_flows_of_one_host_share_its_link(count):
    """Wrong line: the timer of a packet runs while that waits for the NIC of its host (eight: 3301 us)."""
    assert mean_of_several_us(one_host(count)) == pytest.approx(ONE_HOST_US[count], rel=3e-4)


def test_all_to_all_at_once_takes_the_time_of_htsim():
    """Fifteen flows of each host at once; 802 us with that wrong line."""
    assert mean_of_several_us(all_to_all()) == pytest.approx(ALL_TO_ALL_US, rel=0.005)
