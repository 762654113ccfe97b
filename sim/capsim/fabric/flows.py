"""The flows of one run as arrays, in start order, and the CSV form ``src,dst,bytes,start_s``."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.bounds import FLOW_BYTES, HOST, TIME_S, Bound
from capsim.clock import PS_PER_S
from capsim.fabric.topology import Bools, Int32, Int64
from capsmodel._files import refuse_device
from capsmodel.checks import ParameterError, require

CSV_HEADER = ("src", "dst", "bytes", "start_s")
# Cells of a row. `int` and `float` would also take 1_000 and the digits of other scripts; 20 digits hold 2**63.
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


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
    """Return the rows (src, dst, bytes, start_s) of a flow list; blank lines are left out.

    Raises
    ------
    ParameterError
        If the file is no text, or the header or a row cannot be read; the text names the line.
    OSError
        If the file cannot be read.
    """
    rows = _csv_rows(path)
    if not rows or tuple(name.strip() for name in rows[0][1]) != CSV_HEADER:
        raise ParameterError(f"{path.name} line 1: the header must be {','.join(CSV_HEADER)}")
    flows = [_flow_row(row, where=f"{path.name} line {line}") for line, row in rows[1:]]
    if not flows:
        raise ParameterError(f"{path.name} holds no flow: add a row below the header")
    return flows


def _csv_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a file that are not blank, each with the number of its line."""
    require("\0" not in str(path), f"{str(path)!r} names no file")
    refuse_device(path)
    rows = []
    with path.open(newline="", encoding="utf-8-sig") as file:  # with or without the mark that spreadsheets put first
        reader = csv.reader(file)
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    rows.append((reader.line_num, row))
        except UnicodeDecodeError:
            raise ParameterError(f"{path.name} is no UTF-8 text: save it as comma-separated values in UTF-8") from None
        except csv.Error as error:
            raise ParameterError(f"{path.name} line {reader.line_num}: {error}; is it a list of flows?") from None
    return rows


def _flow_row(row: list[str], *, where: str) -> tuple[int, int, int, float]:
    cells = [cell.strip() for cell in row]
    numbers = len(cells) == 4 and all(map(_WHOLE.fullmatch, cells[:3])) and _NUMBER.fullmatch(cells[3])
    if not numbers:
        line = ",".join(row)
        line = line if len(line) <= 80 else f"{line[:77]}..."
        raise ParameterError(f"{where}: {line!r} is not src,dst,bytes,start_s (three integers, a time)")
    src, dst, size = map(int, cells[:3])
    require(max(abs(src), abs(dst)) < 2**31 and abs(size) < 2**63, f"{where}: a number is too large for a flow")
    return src, dst, size, float(cells[3])
