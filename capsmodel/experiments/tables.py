"""Parquet files of results: each carries its manifest, and digests that are checked whenever it is read.

A changed bit never comes back as another number: Parquet's page checksums cover the stored pages, the SHA-256 of the
rows covers what the reader makes of them, and the SHA-256 of the manifest covers the manifest.

Files are read in one thread: Arrow's own threads can abort a process that ends soon after
(https://github.com/apache/arrow/issues/34314).
"""

import base64
import hashlib
import zlib
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from capsmodel._files import atomic_writer, opened
from capsmodel.checks import ParameterError, require

# Keys of the file's metadata.
_MANIFEST = b"capsmodel"
_MANIFEST_SHA256 = b"capsmodel.manifest_sha256"
_ROWS_SHA256 = b"capsmodel.rows_sha256"
_REMEDY = "move it elsewhere and run again what made it"
_MAGIC = b"PAR1"  # a Parquet file begins and ends with it
_COMPRESSED, _LARGE_BYTES = b"zlib ", 50_000
"""A larger manifest is compressed: one of many runs repeats itself."""
_FEW_ROWS = 100
"""Of so few rows a compressed file is no smaller, and takes twice the time to write and to read."""


def write_table(table: Any, path: Path, *, manifest: bytes) -> None:
    """Write an Arrow table with its manifest and both digests; the file is either whole or absent.

    Parameters
    ----------
    table : pyarrow.Table
        Rows; metadata of the table as a whole is not kept, that of its columns is.
    path : pathlib.Path
        Target, in an existing folder.
    manifest : bytes
        A JSON object.
    """
    from pyarrow import parquet  # takes as long as all of this package

    stored = _packed(manifest)
    added = {
        _MANIFEST: stored,
        _MANIFEST_SHA256: hashlib.sha256(stored).hexdigest().encode(),
        _ROWS_SHA256: rows_sha256(table).encode(),
    }
    plain = table.replace_schema_metadata(None)
    compression = "zstd" if len(table) > _FEW_ROWS else "none"
    options = {"compression": compression, "write_page_checksum": True}
    with atomic_writer(path) as file, parquet.ParquetWriter(file, plain.schema, **options) as writer:
        writer.write_table(plain)
        writer.add_key_value_metadata(added)  # in the schema it would be stored a second time


def read_manifest(path: Path, *, keys: Set[str], rule: str) -> dict[str, Any]:
    """Return the manifest inside a file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    keys : set of str
        That a manifest of this kind of file has.
    rule : str
        Follows the name of a file of another kind in the error.

    Raises
    ------
    ParameterError
        If the file is no Parquet file, is damaged, was not written by :func:`write_table`, or is of another kind.
    OSError
        If the file cannot be read.
    """
    with _opened(path) as file:
        manifest = msgspec.json.decode(_unpacked(_metadata(file, path)[_MANIFEST]))
        require(isinstance(manifest, dict), f"{path} has a manifest that is no JSON object: {_REMEDY}")
        document: dict[str, Any] = manifest
    require(keys <= document.keys(), f"{path} {rule}")
    return document


def _packed(manifest: bytes) -> bytes:
    """Return a manifest as it is stored: metadata of Parquet are text."""
    return _COMPRESSED + base64.b64encode(zlib.compress(manifest)) if len(manifest) > _LARGE_BYTES else manifest


def _unpacked(stored: bytes) -> bytes:
    """Return a manifest from what is stored, whose digest was checked."""
    if not stored.startswith(_COMPRESSED):
        return stored
    return zlib.decompress(base64.b64decode(stored.removeprefix(_COMPRESSED)))


def read_table(path: Path) -> Any:
    """Return the rows of a file as an Arrow table.

    Raises
    ------
    ParameterError, OSError
        As :func:`read_manifest`.
    """
    with _opened(path) as file:
        written = _metadata(file, path)[_ROWS_SHA256].decode()
        table = file.read(use_threads=False)
        require(rows_sha256(table) == written, f"{path} is damaged, its rows are not those written: {_REMEDY}")
    return table


