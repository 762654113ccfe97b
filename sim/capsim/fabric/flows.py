"""The flows of one run as arrays, in start order, and the CSV form ``src,dst,bytes,start_s``."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.bounds import FLOW_BYTES, HOST, TIME_S, Bound
from capsim.clock import PS_PER_S
from capsim.fabric.topology import Bools, Int32, Int64
from capsmodel.checks import ParameterError

CSV_HEADER = ("src", "dst", "bytes", "start_s")


@dataclass(frozen=True)
class FlowList:
    """Flows ordered by start (ties in the order given); a flow's id is its index here.

    Parameters
    ----------
    src, dst : ndarray of int32
        Host numbers.
    flow_bytes : ndarray of int64
        Payload, in bytes.
    start_ps : ndarray of int64
        When the sender has the first byte, in picoseconds.
    short : ndarray of bool
        Whether the size, known in advance, is at most the short-flow threshold.
    tag : ndarray of int16
        Which entry of the scenario's traffic the flow comes from.
    """

    src: Int32
    dst: Int32
    flow_bytes: Int64
    start_ps: Int64
    short: Bools
    tag: npt.NDArray[np.int16]

    def __len__(self) -> int:
        """Return the number of flows."""
        return len(self.src)


def flow_list(
    src: npt.ArrayLike,
    dst: npt.ArrayLike,
    *,
    flow_bytes: npt.ArrayLike,
    start_s: npt.ArrayLike,
    short_bytes: int = 100_000,
    tag: npt.ArrayLike = 0,
) -> FlowList:
    """Return flows in start order.

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

    Returns
    -------
    FlowList
        The flows; ties keep their order.

    Raises
    ------
    ParameterError
        If a flow joins a host with itself, is empty, or starts before 0; the text names the first such row.

    Examples
    --------
    >>> flow_list([0, 1], [1, 2], flow_bytes=[5, 7], start_s=[1e-3, 0.0]).flow_bytes
    array([7, 5])
    """
    sources, sinks = _within(src, HOST, "src").astype(np.int32), _within(dst, HOST, "dst").astype(np.int32)
    sizes, starts = _within(flow_bytes, FLOW_BYTES, "bytes").astype(np.int64), _within(start_s, TIME_S, "start_s")
    _first_offender(sources == sinks, "src and dst are the same host: a flow needs two")
    order = np.argsort(starts, kind="stable")
    sizes = sizes[order]
    return FlowList(
        src=sources[order],
        dst=sinks[order],
        flow_bytes=sizes,
        start_ps=np.rint(starts[order].astype(np.float64) * PS_PER_S).astype(np.int64),
        short=sizes <= short_bytes,
        tag=np.broadcast_to(np.asarray(tag, np.int16), sizes.shape)[order],
    )


def _within(values: npt.ArrayLike, bound: Bound, name: str) -> npt.NDArray[Any]:
    """Return `values` as an array, once all of them are within their bound."""
    found = np.asarray(values)
    bad = ~((found >= bound.least) & (found <= bound.largest))
    if np.any(bad):
        row = int(np.argmax(bad))
        bound.check(f"flow row {row + 1}: {name}", np.ravel(found).tolist()[row])
    return found


def _first_offender(bad: npt.NDArray[np.bool_], rule: str) -> None:
    if np.any(bad):
        raise ParameterError(f"flow row {int(np.argmax(bad)) + 1}: {rule}")


def check_hosts(hosts: npt.NDArray[np.int32], n_hosts: int) -> None:
    """Reject the first flow end that is no host of a fabric with `n_hosts` hosts."""
    _first_offender((hosts < 0) | (hosts >= n_hosts), f"hosts are numbered 0 to {n_hosts - 1} in this fabric")


def read_flow_csv(path: Path) -> list[tuple[int, int, int, float]]:
    """Return the rows (src, dst, bytes, start_s) of a flow list.

    Raises
    ------
    ParameterError
        If the header or a row cannot be read; the text names the line.
    """
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if not rows or tuple(name.strip() for name in rows[0]) != CSV_HEADER:
        raise ParameterError(f"{path.name} line 1: the header must be {','.join(CSV_HEADER)}")
    flows = [_flow_row(row, where=f"{path.name} line {line}") for line, row in enumerate(rows[1:], start=2)]
    if not flows:
        raise ParameterError(f"{path.name} holds no flow: add a row below the header")
    return flows


def _flow_row(row: list[str], *, where: str) -> tuple[int, int, int, float]:
    try:
        src, dst, size, start = row
        return int(src), int(dst), int(size), float(start)
    except ValueError:
        raise ParameterError(
            f"{where}: {','.join(row)!r} is not src,dst,bytes,start_s (three integers, a time)"
        ) from None
