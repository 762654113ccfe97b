"""What the codec's tests share: test vectors with their source packets, and the codes at small sizes."""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np

from capsmodel.codec.gf256 import POLYNOMIAL
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.rlnc import RandomLinear

VECTORS = Path(__file__).parent / "codec" / "vectors"


def vectors(name):
    """Return the test vectors of one file."""
    return json.loads((VECTORS / f"{name}.json").read_text())


@cache
def galois_field():
    """Return GF(2^8) of galois, which takes seconds to import and, as Python, none to compile."""
    import galois

    field = galois.GF(2**8, irreducible_poly=POLYNOMIAL)
    field.compile("python-calculate")
    return field


def source_packets(k, packet_bytes):
    """Return the vectors' source: packet i, byte j is (7 i + 13 j) mod 256."""
    i, j = np.ogrid[:k, :packet_bytes]
    return ((7 * i + 13 * j) % 256).astype(np.uint8)


def sha256(data):
    """Return the hexadecimal SHA-256 of bytes or of an array."""
    return hashlib.sha256(np.ascontiguousarray(data).tobytes()).hexdigest()


def random_packets(k, packet_bytes, seed):
    """Return random packets, shape (k, packet_bytes)."""
    return np.random.default_rng(seed).integers(0, 256, (k, packet_bytes), dtype=np.uint8)


def rank_codes(k, r, packet_bytes, seed=1):
    """Return the codes that decode by rank, with N1 as large as r allows up to 5 (none below r = 3)."""
    codes = [
        RandomLinear(k, r=r, packet_bytes=packet_bytes, seed=seed),
        RandomLinear(k, r=r, packet_bytes=packet_bytes, seed=seed, systematic=False),
        RandomLinear(k, r=r, packet_bytes=packet_bytes, seed=seed, density=5),
    ]
    if r >= 3:
        codes.append(LdpcStaircase(k, r=r, packet_bytes=packet_bytes, n1=min(5, r), seed=seed))
    return codes
