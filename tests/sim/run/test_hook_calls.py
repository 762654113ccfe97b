"""Contract: what a hook may call, told in one line by both engines before the run."""

import logging
import math
import operator
import random
import time
from dataclasses import replace
from datetime import datetime

import numba
import numpy as np
import pytest
from numba import njit, objmode

from capsim import Balancer, Batch, Congestion, LeafSpine, ParameterError, Scenario, inlined, scheme, simulate

SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=4),
    traffic=(Batch(flow_bytes=3000, flows=2, pairs="other-leaf"),),
)
ENGINES = ("compiled", "reference")
LOG = logging.getLogger(__name__)


def own(hook):
    return replace(scheme("rps"), name="own", balancer=Balancer(name="own", choose=hook, draws=True))


def told_of(used, engine):
    with pytest.raises(ParameterError) as refusal:
        simulate(SCENARIO, scheme=used, engine=engine)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def prints(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    print("now", now_ps)
    return 0


def asks(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(input("path? "))


def stops(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    breakpoint()
    return 0


def opens(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return len(open("paths").read())  # noqa: PTH123


def logs(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    logging.info("now")
    return 0


def takes_the_time(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(time.time()) % 2


def debugs(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    numba.gdb()
    return 0


def leaves_numba(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    with objmode():
        candidates[0]
    return 0


def draws(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(random.random() * 2)


@inlined
def shown(number):
    print(number)
    return number


def prints_in_a_function(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return shown(0)


@njit
def shown_by_numba(number):
    print(number)
    return number


def prints_in_a_compiled_function(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return shown_by_numba(0)


def makes_printing_hook(shown):
    def choose(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
        return shown(0)

    return choose


def test_what_takes_pythons_lock_is_refused_with_what_to_use(subtests):
    """Wrong line: the compiled engine waits for ever for the lock of Python."""
    cases = [
        (prints, 'print("now", now_ps)', "print"),
        (asks, 'return int(input("path? "))', "input"),
        (stops, "breakpoint()", "breakpoint"),
        (opens, 'return len(open("paths").read())  # noqa: PTH123', "open"),
        (logs, 'logging.info("now")', "logging.info"),
        (debugs, "numba.gdb()", "numba.gdb"),
        (leaves_numba, "with objmode():", "objmode"),
        (prints_in_a_function, "print(number)", "print"),
        (prints_in_a_compiled_function, "print(number)", "print"),
        (makes_printing_hook(shown), "print(number)", "print"),
    ]
    for hook, text, called in cases:
        for engine in ENGINES:
            with subtests.test(hook=hook, text=text, called=called, engine=engine):
                told = told_of(own(hook), engine)
                assert told.startswith("test_hook_calls.py, line ")
                assert f": `{text}`: a hook cannot call {called}: to see a number, keep it in a field of" in told
                assert told.endswith('by Probes(fields=...), or record packets by trace="packets"')


def draws_by_numpy(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(np.random.random() * 2)  # noqa: NPY002


def draws_by_a_generator(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(np.random.default_rng(1).random() * 2)


def draws_a_whole_number(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return random.randint(0, 1)


def takes_the_date(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return datetime.now().day % 2


def test_in_place_of_a_generator_or_a_clock_the_argument_is_named(subtests):
    """Wrong lines: who wants a number is told how to see one; a generator of NumPy counts as what computes."""
    number, time_ps = "a random number is u0, which choose, mark, note and admit", "the time is now_ps, in picoseconds"
    hooks = {draws: number, draws_by_numpy: number, draws_by_a_generator: number, draws_a_whole_number: number}
    for hook, text in {**hooks, takes_the_time: time_ps, takes_the_date: time_ps}.items():
        for engine in ENGINES:
            with subtests.test(hook=hook, engine=engine):
                assert text in told_of(own(hook), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_so_it_is_in_a_hook_of_another_role(engine):
    def react(params, own, flow, sub, subs, signals, now_ps):
        print(sub.srtt_ps)
        return 0

    base = scheme("rps")
    stack = replace(base.short, congestion=Congestion(name="own", react=react))
    assert "a hook cannot call print" in told_of(replace(base, name="own", short=stack, long=stack), engine)


def logs_by_an_object(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    LOG.info("now")
    return 0


@pytest.mark.parametrize("engine", ENGINES)
def test_an_object_that_does_so_is_refused_too(engine):
    assert "a hook reads 'LOG', an object of type Logger" in told_of(own(logs_by_an_object), engine)


def not_marked(sub):
    return sub.flow


def calls(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return not_marked(sub)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_function_without_the_mark_is_named(engine):
    text = ": `return not_marked(sub)`: not_marked is not marked capsim.inlined: a hook uses its arguments, numbers"
    assert text in told_of(own(calls), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_function_is_called_by_its_own_name(engine, tmp_path, monkeypatch):
    """Wrong line: a marked function of another module is not known to the compiler as an attribute of it."""
    (tmp_path / "helpers_of_hook.py").write_text(
        "from capsim import inlined\n\n@inlined\ndef first(x):\n    return 0\n"
    )
    (tmp_path / "hook_with_helpers.py").write_text(
        "import helpers_of_hook\n\ndef choose(params, own, switch, sub, packet, ports, candidates, now_ps, u0):\n"
        "    return helpers_of_hook.first(u0)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from hook_with_helpers import choose

    told = told_of(own(choose), engine)
    assert told == (
        "hook_with_helpers.py, line 4: `return helpers_of_hook.first(u0)`: write from helpers_of_hook import first, "
        "and call it so"
    )


@inlined
def share(number):
    return math.sqrt(number * number)


def computes(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    chosen = min(int(share(u0) * len(candidates)), len(candidates) - 1)
    return max(0, int(np.floor(abs(float(chosen)))) % len(candidates))


def test_what_computes_runs_on_both_engines():
    fast, slow = (simulate(SCENARIO, scheme=own(computes), engine=engine) for engine in ENGINES)
    assert fast.flows.equals(slow.flows)


# -- a float of which Python makes no whole number

NOTHING, MUCH = math.nan, math.inf


def whole_of_nan(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(u0 * NOTHING)


def whole_of_infinity(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int((1 + u0) * MUCH)


def rounds(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return round(u0 * NOTHING)


def floors(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return math.floor(u0 * NOTHING)


def ceils(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    from_below = math.ceil
    return from_below(u0 * NOTHING)


def truncates(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return math.trunc(u0 * NOTHING)


def numbers_of_numpy(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return np.int64(u0 * NOTHING)


@inlined
def whole(number):
    return int(number)


def whole_in_a_function(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return whole(u0 * NOTHING)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("hook", "error"),
    [
        *((each, "ValueError") for each in (whole_of_nan, rounds, floors, ceils, truncates, numbers_of_numpy)),
        (whole_in_a_function, "ValueError"),
        (whole_of_infinity, "OverflowError"),
    ],
)
def test_no_whole_number_is_made_of_what_has_none(hook, error, engine):
    """Wrong line: the processor makes -2^63 of it, and a remainder or an array takes that for a number."""
    told = told_of(own(hook), engine)
    assert error in told
    assert "cannot convert" in told


def whole_numbers(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    count = len(candidates)
    places = int(u0 * count) + round(u0 * count) + math.floor(-u0 * count) + math.ceil(u0 * count)
    return (places + int(True) + int(count) + (2**62) + int(-(2.0**63)) + int(np.int32(u0 * count))) % count


def test_what_has_a_whole_number_is_cast_as_before():
    """Wrong line: numbers at the end of 64 bits are refused, or a whole number is compared as a float."""
    fast, slow = (simulate(SCENARIO, scheme=own(whole_numbers), engine=engine) for engine in ENGINES)
    assert fast.flows.equals(slow.flows)


def writes_a_share_in_a_function(params, own, flow, sub, subs, signals, now_ps):
    return enlarge(sub)


@inlined
def enlarge(sub):
    sub.cwnd_bytes = sub.cwnd_bytes * 1.5
    return 0


def test_a_function_that_a_hook_calls_writes_no_fraction_either():
    """Wrong line: only the hook itself is looked at; the fraction is cut off in silence."""
    base = scheme("rps")
    stack = replace(base.short, congestion=Congestion(name="own", react=writes_a_share_in_a_function))
    told = told_of(replace(base, name="own", short=stack, long=stack), "compiled")
    assert "cwnd_bytes holds whole numbers, not one of type float64" in told


def adds(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return operator.sub(len(candidates), len(candidates))


@pytest.mark.parametrize("engine", ENGINES)
def test_other_functions_of_the_library_are_refused(engine):
    assert "a hook cannot call operator.sub" in told_of(own(adds), engine)
