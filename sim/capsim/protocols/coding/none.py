"""No coding: the network carries the packets of the transport as they are. Its hooks are never called."""

from typing import Any

from capsim.hooks import Coding


def accept(params: Any, conn: Any, estimator: Any, units: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Keep nothing."""
    return 0


def emit(params: Any, conn: Any, estimator: Any, units: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Send nothing."""
    return 0


def pass_on(params: Any, conn: Any, segments: Any, units: Any, packet: Any, now_ps: int) -> int:
    """Hold nothing back."""
    return 0


def observe(params: Any, conn: Any, estimator: Any, packet: Any, now_ps: int) -> int:
    """Measure nothing."""
    return 0


NO_CODING = Coding(name="none", accept=accept, emit=emit, collect=pass_on, release=pass_on, observe=observe)
