"""A verdict by settings: robust where all agree, otherwise the setting that turns it."""

import math

from capsmodel.experiments.statistics.designs import fractional_factorial, one_at_a_time
from capsmodel.experiments.statistics.robustness import FEWEST_SETTINGS, TEXT, combination_name, robustness

FACTORS = {
    "transport.min_rto_s": (0.2, 0.01, 1.0),
    "mss_bytes": (1460, 536),
    "transport.handshake": (False, True),
    "sharing.abort_losers": (False, True),
}
COMBINATIONS = {combination_name(one): one for one in [{}, *one_at_a_time(FACTORS), *fractional_factorial(FACTORS)]}


def words(turns):
    """Return "holds" in each setting but those of which `turns` is true."""
    return {name: "fails" if turns(one) else "holds" for name, one in COMBINATIONS.items()}


def test_a_verdict_that_nothing_turns_is_robust():
    found = robustness(words(lambda one: False), COMBINATIONS)
    assert found.is_robust
    assert found.share == 1
    assert str(found) == f"robust ({len(COMBINATIONS)} settings)"


def test_one_value_that_turns_it_is_named_alone():
    """All combinations with that value differ too, and are not named."""
    found = robustness(words(lambda one: one.get("transport.min_rto_s") == 1.0), COMBINATIONS)
    assert found.depends_on == ("transport.min_rto_s = 1",)
    assert not found.is_robust
    assert 0.5 < found.share < 1


def test_two_values_that_turn_it_are_both_named():
    found = robustness(words(lambda one: "transport.min_rto_s" in one), COMBINATIONS)
    assert found.depends_on == ("transport.min_rto_s = 0.01", "transport.min_rto_s = 1")


def test_settings_that_turn_it_together_only():
    together = {"mss_bytes": 536, "transport.handshake": True}
    found = robustness(words(lambda one: together.items() <= one.items()), COMBINATIONS)
    assert found.depends_on == (combination_name(together),)


def test_settings_that_one_of_those_turned_lacks_are_not_named():
    """Wrong line: settings that any of the combinations turned has, not only those that all of them have."""
    together = {"mss_bytes": 536, "transport.handshake": True}
    turned = [together | {"sharing.abort_losers": True}, together | {"transport.min_rto_s": 1.0}]
    settings = {TEXT: {}} | {combination_name(one): one for one in turned}
    found = robustness({name: "fails" if one else "holds" for name, one in settings.items()}, settings)
    assert found.depends_on == (combination_name(together),)


def test_combinations_that_share_nothing_are_all_named():
    turned = [{"mss_bytes": 536, "transport.handshake": True}, {"mss_bytes": 9000, "transport.min_rto_s": 1.0}]
    settings = {TEXT: {}} | {combination_name(one): one for one in turned}
    found = robustness({name: "fails" if one else "holds" for name, one in settings.items()}, settings)
    assert found.depends_on == tuple(map(combination_name, turned))


def test_another_word_at_the_sampled_places_is_told():
    """A claim that fails at the scale at which settings are compared does not hold robustly."""
    found = robustness(dict.fromkeys(COMBINATIONS, "fails"), COMBINATIONS)
    assert found.beside("fails") == str(found)
    assert found.beside("holds") == f"{found}; fails at the sampled points"
    assert robustness({}, COMBINATIONS).beside("holds").startswith("not known")


def test_open_settings_say_nothing():
    found = robustness({TEXT: "fails", "mss_bytes = 536": "open", "transport.handshake = true": "fails"}, COMBINATIONS)
    assert (found.agreeing, found.decided) == (2, 2)
    assert found.decided < FEWEST_SETTINGS
    assert not found.is_robust
    assert str(found) == "the same in 2 settings, open in 1"


def test_nothing_is_said_before_the_text_is_decided(subtests):
    cases = [{}, {"mss_bytes = 536": "fails"}, {TEXT: "open", "mss_bytes = 536": "fails"}]
    for known in cases:
        with subtests.test(known=known):
            found = robustness(known, COMBINATIONS)
            assert found.decided == 0
            assert math.isnan(found.share)
            assert not found.is_robust


def test_one_open_setting_that_counts_leaves_a_claim_not_robust():
    """Twelve settings that agree beside one that does not decide: another word may hide there."""
    settings = {**COMBINATIONS, "one more": {"x": 1}}
    found = robustness(dict.fromkeys(COMBINATIONS, "holds") | {"one more": "open"}, settings)
    assert not found.is_robust
    assert str(found) == f"the same in {len(COMBINATIONS)} settings, open in 1"


def test_what_differs_everywhere_is_not_robust():
    """In each setting the size may be another one, and the word the same."""
    assert not robustness(dict.fromkeys(COMBINATIONS, "differs"), COMBINATIONS).is_robust
