"""Argument checks shared by all closed forms: one clear line for each broken rule.

Every check takes the value as the user gave it, returns a float64 array that broadcasts, and raises
:class:`ParameterError` naming the argument, the first offending value, the rule and the remedy. What only the whole
computation shows, shapes that do not go together and numbers too large for float64, :func:`closed_form` refuses.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from reprlib import repr as shortened
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FloatOrArray = float | FloatArray
"""A float where all arguments are numbers, else an array: what the body of a closed form returns."""
FloatSequence = float | Sequence[float]
"""A number or a list of numbers: along one axis, so that a function that reduces the last axis returns a float."""
Rng = np.random.Generator | int | None
"""A generator, or a seed for a new one (SPEC 7)."""
SUM_TOLERANCE = 1e-12
"""How far probabilities that were summed or typed as decimals may miss 1."""
_MOST_LISTED = 20  # words that an error names
Layer = Literal["core", "aggregation", "access"]
"""Layer of a fat-tree at which a flow turns down towards its receiver."""


class ParameterError(ValueError):
    r"""An argument breaks a rule; the text names the argument, its value, the rule and the remedy, on one line.

    Examples
    --------
    >>> print(ParameterError("unknown key '\n'"))
    unknown key '\n'
    """

    def __init__(self, text: str) -> None:
        super().__init__("".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text))


_P = ParamSpec("_P")
_T = TypeVar("_T")


def closed_form(form: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let `form` raise :class:`ParameterError` where NumPy would warn of an overflow or refuse shapes.

    A result is finite, or infinite because its documentation says so; an infinity or NaN from an overflow on the way
    is no result.

    Examples
    --------
    >>> square = closed_form(lambda x: np.square(as_floats("x", x)))
    >>> square(1e200)
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: <lambda> leaves the range of float64 on the way: give less extreme numbers
    """

    @wraps(form)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return form(*args, **kwargs)
        except ParameterError:
            raise
        except ArithmeticError:
            text = f"{form.__name__} leaves the range of float64 on the way: give less extreme numbers"
            raise ParameterError(text) from None
        except ValueError as error:
            given = inspect.signature(form).bind(*args, **kwargs).arguments
            if "broadcast" in str(error):
                raise ParameterError(f"{_shapes(given)} do not broadcast: give numbers or one shape") from None
            if "zero-size" in str(error):
                raise ParameterError(f"{_shapes(given)}: give at least one entry on the last axis") from None
            raise

    return checked


def _shapes(given: dict[str, Any]) -> str:
    """Name the arrays among the arguments with their shapes."""
    arrays = {name: np.shape(value) for name, value in given.items() if isinstance(value, np.ndarray | list | tuple)}
    return " and ".join(f"{name} of shape {shape}" for name, shape in arrays.items())


def _reject(name: str, values: FloatOrArray, good: Any, rule: str, *, share: bool = False) -> None:
    if good is not True and not np.all(good):
        first = float(values) if np.ndim(values) == 0 else float(np.asarray(values)[~np.asarray(good)].flat[0])
        raise ParameterError(f"{name} = {first:g}, but {rule}{in_percent(first) if share else ''}")


def in_percent(value: float) -> str:
    """Return what a share is that was meant in percent, as the end of a sentence; nothing where it can be none.

    Examples
    --------
    >>> in_percent(60.0), in_percent(0.6), in_percent(1.2)  # 1.2 is more likely too much than 1.2%
    ('; 60% is 0.6', '', '')
    """
    return f"; {value:g}% is {value / 100:g}" if 2 <= value <= 100 else ""


def _number_or_array(values: FloatArray) -> FloatOrArray:
    """Return a 0-d array as a float, with which comparisons are ten times as fast."""
    return values.item() if values.ndim == 0 else values


_REAL_KINDS = "biuf"  # booleans, integers, floats: not text, dates or complex numbers, which NumPy would convert


def shown(value: object) -> str:
    """Return a line of at most some sixty characters for `value`."""
    try:
        return " ".join(shortened(value).split())
    except ValueError:  # an integer of more digits than Python turns into text
        return "a number of thousands of digits"


def _is_real(item: object) -> bool:
    kind = item.dtype.kind if isinstance(item, np.generic) else "f"
    return hasattr(item, "__float__") and kind in _REAL_KINDS


def _has_masked_entry(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_masked_entry(item) for item in value)
    return isinstance(value, np.ma.MaskedArray) and bool(np.any(np.ma.getmask(value)))


