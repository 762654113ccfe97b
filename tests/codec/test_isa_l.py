"""Reed-Solomon and ISA-L, called through pyeclib: the same bytes, and each decodes what the other encoded."""

import numpy as np
import pytest

from capsmodel.codec.reed_solomon import ReedSolomon

FRAGMENT_HEADER_BYTES = 80  # liberasurecode puts its own header before each fragment


@pytest.mark.linux
@pytest.mark.parametrize(("k", "r"), [(3, 2), (10, 4), (16, 8), (23, 9)])
def test_isa_l_cauchy_emits_the_same_bytes_and_decodes_ours(k, r):
    from pyeclib.ec_iface import ECDriver

    packet_bytes = 512
    source = np.random.default_rng(0).integers(0, 256, (k, packet_bytes), dtype=np.uint8)
    driver = ECDriver(k=k, m=r, ec_type="isa_l_rs_cauchy")
    fragments = driver.encode(source.tobytes())
    payload = [fragment[FRAGMENT_HEADER_BYTES:] for fragment in fragments]
    repair = ReedSolomon(k, r=r, packet_bytes=packet_bytes).encode(source)
    assert payload[k:] == [row.tobytes() for row in repair]
    ours = [head[:FRAGMENT_HEADER_BYTES] + row.tobytes() for head, row in zip(fragments[k:], repair, strict=True)]
    assert driver.decode([*fragments[min(k, r) : k], *ours]) == source.tobytes()
