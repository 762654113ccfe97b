"""The parameters of a component as the record that its hooks read."""

from dataclasses import fields
from enum import IntEnum
from typing import Any

import numpy as np

from capsim.clock import to_ps


def record_name(name: str) -> str:
    """Return the name that parameter `name` has in the record: times are picoseconds there.

    Examples
    --------
    >>> record_name("min_rto_s"), record_name("mss_bytes")
    ('min_rto_ps', 'mss_bytes')
    """
    return name.removesuffix("_s") + "_ps" if name.endswith("_s") else name


def param_record(params: Any) -> np.ndarray[Any, Any]:
    """Return a parameter struct as an array of one record.

    Floats stay floats, except times (``_s``), which become whole picoseconds (``_ps``); truth values, whole numbers
    and members of an IntEnum become int64. Without parameters it is 8 bytes without fields.
    """
    values: dict[str, float | int] = {}
    for field in fields(params):
        value = getattr(params, field.name)
        name = record_name(field.name)
        if name != field.name:
            value = to_ps(value)
        is_float = isinstance(value, float) and not isinstance(value, IntEnum)
        values[name] = value if is_float else int(value)
    kinds = [(name, "f8" if isinstance(value, float) else "i8") for name, value in values.items()]
    empty = {"names": [], "formats": [], "offsets": [], "itemsize": 8}
    record = np.zeros(1, np.dtype(kinds) if kinds else np.dtype(empty))  # type: ignore[call-overload]  # literal keys
    for name, value in values.items():
        record[name] = value
    return record
