"""Property: whatever a closed form is given, it returns numbers in range or raises ParameterError, in little work.

Every public function of the model is found by walking its packages and is called with usual, extreme, malformed and
broadcast arguments. Work is counted, not timed: lines of the package and bytes of arrays. Hypothesis draws the same
examples every time (``tests/conftest.py``); for others give ``--hypothesis-seed=N``, a failure prints its blob.
"""

import contextlib
import datetime
import importlib
import inspect
import math
import pkgutil
import sys
import tracemalloc
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import capsmodel
from capsmodel.checks import ParameterError
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.multipath.coding_schedule import CodingState
from capsmodel.queueing.service import Deterministic, Empirical, Erlang, Exponential, Hyperexponential
from capsmodel.workloads.catalogue import FlowSizes, PacketSizes, load_workload

pytestmark = pytest.mark.agreement

PACKAGES = ("coding", "coding.paths", "queueing", "fct", "reordering", "multipath", "workloads")
MODULES = ("metrics", "units")
# These read files: tests/model/test_size_files.py, test_unit_choice.py.
READERS = ("capsmodel.workloads.files", "capsmodel.coding.paths.files")
MOST_LINES = 1_000_000
MOST_BYTES = 2**30
EXAMPLES = 60

USUAL = {
    "window_packets": 64, "rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9,
    "total_packets": 40, "n": 20, "field_size": 256, "base_rtt_s": 1e-4, "full_wait_s": 9e-4,
    "sizes": PacketSizes.uniform(0, 500),
    "service": Deterministic(1.0), "state": CodingState(), "blocking_probs": [0.1, 0.2, 0.5, 0.3], "loads": [0.2, 0.3],
    "arrivals": 6, "values": [1.0, 2.0, 3.0], "shares": [1.0, 2.0], "arrival_order": [2, 1, 3], "packet": 2,
    "name": "websearch", "text": "1ms", "pods": 8, "second_moment_service": 2.0, "third_moment_service": 7.0,
    "mean_service": 1.0, "second_moments_service": [2.0, 2.0], "mean_services": [1.0, 1.0], "span_packets": 60,
    "unacknowledged_packets": 15, "total_window_packets": 20, "windows_packets": [5.0, 9.0], "loss_probs": [0.01, 0.02],
    "rtts_s": [1e-3, 2e-3], "rates_bps": [1e9, 2e9], "usual_rtts_s": [1e-4, 2e-4], "n_units": 2, "unit": "b",
    "undecoded_prob": [0.5, 0.2, 0.1, 0.0],
    "losses": PathLosses([0.01, 0.2], spread="in-turn"), "max_k": 8, "lost": 1, "sent": 50, "deadline_s": 9.0,
    "half_width": 0.05,
}  # fmt: skip
LISTS = {"reorder_ratio": [3, 1, 2, 2], "reorder_density": [3, 1, 2, 7]}
SERVICES = [
    Deterministic(2.0), Exponential(1.0), Erlang(3, 2.0), Empirical((1, 2), (0.5, 0.5)),
    Hyperexponential((0.5, 0.5), (1.0, 9.0)),
]  # fmt: skip
SIZES = [
    PacketSizes.fixed(1000),
    PacketSizes.uniform(0, 500),
    load_workload("websearch").in_packets(1460),
    FlowSizes.fixed(9),
    load_workload("websearch"),
]

EXTREME = [
    0, -0.0, 1, 2, 3, -1, 0.5, 0.3, 17, 1 - 2**-53, 1 - 1e-9, 2**-53, 5e-324, 1e-300, 1e-9, 1e9, 1e15, 2**53 - 1, 2**53,
    1e100, 1e300, 1.7e308, 10**400, math.inf, -math.inf, math.nan, True, Fraction(1, 3), np.float32(0.3), np.int8(3),
]  # fmt: skip
ARRAYS = [
    [], [[]], [0.2], [0.1, 0.2], [0.1, 0.2, 0.3], np.full((2, 1), 0.25), np.ones((3, 1)), np.array(0.5), [1, 1e300],
    [0.5, math.nan], np.zeros(4), np.array([3, 40], np.int8), np.full((2, 3, 2), 0.4),
]  # fmt: skip
MALFORMED = [
    "0.5", b"0.5", "", None, 1j, [1 + 0j], object(), [[1], [1, 2]], {}, ["a"], np.array(["0.5"]),
    np.array(["0.5"], object),
    datetime.date(2020, 1, 1), np.datetime64("2020-01-01"), np.timedelta64(3, "s"),
    np.ma.array([0.2, 0.9], mask=[0, 1]), np.ma.masked, [np.ma.array([0.2, 0.9], mask=[0, 1])],
    np.array([1, None], object), 10**5000, abs, Deterministic,
]  # fmt: skip


