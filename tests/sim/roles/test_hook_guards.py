"""What hooks may not do, since compiled code would part from Python: checked in their text.

While they run: strict records, here and in ``test_engines_agree.py``.
"""

import ast
import inspect
import textwrap
from functools import cache

import numpy as np
import pytest

from capsim import schemes
from capsim.base.objects import slotted
from capsim.records import PORT
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES, hooks_of


def components():
    """Return the components of all schemes."""
    found = []
    for scheme in schemes().values():
        found += [getattr(stack, role) for stack in scheme.stacks for role in HOST_ROLES]
        found += [getattr(scheme, role) for role in NETWORK_ROLES]
    return found


@cache
def functions():
    """Return all hooks and the functions that they call, by module and name."""
    waiting = [getattr(each, name) for each in components() for name in hooks_of(each.role)]
    found = {}
    while waiting:
        function = waiting.pop()
        if function is None or (key := f"{function.__module__}.{function.__qualname__}") in found:
            continue
        found[key] = function
        names = (function.__globals__.get(name) for name in function.__code__.co_names)
        waiting += [each for each in names if getattr(each, "capsim_inlined", False)]
    return dict(sorted(found.items()))


def offences(tree):
    """Return what in the text of a hook would not give the same numbers in both engines, or would not compile."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            whole = not any(isinstance(part, ast.Div) for part in ast.walk(node.right))
            found += ["a power of a whole number"] if whole else []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            sides = [ast.unparse(side) for side in (node.left, node.right)]
            times = [side for side in sides if side.endswith("_ps")]
            found += ["a division of times"] if len(times) == 2 else []
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.Try | ast.With | ast.Lambda | ast.Global):
            found.append(type(node).__name__)
    return found


def is_constant(value):
    """Return whether both engines take a global value as it is."""
    numbers = isinstance(value, tuple) and all(isinstance(number, int | float) for number in value)
    of_libm = getattr(value, "__module__", "") == "math"  # Numba calls the same library
    return isinstance(value, int | float | type) or numbers or of_libm or getattr(value, "capsim_inlined", False)


def test_hooks_compute_what_both_engines_compute_alike():
    found = {name: offences(ast.parse(textwrap.dedent(inspect.getsource(each)))) for name, each in functions().items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_hooks_read_nothing_but_their_arguments_constants_and_functions():
    found = {}
    for name, each in functions().items():
        code, known = each.__code__, each.__globals__
        read = [one for one in code.co_names if one in known and not is_constant(known[one])]
        found[name] = [*read, *code.co_freevars]
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_the_check_finds_what_it_looks_for(subtests):
    cases = [
        ("x ** n", "a power of a whole number"),
        ("sub.srtt_ps / sub.rto_ps", "a division of times"),
        ("(yield 1)", "Yield"),
    ]
    for text, offence in cases:
        with subtests.test(text=text, offence=offence):
            assert offences(ast.parse(text)) == [offence]


def test_a_strict_record_refuses_what_an_array_would_change():
    port = slotted(PORT, strict=True)(np.zeros(1, PORT)[0])
    port.queue_packets = 2**31 - 1
    with pytest.raises(TypeError, match=r"queue_packets = 2147483648, but the record holds whole numbers from -2147"):
        port.queue_packets = 2**31
    with pytest.raises(TypeError, match=r"queue_bytes = 1.5, but the record holds whole numbers"):
        port.queue_bytes = 1.5
    with pytest.raises(TypeError, match=r"loss_prob = 1, but the record holds a float"):
        port.loss_prob = 1
