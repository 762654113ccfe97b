"""Property: the factor by which a value is off print in each setting, from made-up runs whose factors are known."""

import pytest
from study.made_up import TIMER, design, run

from capsim.study.campaign import Campaign
from capsmodel.papers.ledger import tried_settings


def test_each_setting_that_was_run_has_its_factor_and_that_of_the_text(tmp_path):
    """RepFlow takes half of TCP's time, which is printed to be lower by 40 to 45%, and with another timer 0.9 of it."""

    def ratio(scheme, scenario, seed):
        is_turned = scenario["params"]["transport"]["min_rto_s"] == 0.01
        return 1.0 if scheme == "ecmp" else 0.9 if is_turned else 0.5

    run(tmp_path, ratio)
    found = {one.setting: one for one in tried_settings(Campaign(design(), tmp_path)) if one.id == "gain"}
    assert TIMER in found
    assert [one.in_text for one in found.values()] == pytest.approx([0.55 / 0.5] * len(found), rel=0.02)
    assert found[TIMER].factor == pytest.approx(0.9 / 0.60, rel=0.02)
    assert all(one.seeds >= 2 for one in found.values())


def test_before_the_second_run_no_setting_has_a_factor(tmp_path):
    assert list(tried_settings(Campaign(design(), tmp_path))) == []
