"""The sliders of the course: they show what the models say, take any rate and time, and tell what they cannot read."""

import re
import sys

import pytest

import capsmodel as cm
from capsmodel.calculator import (
    CAPS_SETTING,
    Calculator,
    CompletionTimes,
    best_unit,
    draw_completion_times,
    draw_units,
    unit_png,
)
from capsmodel.checks import ParameterError


@pytest.fixture
def calculator(monkeypatch):
    """A calculator whose figure is written as the numbers of its curves: to draw it takes most of the time."""

    def numbers(figure, file, **_):
        file.write(repr([line.get_xydata().tolist() for axes in figure.axes for line in axes.lines]).encode())

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", numbers)
    return Calculator()


def test_the_figure_is_a_picture():
    assert unit_png(CAPS_SETTING)[:4] == b"\x89PNG"


def test_the_best_unit_is_that_of_the_model():
    fabric = {"rtt_short_s": 20e-6, "rtt_long_s": 400e-6, "packet_bytes": 9000, "rate_bps": 400e9}
    typed = {"rtt_short": "20us", "rtt_long": "400us", "packet": "9000B", "rate": "400Gbps"}
    found = best_unit(CAPS_SETTING | typed | {"window_packets": 256, "long_flows": 4})
    assert found == cm.optimal_coding_unit(256, blocking_prob=0.1, objective="with_redundancy_cost", **fabric)


def test_the_figure_shows_the_delay_of_every_unit_and_marks_the_best():
    delay, decoding, overhead = draw_units(CAPS_SETTING).axes
    curve, marked = delay.lines[0], delay.lines[1]
    assert curve.get_xdata().tolist() == list(range(1, 65))
    assert marked.get_xdata() == [28]
    assert marked.get_ydata()[0] == min(curve.get_ydata())
    assert [axes.get_ylabel() for axes in (decoding, overhead)] == ["decoding probability", "repair packets, % of all"]
    assert overhead.lines[1].get_ydata()[0] == pytest.approx(100 * 15 / 43)


def test_each_field_changes_the_figure(calculator):
    calculator.move()
    before = calculator.picture.value
    other = {
        "window_packets": 1024, "paths": 20, "long_flows": 3, "rate": "400Gbps", "rtt_short": "7us",
        "rtt_long": "400us", "packet": "9000B", "objective": "eq4",
    }  # fmt: skip
    assert list(other) == list(calculator.fields)
    for key, value in other.items():
        best = calculator.move(**{key: value})
        assert best == best_unit(CAPS_SETTING | {key: value})
        assert calculator.picture.value != before
    calculator.move()
    assert calculator.picture.value == before


@pytest.mark.parametrize(("key", "value"), [("rate", "fast"), ("rtt_long", "400"), ("packet", "0B"), ("rtt_short", "")])
def test_what_is_no_quantity_is_told_and_the_figure_stays(calculator, key, value):
    calculator.move()
    before = calculator.picture.value
    calculator.fields[key].value = value
    assert calculator.message.value
    assert calculator.picture.value == before
    calculator.move()
    assert calculator.message.value == ""


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"paths": 500, "long_flows": 300}, "paths = 500, but the field takes whole numbers from 2 to 256"),
        ({"window_packets": 2000}, "window_packets = 2000, but the field takes whole numbers from 1 to 1024"),
        ({"window_packets": 0}, "window_packets = 0, but"),
        ({"window_packets": 64.5}, "window_packets = 64.5, but"),
        ({"window_packets": "many"}, "window_packets = many, but"),
        ({"paths": 10, "long_flows": 12}, "long_flows = 12, but the field takes whole numbers from 0 to 9"),
        ({"paths": 5}, "long_flows = 8, but the field takes whole numbers from 0 to 4"),
        ({"objective": "best"}, "objective = best, but the field takes with_redundancy_cost or eq4"),
        ({"rate": 1e9}, "rate = 1000000000.0, but the field takes text"),
        ({"windows": 3}, "no field windows: the fields are window_packets, paths, "),
    ],
)
def test_what_a_field_does_not_hold_is_refused_and_nothing_moves(calculator, values, text):
    calculator.move(paths=20, long_flows=3)
    before, picture = calculator.setting, calculator.picture.value
    with pytest.raises(ParameterError, match=re.escape(text)):
        calculator.move(**values)
    assert calculator.setting == before
    calculator.fields["paths"].value = 30  # the figure still follows
    assert calculator.picture.value != picture


