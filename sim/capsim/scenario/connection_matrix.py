"""Reads connection matrices of htsim (``.cm``): flows, and the triggers by which flows begin when others end.

=============================================== ==========================================================
line                                            here
=============================================== ==========================================================
``Nodes N``, ``Connections N``, ``Triggers N``  checked against what follows
``1->5 id 7 start 0 size 2000 prio 3``          a flow from host 1 to 5: start in picoseconds, size in bytes
``2->5 trigger 4 size 2000``                    a flow that begins when trigger 4 fires
``1->5 ... send_done_trigger 4``                its sender lets trigger 4 fire when all is acknowledged
``1->5 ... recv_done_trigger 4``                its receiver does when it has all bytes
``trigger id 4 oneshot``                        fires with the one flow that lets it
``trigger id 4 barrier count 3``                fires when three flows have
=============================================== ==========================================================

So a trigger is a cell of the column ``after`` (:mod:`capsim.fabric.dependencies`), and the word for who lets it fire is
``after_at``, one for a whole list. ``id`` and ``prio`` become columns of the results and decide nothing. Refused is
what a list of flows cannot say: failures, flows without end (size 0), and ``multishot`` triggers, where the first flow
to end, whichever it is, starts the first that waits. Starts are picoseconds in Broadcom's csg-htsim, which this
follows; ``htsim_uec`` of Ultra Ethernet's takes the same number for microseconds.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capsim.base import bounds
from capsim.base.bounds import shortened
from capsim.fabric.dependencies import AFTER, AfterAt, pairs_of
from capsim.fabric.files import FlowFile
from capsim.fabric.listed import PATH
from capsmodel._files import read_text
from capsmodel.checks import ParameterError, require
from capsmodel.text_tables import Faults, FileColumn, TextTable, quantity, whole

SUFFIX = ".cm"
_DONE: dict[str, AfterAt] = {"send_done_trigger": "sender", "recv_done_trigger": "receiver"}
_HEADS = ("Nodes", "Connections", "Triggers", "Failures")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?")
_NUMBERED = bounds.Bound(1, 2**31 - 1, "as a number", "htsim has it in 32 bits")
_COUNTED = bounds.Bound(0, _NUMBERED.largest, _NUMBERED.unit, _NUMBERED.reason)
_HOST, _ID, _COUNT = whole("host", bounds.HOST.check), whole("id", _NUMBERED.check), whole("count", _NUMBERED.check)
_SIZE, _START = whole("flow_bytes", bounds.FLOW_BYTES.check), quantity("start_s", bounds.TIME_S.check)
_MOST_PAIRS = 10**7  # a barrier of so many flows for as many is a short file, and each pair needs memory
_KINDS = ("oneshot", "barrier", "multishot")


@dataclass
class _Matrix:
    """What the lines say, flows by rows; triggers by their numbers."""

    file: str
    heads: dict[str, int] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    words: list[dict[str, Any]] = field(default_factory=list)
    triggers: dict[int, tuple[int, str, int]] = field(default_factory=dict)  # line, kind, count

    def place(self, row: int) -> str:
        return f"{self.file} line {self.lines[row]}"


def read_connection_matrix(path: Path) -> FlowFile:
    """Return the flows in a connection matrix of htsim.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    ParameterError
        If the file is no text or breaks a rule; the text names the file and the line, and each note of the error a
        further fault (:pep:`678`).
    OSError
        If the file cannot be read.
    """
    matrix, faults = _Matrix(path.name), Faults()
    for number, line in enumerate(_lines(path), 1):
        words = line.split()
        try:
            if words and not words[0].startswith("#"):
                _read_line(matrix, number, words)
        except ParameterError as error:
            faults.add(f"{path.name} line {number}: {error}")
    faults.check()
    require(bool(matrix.words), f"{path.name} holds no flow, such as 0->4 start 0 size 2000000")
    require(len(matrix.words) <= bounds.FLOWS.largest, f"{path.name} has more than {bounds.FLOWS.largest} flows")
    _check_heads(matrix)
    return _flow_file(matrix, faults)


def _lines(path: Path) -> list[str]:
    require("\0" not in str(path), f"{str(path)!r} names no file")
    try:
        return read_text(path).split("\n")
    except UnicodeDecodeError:
        raise ParameterError(f"{path.name} is no UTF-8 text: is it a connection matrix?") from None


def _read_line(matrix: _Matrix, number: int, words: Sequence[str]) -> None:
    first = words[0]
    if "->" in first:
        _read_flow(matrix, number, words)
    elif first == "trigger":
        _read_trigger(matrix, number, words[1:])
    elif first in _HEADS and len(words) == 2:
        require(first not in matrix.heads, f"a second {first}: leave one out")
        matrix.heads[first] = int(whole(first, _COUNTED.check).read(words[1], ""))
    elif first == "failure":
        raise ParameterError("a list of flows has no failures: give them as failures of the fabric, --fail")
    else:
        raise ParameterError(f"{shortened(' '.join(words))} is no line of a connection matrix")


def _read_flow(matrix: _Matrix, number: int, words: Sequence[str]) -> None:
    src, _, dst = words[0].partition("->")
    ends = int(_HOST.read(src, "")), int(_HOST.read(dst, ""))
    require(ends[0] != ends[1], f"{words[0]}, but a flow needs two hosts")
    words_of = _pairs(words[1:], _FLOW_WORDS)
    require("size" in words_of, "no size: give the bytes of the flow")
    require(
        ("start" in words_of) != ("trigger" in words_of), "a flow has either a start or a trigger: give one of them"
    )
    matrix.lines.append(number)
    matrix.ends.append(ends)
    matrix.words.append(words_of)


def _read_trigger(matrix: _Matrix, number: int, words: Sequence[str]) -> None:
    kinds = [word for word in words if word in _KINDS]
    words_of = _pairs([word for word in words if word not in _KINDS], {"id": _ID, "count": _COUNT})
    require(len(kinds) == 1 and "id" in words_of, f"a trigger has an id and is {' or '.join(_KINDS[:2])}")
    require(kinds[0] != "multishot", _MULTISHOT)
    require(("count" in words_of) == (kinds[0] == "barrier"), "a barrier has a count, and a oneshot has none")
    require(words_of["id"] not in matrix.triggers, f"a second trigger {words_of['id']}: leave one out")
    matrix.triggers[words_of["id"]] = (number, kinds[0], words_of.get("count", 1))


_MULTISHOT = (
    "what a multishot trigger starts depends on which flow ends first, which no list of flows says: an entry "
    "'collective' with window_flows limits how many flows a host sends at a time"
)


def _pairs(words: Sequence[str], known: dict[str, FileColumn]) -> dict[str, Any]:
    """Return the value after each word."""
    pairs: dict[str, Any] = {}
    for name, cell in zip(words[::2], (*words[1::2], ""), strict=False):
        require(name in known, f"unknown word {shortened(name)}: known are {', '.join(known)}")
        require(name not in pairs, f"{name} stands twice: leave one out")
        try:
            pairs[name] = known[name].read(cell, "ps")
        except ParameterError as error:
            raise ParameterError(f"{name}: {error}") from None
    return pairs


def _size(cell: str, unit: str) -> Any:
    endless = "a flow of size 0 never ends, which no list of flows says: give its bytes"
    require(cell.strip("0") != "" or cell == "", endless)
    return _SIZE.read(cell, unit)


def _start(cell: str, unit: str) -> Any:
    require(bool(_NUMBER.fullmatch(cell)), f"{shortened(cell)} is no number of picoseconds")
    return _START.read(cell, unit)


_FLOW_WORDS = {
    "id": _ID,
    "start": FileColumn("start_s", _start, {}),
    "size": FileColumn("flow_bytes", _size, {}),
    "prio": whole("prio", _COUNTED.check),
    "trigger": _ID,
    **dict.fromkeys(_DONE, _ID),
}


def _check_heads(matrix: _Matrix) -> None:
    """Refuse counts other than those of the lines, as htsim does, and hosts beyond them."""
    counts = {"Connections": len(matrix.words), "Triggers": len(matrix.triggers), "Failures": 0}
    for head, count in counts.items():
        announced = matrix.heads.get(head, count if head == "Connections" else 0)
        require(announced == count, f"{matrix.file}: {head} {announced}, but the file has {count}")
    hosts = matrix.heads.get("Nodes", bounds.HOST.largest + 1)
    faults = Faults()
    for row, ends in enumerate(matrix.ends):
        if max(ends) >= hosts:
            faults.add(f"{matrix.place(row)}: host {max(ends)}, but Nodes {hosts} has hosts from 0 to {hosts - 1}")
    faults.check()


def _flow_file(matrix: _Matrix, faults: Faults) -> FlowFile:
    fired = defaultdict[int, list[int]](list)
    for row, words in enumerate(matrix.words):
        for name in _DONE.keys() & words:
            fired[words[name]].append(row)
    pairs = sum(len(fired.get(words.get("trigger", 0), ())) for words in matrix.words)
    rule = f"{_MOST_PAIRS} pairs of a flow and one that it waits for are the most that are read"
    require(pairs <= _MOST_PAIRS, f"{matrix.file}: its triggers make {pairs} pairs, but {rule}")
    after = [_after(matrix, row, fired, faults) for row in range(len(matrix.words))]
    _check_ids(matrix, faults)
    faults.check()
    flows = matrix.words
    columns: dict[str, list[Any]] = {
        "src": [src for src, _ in matrix.ends],
        "dst": [dst for _, dst in matrix.ends],
        "flow_bytes": [flow["size"] for flow in flows],
        "start_s": [float(flow.get("start", 0.0)) for flow in flows],
        AFTER: after,
        PATH: [None] * len(flows),
    }
    extra = {name: [str(flow.get(name, "")) for flow in flows] for name in ("id", "prio")}
    given = {name: cells for name, cells in extra.items() if any(cells)}
    pairs_of([cell or "" for cell in after], matrix.place)
    table = TextTable(file=matrix.file, lines=matrix.lines, heads={}, columns=columns, extra=given)
    return FlowFile(table, after_at=_after_at(matrix))


def _after(matrix: _Matrix, row: int, fired: dict[int, list[int]], faults: Faults) -> str | None:
    """Return the rows that a flow waits for."""
    trigger = matrix.words[row].get("trigger")
    if trigger is None:
        return None
    rows = fired.get(trigger, [])
    if trigger not in matrix.triggers:
        faults.add(f"{matrix.place(row)}: trigger {trigger}, but no line 'trigger id {trigger} ...' says what it is")
    elif len(rows) != matrix.triggers[trigger][2]:
        _, kind, count = matrix.triggers[trigger]
        need = f"{count} flow{'s' * (count != 1)}"
        faults.add(f"{matrix.place(row)}: trigger {trigger} ({kind}) needs {need} to fire, but {len(rows)} let it")
    return " ".join(map(str, rows))


def _check_ids(matrix: _Matrix, faults: Faults) -> None:
    seen = set[int]()
    for row, words in enumerate(matrix.words):
        if words.get("id") in seen:
            faults.add(f"{matrix.place(row)}: a second flow with id {words['id']}: give it another")
        seen |= {words["id"]} if "id" in words else set()


def _after_at(matrix: _Matrix) -> AfterAt | None:
    """Return where flows that others wait for are complete; None, if none waits."""
    waited = {words["trigger"] for words in matrix.words if "trigger" in words}
    used = {name for words in matrix.words for name in _DONE.keys() & words if words[name] in waited}
    rule = f"{matrix.file}: {' and '.join(_DONE)}, but a list of flows has one after_at for all: use one of them"
    require(len(used) < 2, rule)
    return _DONE[used.pop()] if used else None
