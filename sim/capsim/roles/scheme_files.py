"""A scheme from a Python file, named as ``two_choices.py:SCHEME``: the file, and the constant in it.

The file is run, as ``import`` would run it, by whatever takes the scheme, since parameters and ids of runs depend on
it; ``capsmodel study FILE --expand`` names it and runs nothing, and a result is loaded without. Modules beside it can
be imported by it. What a result remembers of it is its name without folders and the SHA-256 of its text.
"""

import hashlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from capsim.base.bounds import shortened
from capsim.roles.components import Scheme
from capsmodel._files import refuse_device
from capsmodel.checks import ParameterError, require

_REFERENCE = re.compile(r"(?P<file>.*\.py)(:(?P<constant>\w*))?", re.DOTALL)


def is_reference(name: str) -> bool:
    """Return whether `name` means a scheme in a file.

    Examples
    --------
    >>> is_reference("two_choices.py:SCHEME"), is_reference("ecmp")
    (True, False)
    """
    return _REFERENCE.fullmatch(name) is not None


def file_of(name: str) -> str:
    """Return `name` with the whole path of its file, for other processes; an empty text for the name of a scheme."""
    return str(Path(name).absolute()) if is_reference(name) else ""


def in_folder(name: str, folder: Path) -> str:
    """Return `name` with its file relative to `folder`; the name of a scheme as it is."""
    return str(folder / name) if is_reference(name) else name


def load_scheme(name: str, *, key: str = "scheme") -> Scheme:
    """Return the scheme that `name` refers to.

    Parameters
    ----------
    name : str
        File and constant, as in ``two_choices.py:SCHEME``.
    key : str
        What named it, for the text of an error.

    Raises
    ------
    ParameterError
        If there is no such file, it cannot be run, has no such constant, or that is no scheme.
    """
    file, constant = _parts(name)
    require(bool(constant), f"{key} = {shortened(name)}: name the scheme in the file, as in {file.name}:SCHEME")
    module = _module(str(file.resolve()), _digest(file, key), key)
    constant_value = vars(module).get(constant)
    if constant_value is None:
        known = [one for one, value in vars(module).items() if isinstance(value, Scheme)]
        listed = f"its schemes are {', '.join(known)}" if known else "it has no Scheme"
        raise ParameterError(f"{key}: there is no {constant} in {file.name}: {listed}")
    if not isinstance(constant_value, Scheme):
        raise ParameterError(
            f"{key}: {constant} in {file.name} is no Scheme, but of type {type(constant_value).__name__}"
        )
    return constant_value


def source_of(name: str) -> dict[str, str]:
    """Return what the manifest of a run has of the file that its scheme comes from."""
    file, constant = _parts(name)
    return {"file": file.name, "constant": constant, "sha256": _digest(file, "scheme")}


def same_source(source: dict[str, str], *folders: Path) -> str:
    """Return the reference to the scheme that a manifest names, whose file is in one of `folders`.

    Raises
    ------
    ParameterError
        If it is in none of them, or the file has another text than when the run was made; or what is named is no file
        of these folders themselves, as :func:`source_of` names it.
    """
    file, sha256 = source["file"], source["sha256"]
    is_name = Path(file).name == file and is_reference(file)
    require(
        is_name, f"the manifest names {shortened(file)} as the file of the scheme: that is no name of a Python file"
    )
    there = [folder / file for folder in folders if (folder / file).is_file()]
    require(bool(there), f"the run was made with the scheme in {file}: go to the folder that it is in")
    same = [path for path in there if _digest(path, "scheme") == sha256]
    text = f"the run was made with another {file}, of SHA-256 {sha256[:12]}...: restore it, or simulate anew"
    require(bool(same), text)
    return f"{same[0]}:{source['constant']}"


def _parts(name: str) -> tuple[Path, str]:
    match = _REFERENCE.fullmatch(name)
    if match is None or "\0" in name:
        raise ParameterError(f"scheme = {shortened(name)} is no file and constant, as in two_choices.py:SCHEME")
    return Path(match["file"]), match["constant"] or ""


def _digest(file: Path, key: str) -> str:
    require(file.is_file(), f"{key}: there is no file {file}: give the Python file that has the scheme")
    refuse_device(file)
    return hashlib.sha256(file.read_bytes()).hexdigest()


class _TextLoader(SourceFileLoader):
    """Loads the text of a file: byte code beside it passes for that of a text of the same length and second."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the text as it is now."""
        return self.source_to_code(self.get_data(self.path), self.path)


@cache
def _module(file: str, sha256: str, key: str) -> ModuleType:
    """Return the module of a file, run once for each text that it has had."""
    path = Path(file)
    place = hashlib.sha256(f"{file} {sha256}".encode()).hexdigest()[:12]
    name = f"capsim_scheme_{path.stem}_{place}"
    spec: Any = spec_from_file_location(name, path, loader=_TextLoader(name, file))
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # where Numba and dataclasses look for it
    try:
        with _first_on_path(path.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever a user's file raises is reported in one line
        del sys.modules[module.__name__]
        raise ParameterError(f"{key}: {path.name} cannot be loaded, {type(error).__name__}: {_line(error)}") from error
    return module


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or "no text"


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    """Let modules in `folder` be imported."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
