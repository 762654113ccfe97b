"""Packets that several benchmarks code: random contents, and the stream of DC2-MTCP's measurement."""

import numpy as np

from capsmodel.codec.dc2 import Dc2Mixer, Dc2Option


def random_packets(k: int, packet_bytes: int) -> np.ndarray:
    """Return packets with random contents, over (k, packet_bytes)."""
    return np.random.default_rng(k).integers(0, 256, (k, packet_bytes), dtype=np.uint8)


def dc2_arrivals(source: np.ndarray) -> list[tuple[int, Dc2Option, np.ndarray]]:
    """Return DSN, option and payload of what arrives at a C-O ratio of 0.02.

    Of each 50 originals one is lost, and a coded packet mixes the last 15.
    """
    mixer, arrived = Dc2Mixer(packet_bytes=source.shape[1], rng=2), []
    for start in range(0, len(source), 50):
        for dsn in range(start, start + 50):
            if dsn >= start + 35:
                mixer.mix(dsn, source[dsn])
            if dsn != start + 42:
                arrived.append((dsn, Dc2Option(), source[dsn]))
        arrived.append(mixer.finish())
    return arrived
