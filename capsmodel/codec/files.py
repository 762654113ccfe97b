"""Files of packets: packets one after the other, each as `packets.to_bytes` writes it, and nothing else.

====================  ======  ====================  ======  ===============================================
Quantity              Symbol  Name                  Unit    Meaning
====================  ======  ====================  ======  ===============================================
file to packets               `encode_file`
packets that arrive           `lose_packets`        packet
====================  ======  ====================  ======  ===============================================

The way back is `decode_file`. The suffix is ``.caps``. Results are written to a temporary file beside the target and
renamed: a target is complete or is not there.
"""

from pathlib import Path

import numpy as np

from capsmodel._files import atomic_writer, opened
from capsmodel.codec.headers import Unit
from capsmodel.codec.packet_index import read_packets
from capsmodel.codec.packets import Packet, to_bytes
from capsmodel.codec.reception import Draw, Flags
from capsmodel.codec.stream_encoder import StreamEncoder

SUFFIX = ".caps"
_CHUNK_BYTES = 1 << 20


def encode_file(source: Path, target: Path, encoder: StreamEncoder) -> int:
    """Write the packets of file `source` to file `target` and return their number.

    Raises
    ------
    OSError
        When a file cannot be read or written; `target` is then as it was.
    """
    count = 0
    with opened(source) as file, atomic_writer(target) as out:
        while chunk := file.read(_CHUNK_BYTES):
            packets = encoder.feed(chunk)
            out.writelines(packets)
            count += len(packets)
        packets = encoder.finish()
        out.writelines(packets)
    return count + len(packets)


def lose_packets(source: Path, target: Path, *, draw: Draw, rng: np.random.Generator) -> int:
    """Write to `target` the packets of file `source` that one reception lets through, and return their number.

    Parameters
    ----------
    source, target : Path
        Files of packets; those of a unit stand together.
    draw : callable
        Such as :func:`capsmodel.codec.reception.arrivals`, its losses fixed.
    rng : numpy.random.Generator
        Source of the losses.
    """
    kept = 0
    arrived: dict[Unit, Flags] = {}
    with opened(source) as stream, atomic_writer(target) as out:
        for _, found in read_packets(stream):
            if not isinstance(found, Packet):
                continue
            if found.unit not in arrived:
                arrived = {found.unit: draw(found.unit.n, 1, rng)[0]}
            if arrived[found.unit][found.index]:
                out.write(to_bytes(found))
                kept += 1
    return kept
