"""Find a data file in an installed wheel or in a checkout."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def notebook_folders() -> tuple[Path, Path]:
    """Return the folders of the notebooks, as text, and of the pictures that they name."""
    installed, checkout = _HERE / "_data" / "notebooks", _HERE.parent / "notebooks"
    return (installed, installed / "figures") if installed.is_dir() else (checkout / "src", checkout / "figures")


def data_path(name: str) -> Path:
    """Return the path of data file `name`, for example ``"workloads/websearch_dctcp.csv"``.

    A wheel carries the files in ``capsmodel/_data``; an editable install and a checkout read ``data/`` itself, which
    alone has the runs behind the ledger, ``results``.

    Raises
    ------
    FileNotFoundError
        If neither place holds the file.

    Examples
    --------
    >>> data_path("workloads/websearch_dctcp.csv").name
    'websearch_dctcp.csv'
    """
    for root in (_HERE / "_data", _HERE.parent / "data"):
        if (root / name).exists():
            return root / name
    if name.partition("/")[0] == "results":
        raise FileNotFoundError(f"no {name}: kept runs are not installed; a clone of the repository has data/{name}")
    raise FileNotFoundError(f"no data file {name!r}: reinstall capsmodel, its wheel carries them all")
