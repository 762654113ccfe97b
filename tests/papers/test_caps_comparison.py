"""Identity tests of the runs behind CAPS Fig. 26 and 28: what must hold in all of them."""

import pandas as pd
import pytest

from capsmodel.papers.measurements.caps_comparison import (
    FORMS,
    SHARED_BUFFER,
    WITHOUT_REPAIR,
    beside_long_flows,
    incast,
)


@pytest.mark.agreement
@pytest.mark.parametrize("form", ["repflow", "caps", "caps_decode", WITHOUT_REPAIR])
def test_both_engines_give_the_same_incast(form):
    setting = {"senders": 8, "buffer_packets": 40, "runs": 1, "seed": 5}
    pd.testing.assert_frame_equal(incast(form, **setting), incast(form, **setting, engine="reference"))


def test_each_of_several_runs_is_that_of_its_seed():
    setting = {"short_flows": 20}
    both = beside_long_flows("caps", runs=2, seed=4, **setting)
    one = beside_long_flows("caps", runs=1, seed=5, **setting)
    assert both["seed"].tolist() == [4, 5]
    pd.testing.assert_frame_equal(both[1:].reset_index(drop=True), one)


def test_without_repair_nothing_is_sent_beyond_k_and_other_schemes_code_nothing():
    setting = {"senders": 20, "buffer_packets": 100, "runs": 1, "seed": 5}
    found = {form: incast(form, **setting)["repair_ratio"].item() for form in ("ecmp", "caps", WITHOUT_REPAIR)}
    assert found["ecmp"] == found[WITHOUT_REPAIR] == 0
    assert found["caps"] > 0


def test_only_a_second_copy_has_timeouts_that_do_not_count_for_the_flow():
    setting = {"senders": 100, "buffer_packets": 100, "runs": 1, "seed": 1}
    ecmp, repflow = incast("ecmp", **setting).iloc[0], incast("repflow", **setting).iloc[0]
    assert 0 < ecmp["timeouts"] == ecmp["winner_timeouts"]
    assert 0 < repflow["winner_timeouts"] < repflow["timeouts"]


def test_goodput_is_bounded_by_the_link_of_the_receiver():
    found = incast("rps", senders=20, buffer_packets=256, runs=2, seed=1)
    assert (found["goodput_bps"] < 1e9 * 1460 / 1500).all()


@pytest.mark.parametrize(("name", "form"), SHARED_BUFFER.items())
def test_one_buffer_for_all_is_another_rule_of_the_same_scheme(name, form):
    assert FORMS[form] == (name, {"queue": {"push_out": False}})
    pushed, shared = (beside_long_flows(one, short_flows=180, runs=1, seed=1).iloc[0] for one in (name, form))
    assert pushed["lost_ratio"] < shared["lost_ratio"]
