"""Contract: numbers are written with the digits that count, without an exponent where it can be helped."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.experiments.number_texts import number, positive_with_error, quantity, with_error


def test_a_number_has_four_digits(subtests):
    cases = [
        (9999.4, "9999"),
        (9999.5, "10000"),
        (9999.6, "10000"),
        (-9999.6, "-10000"),
        (10000.0, "10000"),
        (10000.4, "10000"),
        (9999999.0, "9999999"),
        (9999999.6, "1e+07"),
        (1e7, "1e+07"),
        (999.96, "1000"),
        (0.00012344, "0.0001234"),
        (0.00009999999, "0.0001"),
        (0.0, "0"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ]
    for value, text in cases:
        with subtests.test(value=value, text=text):
            assert number(value) == text


@given(st.floats(1e-4, 9999998))
def test_no_exponent_where_none_is_needed(value):
    text = number(value)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=5.1e-4)


def test_an_error_has_two_digits(subtests):
    cases = [
        (1.0, 0.0996, "1.00 ± 0.10"),
        (1.0, 0.0994, "1.000 ± 0.099"),
        (1.0, 0.996, "1.0 ± 1.0"),
        (123.4, 99.6, "120 ± 100"),
        (-3.3742, 0.4134, "-3.37 ± 0.41"),
        (0.0, 0.5, "0.00 ± 0.50"),
        (1e300, 1e299, "(1.00 ± 0.10)e+300"),
        (1.5, 1e300, "(0.0 ± 1.0)e+300"),
        (1e7, 2e3, "(1.00000 ± 0.00020)e+07"),
        (9999600.0, 2e3, "9999600 ± 2000"),
        (1e-300, 2e-301, "(1.00 ± 0.20)e-300"),
        (1e-4, 1e-5, "0.000100 ± 0.000010"),
        (5e-324, 5e-324, "(4.9 ± 4.9)e-324"),
    ]
    for value, half_width, text in cases:
        with subtests.test(value=value, half_width=half_width, text=text):
            assert with_error(value, half_width) == text


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_a_value_is_written_as_far_as_two_digits_of_its_error(value, half_width):
    text = with_error(value, half_width)
    power = float(f"1{text.partition(')')[2]}")
    shown, error = (float(part) * power for part in text.strip("(").partition(")")[0].split(" ± "))
    if error:
        assert error == pytest.approx(half_width, rel=0.051)
        assert abs(shown - value) <= 0.51 * 10.0 ** (math.floor(math.log10(error) + 1e-9) - 1)
    else:
        assert half_width <= 1e-9 * abs(value)


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 250))
def test_no_interval_of_a_time_reaches_below_0(value, width):
    """Both ends are as many times away. Wrong line: an interval of two seeds such as 2 ± 15."""
    text = positive_with_error(value, width * value)
    if " ± " in text:
        assert width <= 0.3001
        assert text == with_error(value, width * value)
    elif "e" not in text:
        low, high = (float(end) for end in text.partition("(")[2].strip(")").split("-"))
        assert (low, high) == pytest.approx((value * math.exp(-width), value * math.exp(width)), rel=0.051)


def test_a_quantity_has_the_unit_of_its_size(subtests):
    cases = [
        ("x_s", 1.5, "1.5s"),
        ("x_s", 5e-3, "5ms"),
        ("x_s", 5e-6, "5us"),
        ("x_s", 5e-9, "5ns"),
        ("x_s", 5e-12, "5ps"),
        ("x_s", 12.5e-9, "12.5ns"),
        ("x_s", 0, "0s"),
        ("x_bps", 2e12, "2Tbps"),
        ("x_bps", 25e9, "25Gbps"),
        ("x_bps", 3e6, "3Mbps"),
        ("x_bps", 4e3, "4kbps"),
        ("x_bps", 7, "7bps"),
        ("x_bytes", 3e12, "3TB"),
        ("x_bytes", 2e9, "2GB"),
        ("x_bytes", 5e6, "5MB"),
        ("x_bytes", 6e3, "6KB"),
        ("x_bytes", 1500, "1500B"),
        ("x_bytes", 0, "0B"),
        ("x_packets", 10000.0, "10000"),
        ("on", True, "true"),
    ]
    for name, value, text in cases:
        with subtests.test(name=name, value=value, text=text):
            assert quantity(name, value) == text
