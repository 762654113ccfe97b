"""``capsmodel codec inspect``: what a file of packets holds."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from capsmodel._files import opened
from capsmodel.cli._codec_files import Input, one_line, readable
from capsmodel.cli._output import AS_TEXT, Output, print_table, say
from capsmodel.cli._table import Column
from capsmodel.codec.files import PacketIndex
from capsmodel.codec.inputs import CodecError
from capsmodel.codec.packets import Unit
from capsmodel.codec.registry import CODES

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


def index_of(file: Path) -> PacketIndex:
    """Return where the packets of a file are, of which there must be one."""
    with opened(file) as stream:
        index = PacketIndex(stream)
    if not len(index.headers):
        told = index.rejected.lines()
        raise CodecError(f"{file} holds no packet: {told[0] if told else 'it is empty'}")
    return index


def units_of(index: PacketIndex) -> list[tuple[Unit, npt.NDArray[np.int64]]]:
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
        index = index_of(source)
    print_table([_unit_row(*unit) for unit in units_of(index)], columns=_UNIT, title=str(file), output=output)
    if output.is_text:
        say(*(f"  {line}" for line in index.rejected.lines()))
