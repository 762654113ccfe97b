"""``capsmodel codec inspect`` and ``simulate-loss``: what a file of packets holds, and how often its units decode."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

from capsmodel.checks import require
from capsmodel.cli._codec_files import PIPE, Input, Target, one_line, readable, target_of
from capsmodel.cli._options import Count, Flag, MaybeCount, MaybeNumber
from capsmodel.cli._output import AS_TEXT, Output, print_table, say
from capsmodel.cli._table import Column
from capsmodel.codec.base import BlockCode
from capsmodel.codec.errors import CodecError
from capsmodel.codec.files import lose_packets
from capsmodel.codec.headers import Unit
from capsmodel.codec.packet_index import PacketIndex
from capsmodel.codec.reception import Draw, Flags, arrivals, arrivals_by_path, decodes
from capsmodel.codec.registry import CODES
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.random_linear import decode_prob_rlnc
from capsmodel.experiments.statistics.intervals import wilson_interval

_UNIT = (
    Column("stream", "stream"),
    Column("unit", "unit"),
    Column("code", "code"),
    Column("k", "k"),
    Column("r", "r"),
    Column("packet_bytes", "packet, bytes"),
    Column("source_bytes", "source, bytes"),
    Column("arrived_packets", "packets there"),
    Column("decodes", "decodes"),
    Column("problem", "problem"),
)
_LOSS = (
    Column("code", "code"),
    Column("k", "k"),
    Column("r", "r"),
    Column("units", "units"),
    Column("lost_ratio", "lost, %", 100),
    Column("decoded_ratio", "decoded, %", 100, "half_width"),
    Column("decode_prob", "any k decode, %", 100),
    Column("decode_prob_rlnc", "random linear, %", 100),
)
_PARTS = 50  # of the receptions, between two steps of the progress bar


def _index(file: Path) -> PacketIndex:
    with file.open("rb") as stream:
        index = PacketIndex(stream)
    if not len(index.headers):
        told = index.rejected.lines()
        raise CodecError(f"{file} holds no packet: {told[0] if told else 'it is empty'}")
    return index


def _units(index: PacketIndex) -> list[tuple[Unit, npt.NDArray[np.int64]]]:
    """Return each unit, by stream and number, with the numbers of its packets that are there."""
    return [
        (index.unit(group[0]), index.headers["index"][group].astype(np.int64))
        for stream in sorted(index.streams())
        for groups in index.units(stream).values()
        for group in groups
    ]


def _unit_row(unit: Unit, numbers: npt.NDArray[np.int64]) -> dict[str, Any]:
    arrived = np.unique(numbers)
    decodable: bool | None
    try:
        decodable, problem = unit.block_code().determines(arrived), ""
    except CodecError as error:
        decodable, problem = None, str(error)
    variant = CODES[unit.code].variants.get(unit.variant, {"unknown": unit.variant})
    return {
        "stream": f"{unit.stream:016x}",
        "unit": unit.number,
        "code": unit.code,
        "variant": " ".join(f"{name}={value}" for name, value in variant.items()),
        "k": unit.k,
        "r": unit.r,
        "packet_bytes": unit.packet_bytes,
        "source_bytes": unit.source_bytes,
        "seed": unit.seed,
        "last": unit.last,
        "arrived_packets": arrived.size,
        "repeated_packets": numbers.size - arrived.size,
        "decodes": decodable,
        "problem": problem,
    }


@one_line
def inspect(file: Input, /, *, output: Output = AS_TEXT) -> None:
    """List the coding units of a file of packets: header fields, packets there, and whether they decode.

    Parameters
    ----------
    file
        File of packets; - reads standard input.
    """
    with readable(file) as source:
        index = _index(source)
    print_table([_unit_row(*unit) for unit in _units(index)], columns=_UNIT, title=str(file), output=output)
    if output.is_text:
        say(*(f"  {line}" for line in index.rejected.lines()))


@one_line
def simulate_loss(
    file: Input,
    /,
    *,
    blocking_prob: MaybeNumber = None,
    paths: MaybeCount = None,
    blocked_paths: MaybeCount = None,
    in_turn: Flag = False,
    receptions: Count = 1000,
    seed: Count = 1,
    out: Target = None,
    force: Flag = False,
    output: Output = AS_TEXT,
) -> None:
    """Drop packets at random or by path; set the units that decode beside the closed form.

    Parameters
    ----------
    file
        File of packets; - reads standard input.
    blocking_prob
        Probability that a packet is lost, independently of the others; 0.1 when no paths are given.
    paths
        Equal-cost paths; with --blocked-paths it replaces --blocking-prob.
    blocked_paths
        Paths that deliver nothing, drawn anew for each reception.
    in_turn
        Spread packets over the paths in turn and not at random; the closed form assumes random.
    receptions
        Receptions of each kind of unit to simulate.
    seed
        Seed of the losses.
    out
        Also write one lossy copy of the file.
    force
        Replace that file when it exists.
    """
    require(out != PIPE, "--out - would mix packets with the table: give a file")
    blocking, draw = _loss(blocking_prob, paths, blocked_paths, in_turn)
    generator = np.random.default_rng(seed)
    with readable(file) as source:
        kinds = Counter(_kind(unit) for unit, _ in _units(_index(source)))
        rows = [_loss_row(kind, count, draw(kind.n, receptions, generator), blocking) for kind, count in kinds.items()]
        title = f"{receptions} receptions, blocking probability {blocking:g}"
        print_table(rows, columns=_LOSS, title=title, output=output)
        if out is not None:
            kept = lose_packets(source, target_of(out, out, file, force), draw=draw, rng=generator)
            if output.is_text:
                say(f"wrote {out}: {kept} packets")


def _kind(unit: Unit) -> Unit:
    """Return what units have in common that decode the same receptions."""
    return unit._replace(stream=0, number=0, packet_bytes=1, source_bytes=unit.k, unit_crc=0, last=False)


def _decoded(code: BlockCode, arrived: Flags) -> Flags:
    """Return which receptions decode; a progress bar tells somebody who watches."""
    parts = np.array_split(arrived, min(_PARTS, len(arrived)))
    steps = track(
        parts, description=f"{code.name} k = {code.k}", console=Console(stderr=True), transient=True,
        disable=not sys.stderr.isatty(),
    )  # fmt: skip
    return np.concatenate([decodes(code, part) for part in steps])


def _loss(prob: float | None, paths: int | None, blocked_paths: int | None, in_turn: bool) -> tuple[float, Draw]:
    """Return the blocking probability and the function that draws receptions, for the options given."""
    if paths is None or blocked_paths is None:
        require(paths is blocked_paths, "--paths and --blocked-paths go together: give both or neither")
        require(not in_turn, "--in-turn spreads packets over paths: give --paths and --blocked-paths")
        loss = 0.1 if prob is None else prob
        return loss, lambda n, receptions, rng: arrivals(n, blocking_prob=loss, receptions=receptions, rng=rng)
    require(prob is None, "--blocking-prob and --paths exclude each other: give one")
    count, blocked = paths, blocked_paths
    require(count >= 1, f"--paths = {count}, but a fabric has at least 1 path")

    def draw(n: int, receptions: int, rng: np.random.Generator) -> Flags:
        return arrivals_by_path(
            n, n_paths=count, blocked_paths=blocked, in_turn=in_turn, receptions=receptions, rng=rng
        )

    return blocked / count, draw


def _loss_row(kind: Unit, units: int, arrived: Flags, blocking: float) -> dict[str, Any]:
    """Return the measured share of receptions that decode beside the closed forms."""
    measured = float(_decoded(kind.block_code(), arrived).mean())
    found = wilson_interval(round(measured * len(arrived)), trials=len(arrived))
    known = blocking < 1  # the closed forms stop short of certain loss
    mds = float(decode_prob(kind.k, r=kind.r, blocking_prob=blocking)) if known else 0.0
    dense = float(decode_prob_rlnc(kind.k, r=kind.r, blocking_prob=blocking)) if known else 0.0
    return {
        "code": kind.code,
        "k": kind.k,
        "r": kind.r,
        "units": units,
        "lost_ratio": float(1 - arrived.mean()),
        "decoded_ratio": measured,
        "standard_error": float(np.sqrt(measured * (1 - measured) / len(arrived))),
        "half_width": (found.high - found.low) / 2,
        "decode_prob": mds,
        "decode_prob_rlnc": dense,
    }
