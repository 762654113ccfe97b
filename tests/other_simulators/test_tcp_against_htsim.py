"""Another simulator: TCP and DCTCP against htsim's; docs/validation.md names the rules that differ."""

from hashlib import sha256

import numpy as np
import pytest
from other_simulators.htsim_tcp import CASES, capsim_outcome, equal_flows, htsim_outcome, values
from other_simulators.tcp_as_in_htsim import DCTCP_AS_IN_HTSIM, RENO_AS_IN_HTSIM

pytestmark = pytest.mark.agreement

SCANNED_PS = 1_005_000_000  # htsim looks at timers once a millisecond, and waits at most 5 us more


@pytest.mark.parametrize("name", CASES)
def test_the_values_are_of_this_case(name):
    assert values()["cases"][name]["inputs_sha256"] == sha256(CASES[name].text.encode()).hexdigest()


@pytest.mark.parametrize("name", ["tcp-lone", "tcp-one-long"])
def test_newreno_alone_is_that_of_htsim(name):
    htsim, ours = htsim_outcome(name), capsim_outcome(name)
    assert equal_flows(htsim, ours) == htsim.fct_ps.size
    assert (ours.dropped, ours.sent_again) == (htsim.dropped, htsim.sent_again)


def test_newreno_with_htsims_rules_is_that_of_htsim():
    name = "tcp-four-long"
    htsim, plain, ours = htsim_outcome(name), capsim_outcome(name), capsim_outcome(name, congestion=RENO_AS_IN_HTSIM)
    assert plain.fct_ps.mean() == pytest.approx(htsim.fct_ps.mean(), rel=0.02)
    assert equal_flows(htsim, ours) == htsim.fct_ps.size
    assert (ours.dropped, ours.sent_again) == (htsim.dropped, htsim.sent_again)


def test_an_incast_differs_by_when_timers_are_looked_at():
    htsim, ours = htsim_outcome("tcp-incast-8"), capsim_outcome("tcp-incast-8")
    late_ps = htsim.fct_ps - ours.fct_ps
    assert np.sum(np.abs(late_ps) <= 1) == 7
    assert late_ps.min() >= -1
    assert late_ps.max() <= SCANNED_PS
    assert (ours.dropped, ours.sent_again) == (htsim.dropped, htsim.sent_again)


def test_an_incast_in_which_many_timers_expire_agrees_in_the_mean():
    htsim, ours = htsim_outcome("tcp-incast-32"), capsim_outcome("tcp-incast-32")
    assert ours.fct_ps.mean() == pytest.approx(htsim.fct_ps.mean(), rel=0.05)
    assert ours.dropped == pytest.approx(htsim.dropped, rel=0.02)


@pytest.mark.parametrize("name", ["dctcp-one", "dctcp-eight"])
def test_dctcp_with_htsims_rules_is_that_of_htsim(name):
    htsim, ours = htsim_outcome(name), capsim_outcome(name, congestion=DCTCP_AS_IN_HTSIM)
    assert equal_flows(htsim, ours) == htsim.fct_ps.size
