"""The flows of one run as arrays, in start order."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from capsim.base.bounds import FLOW_BYTES, HOST, TIME_S
from capsim.base.clock import PS_PER_S
from capsim.fabric.topology import Bools, Int32, Int64
from capsmodel.checks import ParameterError

NO_PAIRS = np.zeros((0, 2), np.int64)


class DrawnFlows(msgspec.Struct, frozen=True):
    """The flows of one traffic entry before they are merged and ordered.

    Pairs `after` say by positions in the entry which flow begins after which; `start_s` of such a flow is how long
    after the last of those is complete, at its receiver or, with `after_sender`, at its sender. Those that are not
    `counted` only make the load that others meet; of flows in progress at the beginning `flow_bytes` is what is left of
    `whole_bytes`. `rows` are the positions in the entry of flows that are only some of it.
    """

    src: Int64
    dst: Int64
    flow_bytes: Int64
    start_s: npt.NDArray[np.float64]
    after: Int64 = NO_PAIRS
    after_sender: Bools | bool = False
    counted: Bools | bool = True
    whole_bytes: Int64 | None = None
    rows: Int64 | None = None


@dataclass(frozen=True)
class FlowList:
    """Flows ordered by start (ties in the order given), then those that wait for others; a flow's id is its index here.

    Parameters
    ----------
    src, dst : ndarray of int32
        Host numbers.
    flow_bytes : ndarray of int64
        Payload, in bytes.
    start_ps : ndarray of int64
        When the sender has the first byte, in picoseconds; of a flow that waits for others, how long after that.
    short : ndarray of bool
        Whether the size, known in advance, is at most the short-flow threshold.
    tag : ndarray of int16
        Which entry of the scenario's traffic the flow comes from.
    input_row : ndarray of int32
        Position in that entry, as listed or drawn, from 0.
    after : ndarray of int64, shape (pairs, 2)
        Pairs of a flow and one that must be complete before it begins.
    after_sender : ndarray of bool
        Of a flow that waits, whether the others are complete when their senders know it, not their receivers.
    counted : ndarray of bool
        Whether results count the flow; the others make the load that it meets. Where some are not counted a run ends
        when all others are complete.
    """

    src: Int32
    dst: Int32
    flow_bytes: Int64
    start_ps: Int64
    short: Bools
    tag: npt.NDArray[np.int16]
    input_row: Int32
    after: Int64 = field(default_factory=lambda: NO_PAIRS)
    after_sender: Bools | bool = False
    counted: Bools | bool = True

    def __len__(self) -> int:
        """Return the number of flows."""
        return len(self.src)

    @property
    def waits_for(self) -> Int64:
        """Return over flows how many others each waits for."""
        return np.bincount(self.after[:, 0], minlength=len(self))

    @property
    def n_starts(self) -> int:
        """Return the number of flows that wait for no others, which come first."""
        return int(np.count_nonzero(self.waits_for == 0))

    @property
    def dependents(self) -> Int64:
        """Return the flows that wait, by those that they wait for."""
        waiting: Int64 = self.after[np.argsort(self.after[:, 1], kind="stable"), 0]
        return waiting


def flow_list(
    src: npt.ArrayLike,
    dst: npt.ArrayLike,
    *,
    flow_bytes: npt.ArrayLike,
    start_s: npt.ArrayLike,
    short_bytes: int = 100_000,
    tag: npt.ArrayLike = 0,
    input_row: npt.ArrayLike | None = None,
    after: Int64 = NO_PAIRS,
    after_sender: npt.ArrayLike = False,
    counted: npt.ArrayLike = True,
    whole_bytes: npt.ArrayLike | None = None,
) -> FlowList:
    """Return flows in start order, then those that wait for others.

    Parameters
    ----------
    src, dst : array_like of int, shape (flows,)
        Host numbers.
    flow_bytes : array_like of int
        Payload, in bytes.
    start_s : array_like of float
        Start, in seconds.
    short_bytes : int
        Largest size of a short flow, in bytes.
    tag : array_like of int
        Which traffic entry a flow comes from.
    input_row : array_like of int, optional
        Position in that entry; the position here when left out.
    after : ndarray of int64, shape (pairs, 2)
        Pairs of positions: a flow, and one that must be complete before it begins; a cycle would never begin.
    after_sender : array_like of bool
        Whether those that a flow waits for are complete when their senders know it.
    counted : array_like of bool
        Whether results count a flow.
    whole_bytes : array_like of int, optional
        Sizes by which flows are short or not, in bytes; `flow_bytes` when left out.

    Returns
    -------
    FlowList
        The flows; ties keep their order.

    Raises
    ------
    ParameterError
        If a flow joins a host with itself, is empty, or starts before 0; the text names the first such flow.

    Examples
    --------
    >>> flow_list([0, 1], [1, 2], flow_bytes=[5, 7], start_s=[1e-3, 0.0]).flow_bytes
    array([7, 5])
    """
    check_flows(src, dst, flow_bytes=flow_bytes, start_s=start_s, where="flows")
    starts = np.asarray(start_s, np.float64)
    waits = np.bincount(after[:, 0], minlength=len(starts)) > 0
    order = np.lexsort((starts, waits))
    place = np.argsort(order)
    sizes = np.asarray(flow_bytes).astype(np.int64)[order]
    return FlowList(
        src=np.asarray(src).astype(np.int32)[order],
        dst=np.asarray(dst).astype(np.int32)[order],
        flow_bytes=sizes,
        start_ps=np.rint(starts[order] * PS_PER_S).astype(np.int64),
        short=(sizes if whole_bytes is None else np.asarray(whole_bytes)[order]) <= short_bytes,
        tag=np.broadcast_to(np.asarray(tag, np.int16), sizes.shape)[order],
        input_row=order.astype(np.int32) if input_row is None else np.asarray(input_row, np.int32)[order],
        after=place[after],
        after_sender=np.broadcast_to(np.asarray(after_sender, bool), sizes.shape)[order],
        counted=np.broadcast_to(np.asarray(counted, bool), sizes.shape)[order],
    )


def check_flows(
    src: npt.ArrayLike, dst: npt.ArrayLike, *, flow_bytes: npt.ArrayLike, start_s: npt.ArrayLike, where: str
) -> None:
    """Raise :class:`ParameterError` for the first flow that cannot be; the text begins with `where` and its number."""
    bounds = {"src": HOST, "dst": HOST, "flow_bytes": FLOW_BYTES, "start_s": TIME_S}
    for (name, bound), values in zip(bounds.items(), (src, dst, flow_bytes, start_s), strict=True):
        numbers = np.ravel(values)
        bad = ~((numbers >= bound.least) & (numbers <= bound.largest))
        if np.any(bad):
            flow = int(np.argmax(bad))
            bound.check(f"{where}[{flow}]: {name}", numbers.tolist()[flow])
    same = np.asarray(src) == np.asarray(dst)
    if np.any(same):
        flow = int(np.argmax(same))
        raise ParameterError(f"{where}[{flow}]: src = dst = {np.ravel(src)[flow]}, but a flow needs two hosts")


def check_hosts(hosts: npt.NDArray[Any], n_hosts: int, *, where: str, name: str) -> None:
    """Raise :class:`ParameterError` for the first end of a flow that is no host of a fabric with `n_hosts` hosts."""
    bad = (hosts < 0) | (hosts >= n_hosts)
    if np.any(bad):
        flow = int(np.argmax(bad))
        raise ParameterError(f"{where}[{flow}]: {name} = {hosts[flow]}, but {hosts_are(n_hosts)}")


def hosts_are(n_hosts: int) -> str:
    """Return the rule for the number of a host."""
    return f"hosts are numbered 0 to {n_hosts - 1} in this fabric"
