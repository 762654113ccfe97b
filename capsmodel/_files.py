"""Read and write what is a file and nothing else, whole or not at all, with its name in each error."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_SUFFIX = ".part"
_NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # no error of reading has these numbers


@contextmanager
def atomic_writer(target: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of `target` when the block ends without an exception.

    Of a link, the file behind it is replaced.

    Raises
    ------
    OSError
        If `target` is no file, or the file system refuses it; it names `target`.
    """
    place = file_to_write(target)
    prefix = f".{place.name[:40]}.{os.getpid()}-"
    try:
        descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=place.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(place)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _NOT_WRITTEN:
            raise OSError(error.errno, error.strerror, str(target)) from None
        raise


def file_to_write(target: Path) -> Path:
    """Return the file behind the links of `target`, which need not exist.

    Raises
    ------
    OSError
        If something else is there: a folder, a device, a pipe, or a link to itself. It would be lost.
    """
    place = Path(os.path.realpath(target))
    try:
        mode = place.lstat().st_mode
    except OSError:
        return place
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(mode):
        raise OSError(errno.ENODEV, "a device or a pipe, which no file replaces", str(target))
    return place


def unfinished_files(folder: Path) -> list[Path]:
    """Return the temporary files of :func:`atomic_writer` in a folder, but those of this process."""
    return [path for path in folder.glob(f".*{_SUFFIX}") if f".{os.getpid()}-" not in path.name]


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, or what a pipe brings, to read its bytes.

    Raises
    ------
    OSError
        If it is a device, or cannot be read; it names `path`.
    """
    refuse_device(path)
    with named(path), path.open("rb") as file:
        yield file


def read_text(path: Path) -> str:
    """Return the UTF-8 text of a file, or of what a pipe brings, without the byte-order mark that it may begin with.

    Raises
    ------
    OSError
        As :func:`opened`.
    UnicodeDecodeError
        If it is no UTF-8 text.
    """
    with opened(path) as file:
        return file.read().decode("utf-8-sig")


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Let an error of the operating system that names no file, as those of reading do, name `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def refuse_device(path: Path) -> None:
    """Raise OSError for a device such as ``/dev/zero``, which would be read for ever."""
    if path.is_char_device() or path.is_block_device():
        raise OSError(errno.ENODEV, "a device, which may have no end", str(path))


def check_writable(folder: Path) -> None:
    """Find out before the work, not after it, whether files can be written to `folder` or where it will be made.

    Raises
    ------
    OSError
        If they cannot; it names `folder`.
    """
    try:
        with tempfile.TemporaryFile(dir=_nearest(Path(os.path.realpath(folder)))) as file:
            file.write(b"a full disk refuses this")
            file.flush()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None


def _nearest(place: Path) -> Path:
    """Return `place` if it is there, else the nearest folder above it; raise OSError for a name that cannot be.

    `Path.exists` says no to such a name from Python 3.14 on.
    """
    try:
        place.stat()
    except FileNotFoundError:
        return _nearest(place.parent)
    return place


def _umask() -> int:
    """Return the process's mask of file permissions, which the temporary file was made without regard to."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
