"""Write a file whole or not at all, and ask beforehand whether it can be written."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_SUFFIX = ".part"


@contextmanager
def atomic_writer(target: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of `target` when the block ends without an exception."""
    prefix = f".{target.name[:40]}.{os.getpid()}-"
    try:
        descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def unfinished_files(folder: Path) -> list[Path]:
    """Return the temporary files of :func:`atomic_writer` in a folder, but those of this process."""
    return [path for path in folder.glob(f".*{_SUFFIX}") if f".{os.getpid()}-" not in path.name]


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
    place = Path(os.path.realpath(folder))
    try:
        while not place.exists():
            place = place.parent
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"a full disk refuses this")
            file.flush()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None


def _umask() -> int:
    """Return the process's mask of file permissions, which the temporary file was made without regard to."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
