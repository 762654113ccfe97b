"""Contract: machine code on disk is what was written, or it is made anew; whatever else is there does no harm."""

import os
import stat

import joblib
import pytest

from capsmodel import _machine_code
from capsmodel._machine_code import kept

CONTENT = bytes(range(256)) * 8
HEAD_BYTES = 160  # more than the line before the content has


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder where machine code is kept."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def once(key="", content=CONTENT):
    return kept("some.function", "types", key, lambda: content)


def file_in(folder):
    (path,) = folder.glob("*.o")
    return path


def is_made_anew(folder):
    """Return whether the next call makes the code again, and the one after that finds it."""
    return [once(), once()] == [(CONTENT, False), (CONTENT, True)]


def test_a_flipped_bit_is_found_wherever_it_is(folder):
    """Wrong line: the digest leaves out the head, or what it says of itself."""
    once()
    path = file_in(folder)
    good = path.read_bytes()
    for at in [*range(HEAD_BYTES), *range(HEAD_BYTES, len(good), 41), len(good) - 1]:
        for bit in (at % 8, 7 - at % 8):
            damaged = bytearray(good)
            damaged[at] ^= 1 << bit
            path.write_bytes(damaged)
            assert _machine_code._find(path.name) is None, (at, bit)
    assert is_made_anew(folder)


def test_a_file_that_was_cut_anywhere_or_grew_is_made_anew(folder):
    once()
    path = file_in(folder)
    good = path.read_bytes()
    assert good.index(CONTENT) <= HEAD_BYTES
    for size in [*range(HEAD_BYTES), *range(HEAD_BYTES, len(good), 41), len(good) - 1]:
        path.write_bytes(good[:size])
        assert _machine_code._find(path.name) is None, size
    path.write_bytes(good + b"\0")
    assert is_made_anew(folder)


@pytest.mark.parametrize(
    "head", [b"{}", b"[1]", b"", b'{"symbol": 3, "calls_numba": false}', b"machine code", b"\0\xff"]
)
def test_a_foreign_head_is_made_anew(folder, head):
    once()
    path = file_in(folder)
    path.write_bytes(head + b"\n" + path.read_bytes().partition(b"\n")[2])
    assert is_made_anew(folder)


def test_a_file_of_another_format_or_under_another_name_is_made_anew(folder, monkeypatch):
    """Wrong line: the digest is of the content alone, and a copy under the name of another function is run."""
    once("other", b"of another key")
    other = file_in(folder)
    once()
    (path,) = {*folder.glob("*.o")} - {other}
    path.write_bytes(other.read_bytes())
    assert is_made_anew(folder)
    monkeypatch.setattr(_machine_code, "FORMAT", _machine_code.FORMAT + 1)
    assert is_made_anew(folder)


@pytest.mark.linux
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_what_is_no_file_is_not_read_nor_written_through(folder, kind, tmp_path_factory):
    """Wrong line: a pipe is waited for; a link is followed, and what it points to is written over."""
    once()
    path, aim = file_in(folder), tmp_path_factory.mktemp("aim") / "precious"
    good = path.read_bytes()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        if kind == "link":
            aim.write_bytes(good)
        path.symlink_to(aim)
    again = once()
    assert again == (CONTENT, False)
    assert (aim.read_bytes() if aim.exists() else b"") == (good if kind == "link" else b"")
    assert not path.is_symlink()


def lock_in(folder):
    (path,) = folder.glob("*.lock")
    return path


@pytest.mark.linux
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder", "unreadable", "text"])
def test_what_is_no_lock_is_left_alone(folder, kind, tmp_path_factory):
    """Wrong line: the lock is opened to be written: a link's file is emptied, a pipe waited for, a folder an error."""
    once()
    path, aim = lock_in(folder), tmp_path_factory.mktemp("aim") / "precious"
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind in ("unreadable", "text"):
        path.write_text("another user's")
        path.chmod(0 if kind == "unreadable" else 0o444)
    else:
        if kind == "link":
            aim.write_text("all of it")
        path.symlink_to(aim)
    before = stat.S_IFMT(path.lstat().st_mode)
    assert [once("new"), once("new")] == [(CONTENT, False), (CONTENT, True)]
    assert stat.S_IFMT(path.lstat().st_mode) == before
    assert aim.exists() == (kind == "link")
    if kind == "link":
        assert aim.read_text() == "all of it"
    if kind == "text":
        assert path.read_text() == "another user's"


def test_a_file_system_without_locks_or_room_for_one_does_no_harm(folder, monkeypatch):
    def refused(*_, **__):
        raise OSError(28, "no room")

    monkeypatch.setattr(_machine_code.os, "open", refused)
    assert once() == (CONTENT, False)


def test_where_nothing_can_be_written_it_is_made_each_time(folder, monkeypatch):
    monkeypatch.setattr(_machine_code.os, "access", lambda *_: False)
    assert [once(), once()] == [(CONTENT, False), (CONTENT, False)]
    assert [*folder.iterdir()] == []


# -- for whom it is


def target():
    _machine_code._target.cache_clear()
    return _machine_code._target()


def test_a_worker_process_uses_what_its_parent_has_compiled():
    """Wrong line: joblib sets NUMBA_NUM_THREADS in its workers, and every setting is part of the key."""
    (of_worker,) = joblib.Parallel(n_jobs=2)([joblib.delayed(_machine_code._target)()])
    assert of_worker == target()


@pytest.mark.parametrize(
    ("setting", "value", "counts"),
    [
        *((name, "1", False) for name in ("NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "NUMBA_COLOR_SCHEME")),
        *((name, "1", False) for name in ("NUMBA_DEBUG_CACHE", "NUMBA_FULL_TRACEBACKS", "NUMBA_THREADING_LAYER")),
        *((name, "1", True) for name in ("NUMBA_OPT", "NUMBA_BOUNDSCHECK", "NUMBA_LOOP_VECTORIZE")),
        *((name, "haswell", True) for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")),
    ],
)
def test_a_setting_counts_if_it_decides_on_instructions(setting, value, counts, monkeypatch):
    monkeypatch.delenv(setting, raising=False)
    before = target()
    monkeypatch.setenv(setting, value)
    assert (target() != before) == counts
    monkeypatch.undo()
    target()