def closed_forms():
    """Yield every public function of the model."""
    for package in PACKAGES:
        folder = importlib.import_module(f"capsmodel.{package}")
        names = [found.name for found in pkgutil.iter_modules(folder.__path__) if not found.name.startswith("_")]
        modules = [f"capsmodel.{package}.{name}" for name in names]
        yield from chain.from_iterable(functions(module) for module in modules if module not in READERS)
    yield from chain.from_iterable(functions(f"capsmodel.{name}") for name in MODULES)


def functions(module):
    members = inspect.getmembers(importlib.import_module(module), inspect.isfunction)
    return [form for name, form in members if form.__module__ == module and not name.startswith("_")]


# Steps of other functions: their arguments were checked before.
INNER = {
    "least_repair", "uncoded_delay_s", "ordered_rtts", "checked_window", "euler_inversion",
    "compound_poisson_pmf", "common_step", "invert_tail", "as_losses", "repair_of_sizes",
    "failure_target", "mean_of_two", "without_full_rank", "with_code", "time_left_s", "check_delay", "parser_of",
    "surroundings",
}  # fmt: skip
FORMS = {f"{form.__module__}.{form.__name__}": form for form in closed_forms() if form.__name__ not in INNER}


# Of two ways to say what packets are lost, and how often a unit may fail, one must be given.
ONE_OF_TWO = {
    "optimal_coding_unit": {"blocking_prob", "rtt_short_s", "rtt_long_s", "packet_bytes", "rate_bps"},
    "repair_packets_for": {"blocking_prob", "target_prob"},
}


def needed_of(form):
    """Return the parameters that a call must give."""
    parameters = inspect.signature(form).parameters
    without_default = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}
    return without_default | ONE_OF_TWO.get(form.__name__, set())


def usual(form, name):
    """Return a value that the function takes."""
    if name == "arrivals" and form.__name__ in LISTS:
        return LISTS[form.__name__]
    if name == "losses" and form.__name__ == "least_interleave":
        return PathLosses([0.01, 0.2], spread="in-turn", burst_packets=3)
    if name in USUAL:
        return {"parse_rate_bps": "1Gbps", "parse_size_bytes": "64KiB"}.get(form.__name__, USUAL[name])
    words = [word for word in get_args(get_type_hints(form).get(name)) if isinstance(word, str)]
    if words:
        return words[0]
    return 0.2 if any(word in name for word in ("prob", "load", "share", "quantile")) or name == "q" else 3