def rows_sha256(table: Any) -> str:
    """Return the SHA-256 of names and values of an Arrow table's columns, 64 hexadecimal digits.

    Values are compared by their bits, however they are stored: chunks, dictionaries and paddings make no difference.

    Examples
    --------
    >>> whole, parts = pa.chunked_array([[1.5, None]]), pa.chunked_array([[1.5], [None]])
    >>> rows_sha256(pa.table({"rtt_s": whole})) == rows_sha256(pa.table({"rtt_s": parts}))
    True
    """
    digest = hashlib.sha256()
    for name in table.column_names:
        digest.update(f"{name}\n".encode())
        for block in _blocks(table[name]):
            digest.update(block)
    return digest.hexdigest()


def _blocks(column: Any) -> Iterator[bytes]:
    """Yield the values of a column as bytes: first where it has none, then all."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    yield column.is_null().to_numpy().tobytes() if column.null_count else bytes(len(column))
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        values = (pc.fill_null(column, pa.scalar(0).cast(kind)) if column.null_count else column).to_numpy()
        yield values.dtype.str.encode()
        yield values.tobytes()
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        words = column.combine_chunks().dictionary_encode()
        yield repr(words.dictionary.to_pylist()).encode()
        yield pc.fill_null(words.indices, -1).to_numpy().tobytes()
    else:
        yield repr(column.to_pylist()).encode()


def differ(first: Any, second: Any) -> npt.NDArray[np.bool_]:
    """Return in which rows two columns of one type differ, bit for bit: as :func:`rows_sha256` tells them apart.

    Examples
    --------
    >>> differ(pa.chunked_array([[0.5, 0.0, None]]), pa.chunked_array([[0.5, -0.0, 1.0]])).tolist()
    [False, True, True]
    """
    (missing, values), (other_missing, other_values) = _bits(first), _bits(second)
    return np.asarray((missing != other_missing) | (values != other_values), bool)


def _bits(column: Any) -> tuple[Any, Any]:
    """Return where a column has no value, and what its values are made of."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = pc.fill_null(column, pa.scalar(0).cast(kind)).to_numpy()
        return column.is_null().to_numpy(), values.view(f"u{values.itemsize}")
    return column.is_null().to_numpy(), np.array([*map(repr, column.to_pylist())], object)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file; whatever damaged bytes make the reader raise is reported in one line."""
    from pyarrow import parquet

    require(not path.is_fifo(), f"{path} is a pipe, but a table is read from a file: name one")
    with opened(path) as bytes_on_disk:
        begin = bytes_on_disk.read(len(_MAGIC))
        require(begin == _MAGIC, f"{path} is no Parquet file: name one that capsmodel wrote, or a folder of such files")
        try:
            yield parquet.ParquetFile(bytes_on_disk, page_checksum_verification=True, pre_buffer=False)
        except ParameterError:
            raise
        except (pa.ArrowException, msgspec.DecodeError, OSError, ValueError, RecursionError):
            raise ParameterError(f"{path} is a damaged Parquet file: {_REMEDY}") from None


def _metadata(file: Any, path: Path) -> dict[bytes, bytes]:
    """Return the metadata of a file after the check of its manifest."""
    entries: dict[bytes, bytes] = file.metadata.metadata or {}
    require(_MANIFEST in entries, f"{path} carries no manifest: it is no result of capsmodel")
    digests = _MANIFEST_SHA256 in entries and _ROWS_SHA256 in entries
    require(digests, f"{path} carries no digests, as files of earlier versions: {_REMEDY}")
    same = hashlib.sha256(entries[_MANIFEST]).hexdigest().encode() == entries[_MANIFEST_SHA256]
    require(same, f"{path} is damaged, its manifest is not the one written: {_REMEDY}")
    return entries