def as_floats(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as float64 without negative zeros; reject what is not a real number, and NaN.

    Examples
    --------
    >>> as_floats("x", [1, -0.0]).tolist()
    [1.0, 0.0]
    >>> as_floats("x", "0.5")
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: x = '0.5', but it must be a number or an array of numbers
    """
    if type(value) is not float:
        value = _real(name, value)
    # The sum turns -0.0, which would turn the sign of an infinity or of a result, into 0.0.
    values = np.asarray(np.asarray(value, dtype=np.float64) + 0.0)
    probe = _number_or_array(values)
    _reject(name, probe, probe == probe, "NaN is not a value: remove it first")
    return values


def _real(name: str, value: ArrayLike) -> FloatArray:
    """Convert to float64 what holds real numbers and nothing else."""
    if value is None:
        raise ParameterError(f"{name} is missing: give a number or an array of numbers")
    if _has_masked_entry(value):
        raise ParameterError(f"{name} has masked entries, which are no numbers: give those left by .compressed()")
    refusal = "{} = {}, but it must be a number or an array of numbers"
    try:
        if type(value) is int:
            return np.asarray(float(value))
        given = np.asarray(value)
        if given.dtype.kind not in _REAL_KINDS and not (given.dtype == object and all(map(_is_real, given.flat))):
            raise ParameterError(refusal.format(name, shown(value)))
        with np.errstate(over="ignore"):  # of long doubles, to infinity, which the rules refuse
            return given.astype(np.float64)
    except OverflowError:
        raise ParameterError(f"{name} is beyond 1.8e308, the largest float64: give a smaller number") from None
    except ParameterError:
        raise
    except (TypeError, ValueError):
        raise ParameterError(refusal.format(name, shown(value))) from None


def probability(name: str, value: ArrayLike, *, one: bool = False) -> FloatArray:
    """Check a probability: [0, 1), or [0, 1] when `one` is allowed."""
    values = as_floats(name, value)
    probe = _number_or_array(values)
    if one:
        _reject(name, probe, (probe >= 0) & (probe <= 1), "a probability lies in [0, 1]", share=True)
    else:
        _reject(name, probe, (probe >= 0) & (probe < 1), "it must lie in [0, 1)", share=True)
    return values


def whole(name: str, value: ArrayLike, *, minimum: int = 0) -> FloatArray:
    """Check a count: a whole number of at least `minimum`, below 2**53 so that float64 holds it exactly."""
    values = as_floats(name, value)
    probe = _number_or_array(values)
    good = (probe >= minimum) & (np.floor(probe) == probe) & (probe < 2.0**53)
    _reject(name, probe, good, f"it must be a whole number of at least {minimum} and below 2^53")
    return values


def positive(name: str, value: ArrayLike) -> FloatArray:
    """Check a finite quantity above zero."""
    values = as_floats(name, value)
    probe = _number_or_array(values)
    _reject(name, probe, (probe > 0) & (probe < np.inf), "it must be finite and above 0")
    return values


def non_negative(name: str, value: ArrayLike) -> FloatArray:
    """Check a finite quantity of at least zero."""
    values = as_floats(name, value)
    probe = _number_or_array(values)
    _reject(name, probe, (probe >= 0) & (probe < np.inf), "it must be finite and at least 0")
    return values


def one_number(check: Callable[..., FloatArray], name: str, value: ArrayLike, **rule: Any) -> float:
    """Return what passes `check` as a float; reject an array where a function takes one number.

    Examples
    --------
    >>> one_number(whole, "replicas", 2, minimum=1)
    2.0
    """
    values = check(name, value, **rule)
    if values.ndim:
        raise ParameterError(f"{name} is an array of shape {values.shape}, but it must be one number")
    return values.item()


def broadcast(*values: FloatArray) -> tuple[FloatArray, ...]:
    """Return arrays of one shape; NumPy's function of that name takes ten times as long for numbers."""
    return values if not any(value.ndim for value in values) else np.broadcast_arrays(*values)


def choice(name: str, value: object, known: Iterable[str]) -> None:
    """Raise :class:`ParameterError` unless `value` is one of the words `known`.

    Examples
    --------
    >>> choice("nic", "Robin", ["fifo", "round_robin"])
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: nic = 'Robin': did you mean round_robin? There are fifo, round_robin
    """
    words = tuple(known)
    if not (isinstance(value, str) and value in words):
        raise ParameterError(f"{name} = {shown(value)}: {did_you_mean(value, words)}")


def check_known(word: object, known: Collection[Any], message: str) -> None:
    """Raise :class:`ParameterError` unless `word` is among those `known`; the text begins with `message`.

    Examples
    --------
    >>> check_known("laod", {"load": 0.5}, "study.toml: there is no axis laod")
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: study.toml: there is no axis laod: did you mean load? There are load
    """
    if word not in known:
        raise ParameterError(f"{message}: {did_you_mean(word, known)}")


def did_you_mean(word: object, known: Iterable[object], *, otherwise: str = "") -> str:
    """Return advice for a word that is not among those known: the nearest one, and which there are.

    Where there are too many to be named, `otherwise` is what to do if none is near, and up to three are named that are.

    Examples
    --------
    >>> did_you_mean("laod", ["load", "scheme"])
    'did you mean load? There are load, scheme'
    >>> did_you_mean("rto", ["mss_bytes", "min_rto_s", "max_rto_s"])
    'did you mean min_rto_s or max_rto_s? There are mss_bytes, min_rto_s, max_rto_s'
    >>> did_you_mean("websaerch", ["websearch", "hadoop"], otherwise="capsmodel workloads lists all")
    'did you mean websearch?'
    """
    words = [str(one) for one in known]
    near = nearest(word, words, most=3 if otherwise else 1)
    meant = f"did you mean {' or '.join(near)}?" if near else ""
    if otherwise:
        return meant or otherwise
    listed = [*words[:_MOST_LISTED], *(["..."] if len(words) > _MOST_LISTED else [])]
    there = f"here are {', '.join(listed) or 'none'}"
    return f"{meant} T{there}" if near else f"t{there}"


def nearest(word: object, known: Iterable[str], *, most: int = 1) -> list[str]:
    """Return those of the words known that are nearest to a word, `most` at most; if none is, those it is a part of.

    Examples
    --------
    >>> nearest("Laod", ["load", "scheme"]), nearest("rto", ["mss_bytes", "min_rto_s"])
    (['load'], ['min_rto_s'])
    """
    words = {one.lower(): one for one in known}
    text = (word if isinstance(word, str) else shown(word)).lower()
    parts = [one for one in words if len(text) > 2 and text in one.split("_")][:3]
    return [words[one] for one in get_close_matches(text, words, n=most) or parts]


def flags(name: str, value: ArrayLike) -> npt.NDArray[np.bool_]:
    """Return an array of what is true or false; reject what only counts as such, as a number or text does."""
    try:
        values = np.asarray(value)
    except ValueError:  # a list of lists of several lengths
        values = np.asarray(None)
    if values.dtype != np.bool_:
        raise ParameterError(f"{name} = {shown(value)}, but it must be True or False")
    return values


def flag(name: str, value: bool) -> bool:
    """Return one `value` that is true or false."""
    values = flags(name, value)
    require(values.ndim == 0, f"{name} is an array of shape {values.shape}, but it must be True or False")
    return bool(values)


def generator(rng: Rng, *, name: str = "rng") -> np.random.Generator:
    """Return the generator that `rng`, which errors call `name`, is or seeds.

    Examples
    --------
    >>> generator(-1)
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: rng = -1, but it must be a generator or a seed, a whole number of at least 0
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        rule = "it must be a generator or a seed, a whole number of at least 0"
        raise ParameterError(f"{name} = {shown(rng)}, but {rule}") from None


def one_of(first: str, first_value: object, second: str, second_value: object) -> None:
    """Raise :class:`ParameterError` unless exactly one of two arguments is given, the other being None."""
    rule = "the one takes the place of the other: give exactly one of the two"
    require((first_value is None) != (second_value is None), f"{first} and {second}: {rule}")


def require(condition: ArrayLike, text: str) -> None:
    """Raise :class:`ParameterError` with `text` unless `condition` holds everywhere (rules on several arguments)."""
    holds = condition if isinstance(condition, bool | np.bool_) else np.all(condition)
    if not holds:
        raise ParameterError(text)


def plain(result: ArrayLike) -> FloatOrArray:
    """Return a float for a 0-d result and the array otherwise: scalar in, float out."""
    values = np.asarray(result, dtype=np.float64)
    return values.item() if values.ndim == 0 else values


def plain_count(result: ArrayLike) -> int | IntArray:
    """Return an int for a 0-d result that is a whole number and an int64 array otherwise."""
    values = np.asarray(result).astype(np.int64)
    return values.item() if values.ndim == 0 else values
