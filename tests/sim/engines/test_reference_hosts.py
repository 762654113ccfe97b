"""Functions of hosts and switches as the reference engine runs them: the same lines, primitives in place of calls."""

from typing import Any

import pytest

from capsim.engines import reference_hosts
from capsim.engines.hosts import handlers, receivers, senders, switches

IN_PLACE = {"flow_at", "int_at", "packet_at", "stack_at", "sub_at", "whole"}


def lines(function: Any) -> set[int]:
    return {line for _, _, line in function.__code__.co_lines() if line is not None}


@pytest.mark.parametrize("module", [handlers, receivers, senders, switches])
def test_functions_keep_their_lines_and_call_no_primitive_of_one_expression(module: Any) -> None:
    """Wrong line: an expression keeps the place of its primitive, which a traceback would then show."""
    written = {name: each for name, each in vars(module).items() if getattr(each, "__module__", "") == module.__name__}
    called = set()
    for name, function in written.items():
        made = reference_hosts._scope[name].__code__
        assert made.co_filename == function.__code__.co_filename
        assert lines(reference_hosts._scope[name]) <= lines(function)
        assert not IN_PLACE & {*made.co_names}
        called |= IN_PLACE & {*function.__code__.co_names}
    assert called
