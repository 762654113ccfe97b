"""The table of samples: one row for each number that was sampled."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim.clock import PS_PER_S
from capsim.probe_places import Plan, entity_name, plan
from capsim.records import NONE
from capsim.state import RawRecords, Setup, Table


def no_samples() -> pd.DataFrame:
    """Return the table of a run without samples."""
    nothing = pd.Categorical([], categories=pd.Index([], dtype=object))
    return pd.DataFrame({"time_s": np.zeros(0), "entity": nothing, "field": nothing, "value": np.zeros(0)})


def probes_table(raw: RawRecords, setup: Setup) -> pd.DataFrame:
    """Return one row for each number that was sampled, in the order of time."""
    if not setup.probe_ps:
        return no_samples()
    probes, watched = raw.probes, plan(setup, raw.own)
    column = watched.watches["field"][probes["watch"]]
    labels, first = np.unique(np.array(watched.labels, object), return_inverse=True)
    return pd.DataFrame(
        {
            "time_s": probes["time_ps"] / PS_PER_S,
            "entity": _entities(probes, raw.subs, setup, watched),
            "field": pd.Categorical.from_codes(first[column], pd.Index(labels)),
            "value": _values(probes["value"], column, watched),
        }
    )


def _entities(probes: Table, subs: Table, setup: Setup, watched: Plan) -> "pd.Categorical[str]":
    """Return what each sample belongs to; there are few distinct pairs of a place and a subflow."""
    keys = probes["watch"].astype(np.int64) * (len(subs) + 1) + probes["sub"] + 1
    pairs, codes = np.unique(keys, return_inverse=True)
    namers = [entity_name(field, setup.fabric) for field in watched.fields]
    names = []
    for watch, sub in zip((pairs // (len(subs) + 1)).tolist(), (pairs % (len(subs) + 1) - 1).tolist(), strict=True):
        place = watched.watches[watch]
        of_sub = f"flow{place['flow']}.{subs['number'][sub]}" if sub != NONE else ""
        names.append(of_sub + namers[place["field"]](int(place["row"])))
    distinct = pd.Index(dict.fromkeys(names))
    return pd.Categorical.from_codes(distinct.get_indexer(pd.Index(names))[codes], distinct)


def _values(values: Table, column: Table, watched: Plan) -> npt.NDArray[np.float64]:
    """Return the numbers, times in seconds: NaN where there is none."""
    of_time = np.array([field.name.endswith("_ps") for field in watched.fields])[column]
    return np.where(of_time, np.where(values == NONE, np.nan, values / PS_PER_S), values)
