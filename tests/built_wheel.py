"""The wheel of the checkout, unpacked: what somebody has who installed it and has no checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALLED_FROM = {"capsmodel": ROOT / "capsmodel", "capsim": ROOT / "sim/capsim"}


def build(kind, folder):
    """Return a distribution of the checkout, "wheel" or "sdist", built in a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("capsmodel-*")
    return found


def unpack(wheel, site):
    """Unpack a wheel with the machine code that the checkout has of the same sources; compiling takes half a minute."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for package, source in INSTALLED_FROM.items():
        for file in [path for path in (site / package).rglob("*.py") if "_data" not in path.parts]:
            origin = source / file.relative_to(site / package)
            shutil.copystat(origin, file)  # Numba knows a source by its time and size
            for code in origin.parent.glob(f"__pycache__/{file.stem}.*.nb[ic]"):
                (file.parent / "__pycache__").mkdir(exist_ok=True)
                shutil.copy2(code, file.parent / "__pycache__")
        for code in source.glob("__pycache__/*.o"):
            (site / package / "__pycache__").mkdir(exist_ok=True)
            shutil.copy2(code, site / package / "__pycache__")


def environment(site):
    """Return variables with which ``python -S`` finds the wheel, and not the editable install of the checkout."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(site), sysconfig.get_path("purelib")])}
