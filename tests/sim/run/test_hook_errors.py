"""Contract: of a hook that cannot be compiled one is told file, line and rule in one line, not the compiler's page."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from capsim import Balancer, LeafSpine, ParameterError, Poisson, Scenario, inlined, scheme, simulate
from capsim.run.hook_errors import missing_field

SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2),
    traffic=(Poisson(flow_bytes=3000, flows=5, load=0.3, pairs="other-leaf"),),
)


def dictionary(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    seen = {}
    seen[sub.flow] = 1  # the line
    return 0


def array(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return np.argmin([1, 2])  # the line


def unknown(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return nosuch + 1  # the line  # noqa: F821


@inlined
def deep(ports):
    return np.argmin([1, 2])


def calls_deep(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return deep(ports)  # the line


def misspelt(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return sub.flow + ports[candidates[0]].queue_byte % 2  # the line


def of_another(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    if sub.flow > 0:
        return packet.flow  # the line
    return 0


@dataclass(frozen=True, kw_only=True)
class Target:
    factor: float = 2.0
    target_s: float = 1e-3


def of_memory(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    memory = own.switch
    memory.cut += 1  # the line
    return int(sub.cuts * own.towards.cut)


def of_params(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(params.factors)  # the line


def waits(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    return int(sub.srtt_ps > params.target_s)  # the line


def enters(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    with np.errstate() as file:
        return len(file)


def told_of(hook):
    own = replace(scheme("rps"), name="own", balancer=Balancer(name="own", choose=hook, draws=True))
    with pytest.raises(ParameterError) as refusal:
        simulate(SCENARIO, scheme=own)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize("hook", [dictionary, array, unknown])
def test_the_line_and_the_rule_are_told(hook):
    text = told_of(hook)
    assert text.startswith("test_hook_errors.py, line ")
    assert "# the line" in text
    assert "cannot be compiled: a hook uses its arguments, numbers, if, loops and functions marked" in text


def test_of_a_function_that_cannot_be_compiled_the_line_of_its_call_is_told():
    assert "# the line" in told_of(calls_deep)


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (misspelt, "ports[candidates[0]] has no field queue_byte (did you mean queue_bytes"),
        (of_another, "packet has no field flow;"),
    ],
)
def test_a_field_that_is_not_there_is_told_with_what_is_near(hook, told):
    text = told_of(hook)
    assert "# the line" in text
    assert told in text
    assert "help(capsim.records) lists the fields" in text


@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        (of_memory, "memory has no field cut (did you mean cuts?); the balancer own declares cuts, turn"),
        (of_params, "params has no field factors (did you mean factor?); it has factor, target_ps"),
    ],
)
def test_a_field_of_the_component_itself_is_told_with_its_fields(hook, expected):
    """Wrong lines: it sends to a page that has none of them, or the fields of another scope are near."""
    memory = {"switch": (("cuts", "i8"), ("turn", "i8")), "towards": (("cut", "i8"),)}
    used = Balancer(name="own", choose=hook, params=Target(), memory=memory)
    for engine in ("reference", "compiled"):
        with pytest.raises(ParameterError) as refusal:
            simulate(SCENARIO, scheme=replace(scheme("rps"), name="own", balancer=used), engine=engine)
        assert "# the line" in str(refusal.value)
        assert str(refusal.value).endswith(expected)


def test_a_time_of_a_parameter_is_told_under_the_name_that_hooks_have_for_it():
    """Catches a hook that reads target_s, as the class of its parameters has it, and is sent to read records."""
    used = replace(scheme("rps"), name="own", balancer=Balancer(name="own", choose=waits, params=Target()))
    text = missing_field("target_s", [used])
    assert "# the line" in text
    assert "params has no field target_s (hooks have times in whole picoseconds: target_ps)" in text


def test_a_statement_that_is_unknown_to_the_compiler_is_told_with_the_name_of_the_hook():
    assert told_of(enters).startswith("enters cannot be compiled: The 'with")


def test_an_error_that_no_hook_causes_is_passed_on(monkeypatch):
    monkeypatch.setattr("capsim.engines.compiled.engine.is_compiled", lambda _: {}["elsewhere"])
    with pytest.raises(KeyError, match="elsewhere"):
        simulate(SCENARIO, scheme="rps")
