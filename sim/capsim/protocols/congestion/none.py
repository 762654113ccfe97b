"""No congestion control: for traffic that is sent at a rate of its own."""

from typing import Any

from capsim.roles.components import Congestion


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Do nothing."""
    return 0


NO_CONGESTION = Congestion(name="none", react=react)
