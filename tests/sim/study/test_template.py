"""Property: templates are arithmetic on names and nothing else, however they are written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsim.study.template import evaluate, filled, names_in
from capsmodel.checks import ParameterError

NAMES = {"k": 7, "load": 0.25, "hot": True, "name": "caps", "fabric.leaves": 4}.__getitem__


def test_an_expression_is_python_s_arithmetic(subtests):
    cases = [
        ("k // 2 * 3 + 1", 10),
        ("-k % 4", 1),
        ("1 if hot and load < 0.5 else 2", 1),
        ("not hot or k == 7", True),
        ("max(1, round(load * 10), ceil(k / 2), int(3.9))", 4),
        ("'x' if name != 'caps' else 'y'", "y"),
        ("fabric.leaves * 2", 8),
        ("None if hot else 1", None),
    ]
    for text, expected in cases:
        with subtests.test(text=text, expected=expected):
            assert evaluate(text, NAMES) == expected


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.sampled_from(["+", "-", "*", "//", "%"]))
def test_operators_bind_and_divide_as_python_s(one, other, operator):
    text = f"a {operator} b * a"
    expected = None
    try:
        expected = eval(text, {"a": one, "b": other})
    except ZeroDivisionError:
        with pytest.raises(ParameterError, match="zero"):
            evaluate(text, {"a": one, "b": other}.__getitem__)
    if expected is not None:
        assert evaluate(text, {"a": one, "b": other}.__getitem__) == expected


def test_anything_else_is_refused_in_one_line(subtests):
    cases = [
        "__import__('os').system('true')",
        "k.__class__.__mro__()",
        "(lambda: 1)()",
        "[k for k in (1, 2)]",
        "{'a': 1}",
        "k ** 9",
        "k << 90",
        "f'{k}'",
        "open('x')",
        "min(k, key=k)",
        "int('7', 36)",
        "round(k, -10 ** 9)",
        "k; k",
        "k := 3",
        "b'x'",
        "1j",
        "...",
        "1 < k < 9",
        "",
        "-" * 200 + "1",
        "(" * 500 + "1" + ")" * 500,
        "'a' * k",
        "'a' + 'b'",
        "'%s' % k",
        "1e308 * 10",
        "k / 0",
        "int('x')",
    ]
    for text in cases:
        with subtests.test(text=text):
            with pytest.raises(ParameterError) as refused:
                evaluate(text, NAMES)
            assert "\n" not in str(refused.value)


def test_names_may_grow_no_number_and_no_text_without_bound():
    doubled = {f"n{i}": f"{{n{i + 1} * n{i + 1}}}" for i in range(40)} | {"n40": 99}
    written = {f"t{i}": f"{{t{i + 1}}}{{t{i + 1}}}" for i in range(40)} | {"t40": "xy"}

    def name(word):
        return filled((doubled | written)[word], name)

    begin_s = time.process_time()
    for text in ("{n0}", "{t0}"):
        with pytest.raises(ParameterError):
            filled(text, name)
    assert time.process_time() - begin_s < 5


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"repeat": 10**9}, "whole number from 0 to"),
        ({"repeat": 1.5}, "whole number"),
        ({"repeat": 2, "entries": [{"repeat": 2}]}, "one repeat with their product"),
        ({"repeat": 2, "entries": [{}], "kind": "batch"}, "leave out kind"),
        ({"load": "{laod}"}, r"traffic\[0\].load"),
    ],
)
def test_entries_that_cannot_be_made_are_refused_with_their_key(entry, told):
    names = {"load": 1}

    def name(word):
        if word not in names:
            raise ParameterError(f"unknown name {word}")
        return names[word]

    with pytest.raises(ParameterError, match=told):
        filled([entry], name, where="traffic")


def test_entries_are_repeated_left_out_and_replaced_in_order():
    template = [
        {"when": "{hot}", "repeat": "{k - 5}", "entries": [{"a": "{i}"}, {"when": "{i > 0}", "b": "{10 * i}"}]},
        {"when": "{not hot}", "c": 1},
        "{name}",
    ]
    assert filled(template, NAMES) == [{"a": 0}, {"a": 1}, {"b": 10}, "caps"]


def test_the_names_of_a_text_are_those_that_it_needs():
    assert set(names_in("{a.b + int(c)} and {d}")) == {"a.b", "c", "d"}
    assert list(names_in(["{a}"])) == []
