"""Contract: a hook of one's own that is called wrongly or fails while it runs ends the run in one line, no traceback.

An error of the simulator itself stays a traceback.
"""

import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from numba import njit

from capsim import Balancer, Batch, Congestion, LeafSpine, ParameterError, Scenario, inlined, scheme, simulate
from capsim.protocols.congestion.reno import grow
from capsim.roles.hooks import ACKED, is_own
from capsmodel.coding._unit_search import mean_delay

SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=4),
    traffic=(Batch(flow_bytes=3000, flows=2, pairs="other-leaf"),),
)
ENGINES = ("compiled", "reference")
CHOOSE = "choose is called with 9: params, own, switch, sub, packet, ports, candidates, now_ps, u0"


def own(hook):
    return replace(scheme("rps"), name="own", balancer=Balancer(name="own", choose=hook, draws=True))


def told_of(used, *, engine, scenario=SCENARIO):
    with pytest.raises(ParameterError) as refusal:
        simulate(scenario, scheme=used, engine=engine)
    text = str(refusal.value)
    assert "\n" not in text
    return text


def line_of(hook, *, further=0):
    """Return file and line of a hook's definition, or so many lines further down."""
    return f"test_hook_failures.py, line {hook.__code__.co_firstlineno + further}"


# -- called with other arguments than it takes


def without_u0(params, own, switch, sub, packet, ports, candidates, now_ps):
    return 0


def by_keyword(params, own, switch, sub, packet, ports, candidates, now_ps, *, u0):
    return 0


def with_another(params, own, switch, sub, packet, ports, candidates, now_ps, u0, further=0):
    return further


def test_other_arguments_are_refused_with_those_that_the_hook_is_called_with(subtests):
    """Wrong line: the hook is called or compiled as it is."""
    for hook, takes in [(without_u0, 8), (by_keyword, 8), (with_another, 10)]:
        for engine in ENGINES:
            with subtests.test(hook=hook, takes=takes, engine=engine):
                expected = f"{line_of(hook)}: {hook.__name__} takes {takes} arguments, but {CHOOSE}"
                assert told_of(own(hook), engine=engine) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_so_are_those_of_a_stack_of_one_entry_of_the_traffic(engine, tmp_path):
    """Wrong line: only the scheme of the switches is looked at."""
    text = "from dataclasses import replace\nfrom capsim import Congestion, scheme\n"
    text += "def react(params, own):\n    return 0\n"
    text += "BASE = scheme('ecmp')\nSTACK = replace(BASE.short, congestion=Congestion(name='own', react=react))\n"
    text += "SCHEME = replace(BASE, name='own', short=STACK, long=STACK)\n"
    (tmp_path / "own.py").write_text(text)
    traffic = (Batch(flow_bytes=3000, pairs="other-leaf", stack=f"{tmp_path}/own.py:SCHEME"),)
    told = told_of("ecmp", engine=engine, scenario=SCENARIO.replace(traffic=traffic))
    assert told.startswith("own.py, line 3: react takes 2 arguments, but react is called with 7: params, own, flow")


@pytest.mark.parametrize("hook", [3, partial(without_u0, u0=0)])
def test_what_is_no_function_is_refused(hook):
    """Wrong line: a hook is asked for its arguments, whatever it is."""
    told = told_of(own(hook), engine="reference")
    assert told.startswith("balancer 'own': choose = ")
    assert told.endswith(", but a hook is a function: use def")


# -- fails while it runs


