"""Work of the progressive decoders of DC2-MTCP on one window of packets with losses and coded packets.

============================================== ====================== ===== ================
Quantity                                       Column                 Unit  Source
============================================== ====================== ===== ================
rows that a decoder examines                   ``rows_examined``      rows  dc2mtcp Sec. V
row operations that change a coefficient       ``row_operations``     rows
============================================== ====================== ===== ================
"""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement
from capsmodel.experiments.words import ROUNDING

if TYPE_CHECKING:
    from capsmodel.codec.dc2 import ProgressiveDecoder

_PACKET_BYTES = 8


@measurement("decoding-work", revision=1)
def decoding_work(originals: int, *, coded: int, mixed_packets: int, seed: int) -> pd.DataFrame:
    """Decode one window with both algorithms and count their work.

    Parameters
    ----------
    originals : int
        Original packets that arrive.
    coded : int
        Coded packets, which arrive evenly spread; as many originals are lost, at random.
    mixed_packets : int
        Packets before it that a coded packet mixes, at most.
    seed : int
        Seed of losses, source and coefficients.

    Returns
    -------
    DataFrame
        One row for each ``algorithm``, with the columns above.

    Raises
    ------
    ParameterError
        If there is no coded packet or there are more than originals.

    Examples
    --------
    >>> decoding_work(95, coded=4, mixed_packets=15, seed=1)["row_operations"].nunique()
    1
    """
    require(0 < coded <= originals, f"coded = {coded}, but it must lie in 1 to originals = {originals}")
    from capsmodel.codec.dc2 import GaussJordan, Preemptive  # loads Numba, which naming a study needs not

    rows = []
    for name, algorithm in (("Gauss-Jordan", GaussJordan), ("preemptive", Preemptive)):
        decoder = algorithm(originals + coded, packet_bytes=_PACKET_BYTES)
        _receive(decoder, originals + coded, coded, mixed_packets, np.random.default_rng(seed))
        work = decoder.work
        require((work.originals, work.coded) == (originals, coded), "a received packet was not innovative")
        rows.append(
            {"algorithm": name, "rows_examined": work.rows_examined, "row_operations": work.row_operations}
        )  # fmt: skip
    return pd.DataFrame(rows)


def _receive(
    decoder: "ProgressiveDecoder", window: int, coded: int, mixed_packets: int, draw: np.random.Generator
) -> None:
    from capsmodel.codec.gf256 import MUL

    source = draw.integers(0, 256, (window, _PACKET_BYTES), dtype=np.uint8)
    lost = set(draw.choice(window, coded, replace=False).tolist())
    for i in range(window):
        if i not in lost:
            decoder.add_original(i, source[i])
        if (i + 1) % (window // coded) == 0:
            mixed = slice(max(0, i + 1 - mixed_packets), i + 1)
            coefficients = np.zeros(window, np.uint8)
            coefficients[mixed] = draw.integers(1, 256, len(source[mixed]))
            products = MUL[coefficients[mixed][:, np.newaxis], source[mixed]]
            decoder.add_coded(coefficients, np.bitwise_xor.reduce(products, axis=0))


@measurement("decoding-work-left", revision=1)
def work_left(originals: int, *, coded: int, mixed_packets: int, seed: int) -> dict[str, float]:
    """Return how much work preemptive decoding saves, of that of Gauss-Jordan; arguments as :func:`decoding_work`.

    Returns
    -------
    dict
        `saved_ratio` of the rows looked at, the paper's measure, and `saved_operations_ratio` of the row operations;
        `is_within_share`, 1 if the rows left are at most the share of coded packets l/m, else 0.
    """
    rows = decoding_work(originals, coded=coded, mixed_packets=mixed_packets, seed=seed).set_index("algorithm")
    left = (rows.loc["preemptive"] / rows.loc["Gauss-Jordan"]).to_dict()
    return {
        "saved_ratio": 1 - left["rows_examined"],
        "saved_operations_ratio": 1 - left["row_operations"],
        "is_within_share": float(left["rows_examined"] <= coded / originals * (1 + ROUNDING)),
    }
