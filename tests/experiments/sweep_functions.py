"""Functions that the sweep tests run, in this process and in others."""

import os
import signal
from pathlib import Path

import pandas as pd

from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement


@measurement("square", revision=1)
def square(*, number, seed=0):
    """Return one row."""
    return {"square": number**2, "seed_used": seed}


@measurement("several-rows", revision=1)
def several_rows(*, count):
    """Return `count` rows, possibly none."""
    return pd.DataFrame({"row": pd.Series(range(count), dtype="int64")})


@measurement("fails-on-odd", revision=1)
def fails_on_odd(*, number):
    """Fail on odd numbers."""
    if number % 2:
        raise RuntimeError(f"{number} is odd")
    return {"half": number // 2}


@measurement("unlike-each-call", revision=1)
def unlike_each_call(*, counter):
    """Return a row that is different each time, as a function with a hidden state would."""
    path = Path(counter)
    with path.open("a") as file:
        file.write("x")
    return {"calls": path.stat().st_size}


@measurement("no-rows", revision=1)
def no_rows(*, number):
    """Return something that is no table."""
    return [number]


@measurement("logged", revision=1)
def logged(*, number, folder):
    """Append to a log; on number 3 tell a waiting reader and stay until the door is gone (a named pipe)."""
    with Path(folder, "log").open("a") as file:
        file.write(f"{number}\n")
    door = Path(folder, "door")
    if number == 3 and door.exists():
        Path(folder, "reached").write_text(str(os.getpid()))  # a pipe: opens when the test reads it
        door.read_text()  # a pipe that nobody writes to: blocks
    return {"square": number**2}


@measurement("refuses-negative", revision=1)
def refuses_negative(*, number):
    """Refuse negative numbers as the package does."""
    require(number >= 0, f"number = {number}, but it must not be negative")
    return {"root": number**0.5}


@measurement("dies-on-three", revision=1)
def dies_on_three(*, number, folder):
    """Be killed on number 3, for as long as there is a file that says so."""
    if number == 3 and Path(folder, "deadly").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": number**2}