def divides(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    zero = ports[candidates[0]].queue_bytes * 0
    return 1 // zero


def takes_a_float_for_a_number(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return candidates[u0]


@inlined
def halved(number):
    return number // (number - number)


def calls(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return halved(len(candidates))


def calls_the_package(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    grow(None)
    return 0


def raises_another(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    try:
        return 1 // (now_ps - now_ps)
    except ZeroDivisionError as error:
        raise KeyError from error


@pytest.mark.parametrize(
    ("hook", "place", "error"),
    [
        (divides, line_of(divides, further=2), "ZeroDivisionError in divides: "),
        (takes_a_float_for_a_number, line_of(takes_a_float_for_a_number, further=1), "TypeError in takes_a_float_for"),
        (calls, line_of(halved, further=2), "ZeroDivisionError in calls: "),
        (calls_the_package, line_of(calls_the_package, further=1), "AttributeError in calls_the_package: 'NoneType'"),
        (raises_another, line_of(raises_another, further=4), "KeyError in raises_another: no text"),
    ],
)
def test_an_error_in_a_hook_is_told_with_its_line(hook, place, error):
    """Wrong lines: the last frame of all is named, which may be the package's; or that of the hook's first line."""
    assert told_of(own(hook), engine="reference").startswith(f"{place}: {error}")


def misspelt(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return ports[candidates[0]].queue_byte


def test_a_field_that_is_not_there_is_told_alike_by_both_engines():
    """Wrong line: the reference engine tells of 'Record', which no user knows."""
    fast, slow = (told_of(own(misspelt), engine=engine) for engine in ENGINES)
    assert fast == slow
    assert "has no field queue_byte (did you mean queue_bytes" in slow


def fails_at_hosts(params, own, flow, sub, subs, signals, now_ps):
    return 1 // (ACKED - (signals & ACKED))


def test_an_error_in_a_process_of_simpy_is_told_as_well():
    """Wrong line: only the error that SimPy raises anew is looked at, which has no frame of a hook."""
    base = scheme("rps")
    stack = replace(base.short, congestion=Congestion(name="own", react=fails_at_hosts))
    used = replace(base, name="own", short=stack, long=stack)
    assert told_of(used, engine="reference").startswith(f"{line_of(fails_at_hosts, further=1)}: ZeroDivisionError in ")


# -- fails in machine code, which has no line


def beyond_the_candidates(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return 0 * candidates[len(candidates)]


def beyond_the_ports(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return 0 * ports[10**7].queue_bytes


@inlined
def last_but_one(candidates):
    return candidates[-len(candidates) - 1]


def beyond_in_a_function(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return 0 * last_but_one(candidates)


def divides_a_fraction(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(u0 / (u0 - u0))


@pytest.mark.parametrize("hook", [beyond_the_candidates, beyond_the_ports, beyond_in_a_function])
def test_no_memory_beyond_an_array_is_read(hook):
    """Wrong line: a function that a hook calls is compiled without checks, as those of the package are."""
    told = told_of(own(hook), engine="compiled")
    assert told.startswith("scheme 'own': IndexError: ")
    assert told.endswith(' in a hook: the reference engine (--engine reference, engine="reference") names the line')
    if hook is not beyond_in_a_function:  # a list of Python has these
        assert "IndexError in " in told_of(own(hook), engine="reference")


@pytest.mark.parametrize("hook", [divides, divides_a_fraction, calls])
def test_a_division_by_zero_ends_the_run(hook):
    assert "ZeroDivisionError: " in told_of(own(hook), engine="compiled")
    assert "ZeroDivisionError in " in told_of(own(hook), engine="reference")


def test_an_exception_ends_the_run_at_once(monkeypatch):
    """Wrong line: the hook is called as a C function, which prints its exception and goes on with 0 for an answer."""
    printed = []
    monkeypatch.setattr("sys.unraisablehook", printed.append)
    told_of(own(divides), engine="compiled")
    assert printed == []


@njit
def scaled(share, count):
    return int(share * count)


def calls_compiled(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return scaled(u0, len(candidates))


def test_a_hook_may_call_a_function_that_numba_compiles():
    fast, slow = (simulate(SCENARIO, scheme=own(calls_compiled), engine=engine) for engine in ENGINES)
    assert fast.flows.equals(slow.flows)
    assert fast.manifest["id"] == slow.manifest["id"]


# -- writes or returns a fraction, which the compiled engine would cut off


def returns_a_share(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    if now_ps > 0:
        return u0
    return 0


def writes_a_share(params, own, flow, sub, subs, signals, now_ps):
    sub.cwnd_bytes = sub.cwnd_bytes * 1.5
    return 0


def writes_a_share_into_a_ring(params, own, sub, ring, packet, now_ps):
    ring[0] = 0.5
    return 0


def base_with(**parts):
    base = scheme("rps")
    stack = replace(base.short, **parts)
    return replace(base, name="own", short=stack, long=stack)


@pytest.mark.parametrize(
    ("used", "hook", "further", "told"),
    [
        (own(returns_a_share), returns_a_share, 2, "`return u0`: a hook returns a whole number, not one of type float"),
        (
            base_with(congestion=Congestion(name="own", react=writes_a_share)),
            writes_a_share,
            1,
            "`sub.cwnd_bytes = sub.cwnd_bytes * 1.5`: cwnd_bytes holds whole numbers, not one of type float64: make it",
        ),
        (
            base_with(transport=replace(scheme("rps").short.transport, name="own", on_ack=writes_a_share_into_a_ring)),
            writes_a_share_into_a_ring,
            1,
            "`ring[0] = 0.5`: this array holds whole numbers, not one of type float64: make it whole, as by int()",
        ),
    ],
    ids=["returns", "field", "array"],
)
def test_a_fraction_in_place_of_a_whole_number_is_refused_when_it_is_compiled(used, hook, further, told):
    assert told_of(used, engine="compiled").startswith(f"{line_of(hook, further=further)}: {told}")


def answers_a_truth(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return u0 < 0.5


def test_a_truth_value_is_a_whole_number():
    fast, slow = (simulate(SCENARIO, scheme=own(answers_a_truth), engine=engine) for engine in ENGINES)
    assert fast.flows.equals(slow.flows)


# -- does not end

STOPPED = """
import os, signal
from dataclasses import replace
from capsim import Balancer, Batch, LeafSpine, Scenario, scheme, simulate
from capsim.engines.compiled import engine as compiled
from capsmodel import _interrupts

def forever(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    turns = 0
    while turns >= 0:
        turns = (turns + 1) % 7
    return 0

def stopped(*arguments):
    wait(*arguments)  # the other thread goes on meanwhile
    os.kill(os.getpid(), signal.SIGTERM)

def run(work):
    _interrupts.wait = stopped
    return _interrupts.interruptible(work)

wait, compiled.interruptible = _interrupts.wait, run
signal.signal(signal.SIGTERM, lambda *_: exit(7))
traffic = (Batch(flow_bytes=3000, flows=2, pairs="other-leaf"),)
scenario = Scenario(fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=4), traffic=traffic)
simulate(scenario, scheme=replace(scheme("rps"), name="own", balancer=Balancer(name="own", choose=forever)))
"""


@pytest.mark.agreement
@pytest.mark.linux
def test_a_hook_that_does_not_end_can_be_stopped(tmp_path):
    """Wrong line: the loop runs in the main thread, or holds the lock of Python; no signal is heard then."""
    (tmp_path / "stopped.py").write_text(STOPPED)
    ended = subprocess.run([sys.executable, tmp_path / "stopped.py"], timeout=500, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (7, "")


# -- returns what is no number, or none that is allowed


def ends_without_return(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    if now_ps < 0:
        return 1


def returns_a_float(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return 0.5


@pytest.mark.parametrize(("hook", "answer"), [(ends_without_return, "None"), (returns_a_float, "0.5")])
def test_an_answer_that_is_no_whole_number_is_told(hook, answer):
    """Wrong line: only frames of hooks are looked at; the engine fails after this one has returned."""
    expected = f"{line_of(hook)}: {hook.__name__} returned {answer}, but choose returns a whole number: index of a"
    assert told_of(own(hook), engine="reference").startswith(expected)


def reacts_without_return(params, own, flow, sub, subs, signals, now_ps):
    sub.cwnd_bytes += 1


def reacts_with_a_float(params, own, flow, sub, subs, signals, now_ps):
    return 1.0


@pytest.mark.parametrize(("hook", "answer"), [(reacts_without_return, "None"), (reacts_with_a_float, "1.0")])
def test_so_is_one_of_which_the_engine_makes_no_use(hook, answer):
    """Wrong line: the reference engine asks only what it reads, and takes what the compiled one refuses."""
    base = scheme("ecmp")
    stack = replace(base.short, congestion=Congestion(name="own", react=hook))
    message = told_of(replace(base, name="own", short=stack, long=stack), engine="reference")
    assert message == f"{line_of(hook)}: {hook.__name__} returned {answer}, but react returns a whole number: 0"


def far(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return 99


def below(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return -1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("hook", "path"), [(far, 99), (below, -1)])
def test_a_position_beyond_the_candidates_is_told_with_their_number(hook, path, engine):
    """Wrong line: the loop keeps that the path is illegal, but neither the path nor of how many."""
    expected = f"balancer 'own': choose returned {path}, but there are 4 candidates: return 0 to 3"
    assert told_of(own(hook), engine=engine) == expected


# -- errors of the simulator


def first(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return 0


@pytest.mark.parametrize("used", ["rps", own(first)])
@pytest.mark.parametrize("kind", [TypeError, ZeroDivisionError])
def test_an_error_of_the_simulator_stays_one(used, kind, monkeypatch):
    """Wrong line: every error of a run with a hook of one's own is taken for the hook's."""

    def broken(*_):
        raise kind("of the engine")

    monkeypatch.setattr("capsim.engines.reference_ports.forward", broken)
    with pytest.raises(kind, match="of the engine"):
        simulate(SCENARIO, scheme=used, engine="reference")


def test_an_error_of_what_is_told_the_progress_is_no_hooks(monkeypatch):
    """Wrong line: a frame is taken for a hook's by its file; the caller may be in the same one."""
    monkeypatch.setattr("capsim.engines.reference.PROGRESS_TRAVERSALS", 1)

    def progress(_):
        raise KeyError("of the caller")

    with pytest.raises(KeyError, match="of the caller"):
        simulate(SCENARIO, scheme=own(first), engine="reference", progress=progress)


def test_functions_of_the_package_are_not_checked_and_others_are(subtests):
    """Wrong line: those of the closed forms that hooks call count as a user's, and cost time in each run."""
    cases = [(grow, False), (mean_delay, False), (first, True), (last_but_one, True)]
    for function, own_one in cases:
        with subtests.test(function=function, own_one=own_one):
            assert is_own(function) is own_one