def values(form, name):
    """Return the strategy of an argument: a third of the values are usual, a third extreme, the others malformed."""
    like = {"service": SERVICES, "sizes": SIZES}.get(name, [usual(form, name)])
    return st.sampled_from([*like * (len(EXTREME) // len(like)), *EXTREME, *ARRAYS, *MALFORMED])


def calls(form):
    """Return the strategy of the arguments of a function; those with a default are left out in half of the draws."""
    parameters = inspect.signature(form).parameters
    needed = needed_of(form)
    drawn = {name: values(form, name) for name in parameters}
    return st.fixed_dictionaries(
        {name: drawn[name] for name in drawn if name in needed},
        optional={name: drawn[name] for name in drawn if name not in needed},
    )


class TooMuchWork(BaseException):
    """Not an Exception, so that no function under test catches it."""


def limited(call):
    """Make the call; raise TooMuchWork where it runs too many lines or takes too much memory."""
    lines = 0

    def count(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        if lines > MOST_LINES:
            raise TooMuchWork(f"more than {MOST_LINES} lines")
        return count

    def enter(frame, event, argument):
        return count if "capsmodel" in frame.f_code.co_filename else None

    before = sys.gettrace()
    tracemalloc.start()
    sys.settrace(enter)
    try:
        result = call()
    finally:
        sys.settrace(before)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if peak > MOST_BYTES:
        raise TooMuchWork(f"{peak} bytes")
    return result


def numbers(result):
    """Yield the numbers of a result as arrays."""
    if isinstance(result, tuple | list):
        yield from chain.from_iterable(numbers(part) for part in result)
    elif is_dataclass(result):
        yield from chain.from_iterable(numbers(getattr(result, field.name)) for field in fields(result))
    elif isinstance(result, int | float | np.ndarray | np.number):
        yield np.asarray(result)


def out_of_range(form, result):
    """Tell why a result is none: NaN, an infinity that is not documented, a value outside its range."""
    name, text = form.__name__, form.__doc__
    first = result[:1] if name == "blocking_prob_twice_smoothed" else result  # the second is a time
    values = np.concatenate([np.ravel(part).astype(float) for part in numbers(first)] or [np.zeros(0)])
    if np.isnan(values).any():
        return "NaN"
    if np.isinf(values).any() and not any(word in text for word in ("infinit", "-inf", "; inf")):
        return "infinite"
    if name.startswith("log_"):
        return "above 0" if (values > 0).any() else ""
    if "Probability in [0, 1]" in text or (name.endswith("_prob") and not name.startswith("packets")):
        return "no probability" if ((values < 0) | (values > 1)).any() else ""
    return "negative" if (values < 0).any() and name not in SIGNED else ""


# Displacements are early or late, observations of any sign; a mean that the paper leaves below 0 for great losses; by
# how much a run is too low.
SIGNED = {"reorder_density", "newreno_packets_per_rtt", "percentile", "run_bias"}


@pytest.mark.parametrize("name", FORMS)
def test_a_number_in_range_or_one_clear_line(name):
    form = FORMS[name]

    @settings(max_examples=EXAMPLES, print_blob=True, suppress_health_check=list(HealthCheck))
    @given(calls(form))
    def fuzz(arguments):
        refusal = None
        try:
            result = limited(lambda: form(**arguments))
        except ParameterError as error:
            refusal = str(error)
        if refusal is None:
            assert out_of_range(form, result) == ""
        else:
            assert 0 < len(refusal) < 600
            assert "\n" not in refusal

    fuzz()


@pytest.mark.parametrize("name", FORMS)
def test_usual_arguments_are_taken(name):
    form = FORMS[name]
    assert out_of_range(form, form(**{name: usual(form, name) for name in needed_of(form)})) == ""


def test_the_walk_finds_every_closed_form_of_the_front_door():
    named = {getattr(capsmodel, name) for name in capsmodel.__all__}
    elsewhere = {capsmodel.read_paths, capsmodel.predict_fct}  # test_unit_choice.py, test_prediction.py
    assert {form for form in named if inspect.isfunction(form)} - elsewhere <= set(FORMS.values())
    assert len(FORMS) > 85


@pytest.mark.parametrize("method", ["cdf", "quantile", "flow_share_below", "byte_share_below", "arrival_rate_per_s"])
@settings(max_examples=EXAMPLES, print_blob=True)
@given(value=st.sampled_from([*EXTREME, *ARRAYS, *MALFORMED]), rate_bps=st.sampled_from([1e9, *EXTREME, *ARRAYS]))
def test_distributions_of_sizes(method, value, rate_bps):
    form = partial(getattr(load_workload("websearch"), method), value)
    rate = {"rate_bps": rate_bps} if method == "arrival_rate_per_s" else {}
    result = 0.0
    with contextlib.suppress(ParameterError):
        result = limited(lambda: form(**rate))
    assert np.all(np.asarray(result) >= 0)
    assert np.all(np.isfinite(result))
