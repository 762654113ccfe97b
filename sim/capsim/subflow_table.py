"""The table of subflows: one row for each, with its times, its windows at the end and what it sent."""

import numpy as np
import pandas as pd

from capsim import records, schema
from capsim.state import RawRecords, Setup, Table
from capsim.tables import Columns, names_of, ordered, own_columns, seconds

STATES = ("idle", "syn sent", "established", "closed", "syn answered")
_RENAMED = {"duplicate_acks": "dup_acks_received", "path_hash": "hash", "granted_packets": "end"}


def has_subflows(raw: RawRecords, *, asked: bool) -> bool:
    """Return whether a run has this table: if it was asked for, or a flow had several subflows."""
    return asked or bool((raw.flows["n_subs"] > 1).any())


def subflows_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return one row for each subflow, with the columns that its components declare."""
    return _rows(raw.subs, histograms=setup.histograms).assign(**own_columns(raw, setup))


def no_subflows() -> pd.DataFrame:
    """Return the table of a run that has none."""
    return _rows(np.zeros(0, records.SUBFLOW), histograms=False)


def _rows(subs: Table, *, histograms: bool) -> pd.DataFrame:
    columns: Columns = {"subflow": np.arange(len(subs)), "state": names_of(STATES, subs["state"])}
    columns |= {
        name: seconds(subs[f"{name.removesuffix('_s')}_ps"])
        for name in ("open_s", "established_s", "received_s", "closed_s", "srtt_s", "rto_s")
    }
    columns |= {name: subs[field] for name, field in _RENAMED.items()}
    columns["max_reorder_extent"] = np.where(histograms, subs["max_reorder_extent"], records.NONE)
    columns |= {name: subs[name] for name in schema.SUBFLOWS if name not in columns}
    return ordered(columns, schema.SUBFLOWS)
