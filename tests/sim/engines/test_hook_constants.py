"""Contract: between two runs of a process a hook may read other constants; both engines then run what it says."""

import importlib
import sys
from dataclasses import dataclass, replace

import pytest
from numba import njit

from capsim import Balancer, Batch, LeafSpine, Scenario, compare, inlined, scheme, simulate
from capsim.engines.compiled import functions
from capsim.roles.hooks import HOOKS, ROLES, hooks_of

SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=4),
    traffic=(Batch(flow_bytes=3000, flows=2, pairs="other-leaf"),),
)
ENGINES = ("compiled", "reference")
PORT = 0


def constant(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return PORT


def chosen():
    return PORT


inlined(chosen)


def of_a_function(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return chosen()


@inlined
def two_calls_away():
    return chosen()


def of_a_function_of_a_function(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return two_calls_away()


@njit
def compiled_with_it():
    return PORT


@njit
def compiled_with_that():
    return compiled_with_it()


def of_a_compiled_function(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return compiled_with_that()


def within(port):
    def of_a_cell(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
        return port

    return of_a_cell


of_the_same_cell = within(0)


def helped(helper):
    def of_a_function_in_a_cell(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
        return helper()

    return of_a_function_in_a_cell


of_a_helper = helped(chosen)


@inlined
def chosen_by_default(port=0):
    return port


def of_a_default(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return chosen_by_default()


def own(hook):
    return replace(scheme("rps"), name="mine", balancer=Balancer(name="mine", choose=hook, draws=True))


def spines_used(hook, engine):
    ports = simulate(SCENARIO, scheme=own(hook), engine=engine).ports
    names = ports.loc[(ports["layer"] == "leaf>spine") & (ports["packets_out"] > 0), "name"]
    return {name.split(">")[1] for name in names}


def change(hook, port):
    """Let `hook` read another port."""
    if hook is of_the_same_cell:
        hook.__closure__[0].cell_contents = port
    elif hook is of_a_default:
        chosen_by_default.__defaults__ = (port,)
    else:
        globals()["PORT"] = port


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "hook",
    [
        constant,
        of_a_function,
        of_a_function_of_a_function,
        of_a_compiled_function,
        of_the_same_cell,
        of_a_helper,
        of_a_default,
    ],
)
def test_a_value_that_is_changed_counts_in_the_next_run(hook, engine):
    """Wrong line: machine code is looked up by the function, or by its text, and not by what it reads."""
    used = []
    for port in (0, 2, 0):
        change(hook, port)
        used.append(spines_used(hook, engine))
    assert used == [{"spine0"}, {"spine2"}, {"spine0"}]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_compiled_function_that_was_called_before_the_first_run_is_compiled_anew(engine, monkeypatch):
    """Wrong line: what Numba has compiled before the first run is taken as it is."""
    monkeypatch.setattr(sys.modules[__name__], "PORT", 1)

    @njit
    def kept_by_numba():
        return PORT

    def choose(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
        return kept_by_numba()

    assert kept_by_numba() == 1
    monkeypatch.setattr(sys.modules[__name__], "PORT", 3)
    assert spines_used(choose, engine) == {"spine3"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["PORT = {0}", "PORT = 0 + {0}  # a longer line\n\n"])
def test_a_module_that_is_loaded_again_counts(text, engine, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    body = "\n\ndef choose(params, own, switch, sub, packet, ports, candidates, now_ps, u0):\n    return PORT\n"
    used = []
    for port in (0, 2):
        (tmp_path / "loaded_again.py").write_text(text.format(port) + body)
        if port == 0:
            monkeypatch.delitem(sys.modules, "loaded_again", raising=False)
            module = importlib.import_module("loaded_again")
        else:
            importlib.reload(module)
        used.append(spines_used(module.choose, engine))
    assert used == [{"spine0"}, {"spine2"}]


ANSWER = 0


def hook_that_answers(name):
    """Return a hook of that name which returns ANSWER."""
    scope = {}
    exec(f"def hook({', '.join(HOOKS[name].arguments)}):\n    return ANSWER\n", globals(), scope)
    return scope["hook"]


@pytest.mark.parametrize("role", ROLES)
def test_so_it_is_for_hooks_of_every_role(role, monkeypatch):
    """Wrong line: hooks of hosts are found by another key than those of switches."""
    name, used = hooks_of(role)[0], scheme("caps")
    component = getattr(used.short, role, None) or getattr(used, role)
    component = replace(component, **{name: hook_that_answers(name)})
    found = []
    for answer in (0, 1, 0):
        monkeypatch.setattr(sys.modules[__name__], "ANSWER", answer)
        found.append(functions.loaded_hooks(component)[name].address)
    assert found[0] == found[2] != found[1]


def test_rows_that_are_kept_are_those_of_their_id(tmp_path):
    """Wrong line: a fresh process takes the rows of the old constant for those of the new one."""
    scenario = SCENARIO.replace(traffic=(Batch(flow_bytes=150_000, flows=8, pairs="other-leaf"),))
    found = {}
    for port, engine in ((1, "compiled"), (4, "compiled"), (1, "reference"), (4, "reference")):
        globals()["PORT"] = port
        compared = compare(scenario, schemes=[own(spreads)], seeds=1, engine=engine, folder=tmp_path / engine)
        found[port, engine] = compared.runs["mean_fct_long_s"].tolist()
    assert found[1, "compiled"] == found[1, "reference"]
    assert found[4, "compiled"] == found[4, "reference"] != found[1, "reference"]


def spreads(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(u0 * PORT)


@dataclass(frozen=True)
class OneNumber:
    port: int = 1


@dataclass(frozen=True)
class TwoNumbers:
    port: int = 1
    further: int = 2


@inlined
def port_of(params):
    return params.port


def of_parameters(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return port_of(params)


def test_a_function_is_compiled_for_each_record_that_it_is_called_with():
    """Wrong line: Numba takes what it has compiled for a record with fewer fields, and warns."""
    for params in (OneNumber(), TwoNumbers()):
        balancer = Balancer(name="mine", choose=of_parameters, params=params)
        used = replace(scheme("rps"), name="mine", balancer=balancer)
        fast, slow = (simulate(SCENARIO, scheme=used, engine=engine) for engine in ENGINES)
        assert fast.flows.equals(slow.flows)
