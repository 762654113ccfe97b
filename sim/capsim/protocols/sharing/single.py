"""One subflow that carries the whole flow."""

from typing import Any

from capsim.roles.components import Sharing


def begin(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Open one."""
    return 1


SINGLE = Sharing(name="single", begin=begin)
