"""Free memory, of the machine and of the control group that this process runs in, and whether it will do.

A container or a batch system gives a process a control group with a limit; beyond it the process is killed, however
much memory the machine has.
"""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from capsmodel.checks import ParameterError

UNKNOWN = 2**62  # bytes, where the system does not say
SMALL_BYTES = 2**20  # asking takes a millisecond, as a run of a few flows does: less is not asked about


def check_fits(needed_bytes: int, what: str, *, would_fit: str = "") -> None:
    """Raise :class:`ParameterError` when `needed_bytes` exceed the memory that is free now.

    Parameters
    ----------
    needed_bytes : int
        Estimate, in bytes; up to `SMALL_BYTES` are taken to fit.
    what : str
        What needs them; the error begins with it.
    would_fit : str
        What to ask for instead, at the end of the error.
    """
    if needed_bytes <= SMALL_BYTES:
        return
    free_bytes = available_bytes()
    if needed_bytes > free_bytes:
        sizes = f"{needed_bytes / 1e9:.1f} GB needed, {free_bytes / 1e9:.1f} GB free"
        raise ParameterError(f"{what} would not fit in memory: {sizes}" + (f": {would_fit}" if would_fit else ""))


def available_bytes() -> int:
    """Return the memory that this process can still take, in bytes; 2**62 where the system does not say."""
    return max(0, min(_free_on_machine(), _free_in_group(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))))


def _free_on_machine() -> int:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        lines = dict(line.split(":", 1) for line in text.splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        names = getattr(os, "sysconf_names", {})
        known = "SC_AVPHYS_PAGES" in names
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else UNKNOWN


def _free_in_group(groups: Path, root: Path) -> int:
    """Return what the limits of the control groups of this process leave, in bytes.

    Parameters
    ----------
    groups : Path
        Lines ``number:controllers:/path`` (cgroups(7)): the group in each hierarchy. Version 2 has one, without
        controllers, and its files in `root`; version 1 has the controller ``memory`` and its files in ``root/memory``.
    root : Path
        Where the hierarchies are mounted.
    """
    try:
        lines = [line.split(":", 2) for line in groups.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return UNKNOWN
    free = [UNKNOWN]
    for _, controllers, place in lines:
        if controllers == "":
            free += [_left(folder, "memory.max", "memory.current", "inactive_file") for folder in _above(root, place)]
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            free += [_left(folder, *names) for folder in _above(root / "memory", place)]
    return min(free)


def _above(mounted: Path, place: str) -> Iterator[Path]:
    """Yield the folder of a group and of all groups that it is in; a container sees its own group as the root."""
    inner = PurePosixPath(place).relative_to("/") if place.startswith("/") else PurePosixPath(place)
    for group in (inner, *inner.parents):
        yield mounted / group


def _left(folder: Path, limit: str, used: str, cache: str) -> int:
    """Return limit - used of one group, in bytes; what the kernel has of files and can drop is not counted as used."""
    try:
        most = (folder / limit).read_text().strip()
        if most == "max":
            return UNKNOWN
        taken = int((folder / used).read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return UNKNOWN
    return int(most) - taken + int(stat.get(cache, 0))
