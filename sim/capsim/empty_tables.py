"""Tables of a run that has no row of them: their columns, and the types that these have otherwise."""

import numpy as np
import pandas as pd

from capsim import records, schema
from capsim.fabric.topology import Fabric
from capsim.histogram_table import no_histograms
from capsim.probe_table import no_samples
from capsim.subflow_table import no_subflows
from capsim.tables import ordered, trace_table


def empty_table(name: str, fabric: Fabric) -> pd.DataFrame:
    """Return the table of subflows, units, probes, histograms or trace without rows."""
    if name == "units":
        return ordered({"unit": [], "flow": [], "subflow": []}, schema.UNITS).astype(np.int64)
    if name == "probes":
        return no_samples()
    if name == "subflows":
        return no_subflows()
    if name == "histograms":
        return no_histograms(fabric)
    return trace_table(np.zeros(0, records.TRACE), np.zeros(0, records.SUBFLOW), fabric)