def test_what_is_refused_is_what_was_given(subtests):
    cases = [
        ({"paths": 10, "long_flows": 12}, "long_flows = 12, but with 10 paths it must lie in 0..9"),
        ({"paths": 0}, "paths = 0"),
        ({"long_flows": -1}, "long_flows = -1"),
        ({"long_flows": 40}, "long_flows = 40, but with 40 paths"),
    ]
    for values, text in cases:
        with subtests.test(values=values, text=text), pytest.raises(ParameterError, match=re.escape(text)):
            best_unit(CAPS_SETTING | values)


def test_what_the_sliders_cannot_show_the_function_answers():
    lossy = best_unit(CAPS_SETTING | {"paths": 500, "long_flows": 300})
    fast = best_unit(CAPS_SETTING | {"window_packets": 2000, "rate": "100Gbps"})
    assert (lossy.k, lossy.r, fast.k, fast.r) == (53, 106, 306, 115)


def test_one_path_stays_free(calculator):
    calculator.move()
    calculator.fields["paths"].value = 4
    assert calculator.setting["long_flows"] == 3


def test_without_ipywidgets_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ParameterError, match="pip install ipywidgets"):
        Calculator()


class OfScheme:
    """A scheme on a fabric under web search."""

    def __init__(self, **scheme):
        fabric = {"leaves": 4, "hosts_per_leaf": 4, "spines": 4, "rate_bps": 100e9, "delay_s": 1e-6}
        self.inputs = {"fabric": cm.FabricModel.leaf_spine(**fabric), "sizes": cm.load_workload("websearch")}
        self.inputs["scheme"] = cm.SchemeModel(payload_bytes=4110, **scheme)

    def predict(self, load):
        return cm.predict_fct(load, **self.inputs)


MODELS = {"marks": OfScheme(control="marks", standing_packets=15), "losses": OfScheme(control="losses")}


def test_completion_times_are_those_of_the_model_and_bounds_are_not_drawn():
    figure = draw_completion_times(MODELS, load=0.4)
    found = MODELS["marks"].predict(0.4)
    for panel, value in zip(
        figure.axes,
        (1e6 * found.short.mean_s, 1e6 * found.short.quantile_s(0.99), found.long.mean_slowdown),
        strict=True,
    ):
        (curve, at) = panel.lines
        assert curve.get_label() == "marks"
        assert list(at.get_xdata()) == [0.4, 0.4]
        assert curve.get_ydata()[list(curve.get_xdata().round(6)).index(0.4)] == pytest.approx(value)
    texts = figure.get_suptitle().splitlines()
    assert texts[0] == "load 0.4"
    assert texts[1].startswith(f"marks: short flows {1e6 * found.short.mean_s:.3g} us, ")
    assert texts[2].count(">") == 3


def test_completion_times_follow_load_and_schemes():
    sliders = CompletionTimes(MODELS)
    pictures = {sliders.picture.value}
    for key, value in (("load", 0.6), ("schemes", ("marks",))):
        sliders.fields[key].value = value
        pictures.add(sliders.picture.value)
    assert len(pictures) == 3
    assert sliders.setting == {"load": 0.6, "schemes": ("marks",)}
    sliders.fields["schemes"].value = ()
    assert sliders.message.value == "no scheme is chosen: choose one or more"
    assert sliders.picture.value in pictures
