"""Errors that end a run: the number that the loop leaves in ``w.fault``, and the error of both engines."""

from capsim.base.bounds import BACKLOG_PS
from capsim.base.clock import to_s
from capsim.engines.state import Setup
from capsmodel.checks import ParameterError

ILLEGAL_PATH = 1  # a balancer has named a path that does not exist
BACKLOG = 2  # plus the number of a port: its queue takes longer than BACKLOG_PS to send


def error_of(fault: int, setup: Setup, *, path: int = 0, count: int = 0) -> ValueError:
    """Return the error for a fault; of an illegal path also what `choose` returned, and of how many candidates.

    Examples
    --------
    >>> from capsim import Dumbbell, FlowList, draw_flows, Batch, scheme
    >>> fabric = Dumbbell(hosts_per_side=1).build()
    >>> flows = draw_flows((Batch(flow_bytes=1),), fabric, seed=1, short_bytes=0)
    >>> print(error_of(BACKLOG, Setup(fabric=fabric, flows=flows, scheme=scheme("ecmp"))))
    fabric: the queue at host0>left takes more than 27 days to send: give it a limit or a higher rate_bps
    """
    if fault == ILLEGAL_PATH:
        text = f"balancer {setup.scheme.balancer.name!r}: choose returned {path}, but there are {count} candidates"
        return ParameterError(f"{text}: return 0 to {count - 1}")
    days = to_s(BACKLOG_PS) / 86400
    return ParameterError(
        f"fabric: the queue at {setup.fabric.port_names[fault - BACKLOG]} takes more than {days:.0f} days to send: "
        "give it a limit or a higher rate_bps"
    )
