"""The table of histograms: one row for each bin that has packets."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim import schema
from capsim.engines.histograms import edge
from capsim.fabric.topology import Fabric
from capsim.records import BINS, CLASSES, EXTENT_BINS, QUANTITIES
from capsim.state import RawRecords, Setup
from capsim.tables import names_of, ordered

NS_PER_S = 10**9
OF_QUEUES, EXTENT = ("wait_s", "left_behind_bytes"), "reorder_extent_packets"
PACKETS = ("long", "short", "control")


def no_histograms(fabric: Fabric) -> pd.DataFrame:
    """Return the table of a run that kept none."""
    return _rows([], fabric.layers)


def histograms_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return the histograms of queues by layer, and of extents of reordering; bins without packets are left out."""
    layers = setup.fabric.layers
    queues = raw.queue_counts.reshape(-1, CLASSES, QUANTITIES, BINS)
    rows = [
        (quantity, layer + 1, kind, index, count)
        for layer, of_layer in enumerate(queues)
        for kind, of_kind in enumerate(of_layer)
        for quantity, counts in enumerate(of_kind)
        for index, count in _filled(counts)
    ]
    extents = raw.extents.reshape(-1, EXTENT_BINS)
    rows += [(QUANTITIES, 0, kind, *each) for kind, counts in enumerate(extents) for each in _filled(counts)]
    return _rows(sorted(rows), layers)


def _filled(counts: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return bin and number of packets of the bins that have some."""
    return [(int(index), int(counts[index])) for index in np.flatnonzero(counts)]


def _rows(rows: list[tuple[int, ...]], layers: tuple[str, ...]) -> pd.DataFrame:
    """Return the table of rows quantity, layer from 1, kind of packet, bin, count."""
    quantity, layer, kind, index, count = np.array(rows, np.int64).reshape(-1, 5).T
    unit = np.where(quantity == 0, NS_PER_S, 1)
    last = index == np.where(quantity == QUANTITIES, EXTENT_BINS, BINS) - 1
    columns: dict[str, Any] = {
        "quantity": names_of((*OF_QUEUES, EXTENT), quantity),
        "layer": names_of(("", *layers), layer),
        "packets": names_of(PACKETS, kind),
        "least": np.array([edge(each) for each in index.tolist()], float) / unit,
        "below": np.where(last, np.inf, np.array([edge(each + 1) for each in index.tolist()], float) / unit),
        "count": count,
    }
    return ordered(columns, schema.HISTOGRAMS)
