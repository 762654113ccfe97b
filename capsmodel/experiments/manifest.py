"""The origin of a result: JSON that equal values give equally, ids that are its hashes, and the software that answered.

No host name, no user name and no path: the record says what would have to be the same elsewhere.

Ids of tasks are hashes of :func:`canonical_json`, which has numbers as Python writes them (``1e-06``). Manifests and
the ids of simulated runs are :func:`manifest_json`, with numbers as short as they can be (``1e-6``). Kept rows hold ids
of both kinds, so neither form can give way to the other.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from capsmodel import __version__
from capsmodel._environment import environment_of
from capsmodel.checks import ParameterError

if TYPE_CHECKING:
    from pandas import DataFrame

SCHEMA = 2
"""Version of the files that a sweep writes; part of every id."""

_quoted = cache(json.dumps)  # the few names that arguments have
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

_LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow")


def canonical_json(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no spaces: equal values give equal text.

    Parameters
    ----------
    value : object
        Mappings, sequences, dataclasses, strings, finite numbers, booleans and None, nested.

    Raises
    ------
    ParameterError
        If something in it is none of these.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": (0.5, None)})
    '{"a":[0.5,null],"b":1}'
    """
    try:
        plain = msgspec.to_builtins(value, str_keys=True)
        return _ENCODER.encode(plain)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{value!r} has no JSON form ({error}): use finite Python numbers, strings, lists and dictionaries"
        ) from None


def manifest_json(value: Any) -> bytes:
    """Return plain tables, lists, texts and numbers as JSON with sorted keys and no spaces.

    Examples
    --------
    >>> manifest_json({"b": 1e-6, "a": [True]})
    b'{"a":[true],"b":1e-6}'
    """
    return msgspec.json.encode(value, order="sorted")


def json_object(texts: Mapping[str, str]) -> str:
    """Return :func:`canonical_json` of a mapping whose values are canonical JSON already.

    Examples
    --------
    >>> json_object({"b": "1", "a": "[0.5,null]"})
    '{"a":[0.5,null],"b":1}'
    """
    return "{" + ",".join(f"{_quoted(name)}:{texts[name]}" for name in sorted(texts)) + "}"


def content_id(value: Any) -> str:
    """Return the SHA-256 of `value` as canonical JSON, 64 hexadecimal digits.

    Examples
    --------
    >>> content_id({"a": 1, "b": 2}) == content_id({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def table_csv(frame: "DataFrame") -> str:
    """Return a table as comma-separated values with 12 digits, more than two processors' last bits agree on."""
    return frame.to_csv(index=False, lineterminator="\n", float_format="%.12g")


def table_id(frame: "DataFrame") -> str:
    """Return the SHA-256 of :func:`table_csv`, 64 hexadecimal digits: ``sha256sum`` of the file says the same."""
    return hashlib.sha256(table_csv(frame).encode()).hexdigest()


def software() -> dict[str, str]:
    """Return name and version of this package.

    Examples
    --------
    >>> software()["name"]
    'capsmodel'
    """
    return {"name": "capsmodel", "version": __version__}


def environment() -> dict[str, str]:
    """Return versions of Python and the libraries, system and processor family.

    Examples
    --------
    >>> sorted(environment())[:3]
    ['machine', 'numpy', 'pandas']
    """
    return environment_of(_LIBRARIES)
