"""The file of a study: its keys, and how it is read.

::

    title = "Schemes over load"
    seeds = [8, 64]                     # 8, 16, 32, ... of each run until the claims are decided

    [axes]                              # every combination is a point
    scheme = ["ecmp", "rps", "caps"]
    load = [0.2, 0.6]                   # a name of the study, used below as {load}
    "transport.min_rto_s" = ["10ms", "200ms"]       # with a dot: a setting of the simulator

    [scenario]                          # a whole scenario, or a base and what differs from it
    base = "websearch-load-60"
    traffic.load = "{load}"

    [[panel]]
    metric = "mean_fct_short_s"
    claims = [ { id = "best", subject = "caps", baseline = ["ecmp", "rps"], is = "lower" } ]

The classes below list the keys; values in braces are templates (:mod:`capsim.study.template`).
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec

from capsim.base.bounds import SEEDS, shortened
from capsim.base.structs import converted, without_defaults
from capsmodel.checks import check_known, require
from capsmodel.experiments.statistics.sequential import FALSE_ALARM, FIRST_LOOK_SEEDS
from capsmodel.text_tables import read_toml

__all__ = [
    "Claim",
    "Label",
    "Panel",
    "PrintedCell",
    "PrintedTable",
    "Source",
    "StudyFile",
    "Term",
    "Unstated",
    "claims_of",
    "read_study",
    "tables_of",
]

Label = bool | int | float | str
"""What a value of an axis is called."""
Term = str | dict[str, Any]
"""Values of axes that replace those of a point; a text is a scheme."""
Selection = dict[str, Any] | tuple[dict[str, Any], ...]
"""Values of axes, each one or a list, by the axis; several tables select what any of them does."""

LOOKED_AT = (8, 64)
"""Seeds of a study with claims that says nothing else."""
NOT_INHERITED = ("title", "panel", "table", "claim")
"""Keys that a study does not take from the one that it extends."""
AS_PRINTED = "as printed, "
"""How the length of runs begins that the paper has too; the place follows."""
MOST_PARENTS = 3
"""Of one study, one extending the other, so that a reader has an end of them."""


class Compares(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a claim compares; a panel has what its claims share.

    Parameters
    ----------
    metric : str
        Column of a run (:mod:`capsim.study.metrics`); a template may choose it by a name of the study.
    where : str
        Place in the paper, such as ``"Fig. 17(b)"``.
    at : table or list of tables
        Values of axes, one or a list of each, that select the points; all points when left out.
    subject, baseline : str, table, or list of these
        What is compared with what: values of axes that replace those of each point; a text is a scheme. Several
        subjects are each compared with each baseline. Without a baseline the value itself is meant.
    pairs : list of pairs
        Subject and baseline, in place of these, where not each is compared with each.
    x : str
        The axis that a trend is over; the first axis with several values when left out.
    over : str or table
        Both sides are divided by their value there: the gain over a scheme, or the rise over a load. A term may have
        its own.
    average : bool or "baseline"
        Whether the claim is about the mean over its points (of ratios the geometric one), or over its baselines.
    times : float or str
        What the value is multiplied by: a count printed over 20 runs has 20. A template where a setting changes how
        long a run is, so that counts are compared over the time of the paper: ``"{20 * 20.0 / run_s}"``.
    gap : bool
        Whether a trend is of the difference from the baseline, and not of the ratio.
    expected : list of float
        The logarithm that is added to each comparison: of what a model says, where a ratio is compared with it.
    by : str
        The size of a word: ``significantly`` (10%) or ``much`` (a factor of 2).
    printed : str
        What is printed, with its unit: ``126 ms``, ``60..70 %``, ``..45 %`` (up to), ``1.3.. x``, ``~10 x``. Its digits
        give the reading error. Of ``lower`` and ``higher`` it is by how much (``40 %``) or how many times (``1.3 x``)
        the subject is lower or higher than the baseline; of ``equal``, ``x`` is the ratio of subject over baseline.
    note, conditions : str
        For people.
    """

    metric: str = ""
    where: str = ""
    at: Selection = ()
    subject: Term | tuple[Term, ...] = ()
    baseline: Term | tuple[Term, ...] = ()
    pairs: tuple[tuple[Term, Term], ...] = ()
    x: str = ""
    over: Term = ""
    average: bool | Literal["baseline"] = False
    times: float | str = 1.0
    gap: bool = False
    expected: tuple[float, ...] = ()
    by: Literal["", "significantly", "much"] = ""
    printed: str = ""
    note: str = ""
    conditions: str = ""


RelationName = Literal[
    "equal",
    "lower",
    "higher",
    "rising",
    "falling",
    "close",
    "below",
    "above",
    "not higher",
    "not lower",
    "true",
    "best at",
    "u-shaped",
    "",
]


class Claim(Compares, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement that is decided.

    Parameters
    ----------
    id : str
        Its name, unique among all studies that are analysed together.
    is_ : str
        Key ``is``: ``lower``, ``higher`` (than the baseline), ``not higher``, ``not lower`` (by more than 10%),
        ``close`` (within 10%, or `printed`), ``equal`` (to `printed`), ``below``, ``above`` (`printed`), ``rising``,
        ``falling`` (over `x`); of formulas also ``true``, ``best at`` (the place `printed`) and ``u-shaped``.
    text : str
        The sentence of the paper.
    formula : str
        ``module:function`` that gives its value without a run; for whoever reads the file with such functions.
    not_testable : str
        Why nothing can decide it.
    same_as : str
        Another claim that says the same of the same runs: one of the two is counted.
    not_claimed : str
        Why those who are quoted do not make it: a misprint, a check of our own. It is judged, and not counted.
    cause : str
        Why it is not met, where that is known; for people.
    regime : str
        Id of another claim of the paper, of a printed size without which there is nothing to gain: how many flows wait
        for a timer, how full links are. Where ours differs from it, a ledger takes the contrary of this claim for no
        evidence (:mod:`capsmodel.papers.ledger`).
    """

    id: str
    is_: RelationName = msgspec.field(name="is", default="")
    text: str = ""
    formula: str = ""
    not_testable: str = ""
    same_as: str = ""
    not_claimed: str = ""
    cause: str = ""
    regime: str = ""

    @property
    def is_simulated(self) -> bool:
        """Whether runs of the study decide it."""
        return not (self.formula or self.not_testable)


class PrintedCell(Claim, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell of a printed table as a claim; `row` is the value of the table's axis, as the table has it."""

    row: str = ""


class Panel(Compares, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plot of the study, with its claims; those have the keys of the panel that they do not have themselves.

    Parameters
    ----------
    title : str
        Above the plot; `where` when left out.
    claims : list of Claim
        What is claimed about it; a panel without a claim is drawn all the same.
    log : str
        Axes with a logarithmic scale: ``x``, ``y`` or ``xy``.
    """

    title: str = ""
    claims: tuple[Claim, ...] = ()
    log: Literal["", "x", "y", "xy"] = ""


class PrintedTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A printed table; each cell is a claim ``id-row-column`` that is equal to what is printed.

    Parameters
    ----------
    id, where : str
        First part of the ids, and place in the paper.
    axis : str
        The axis whose values the rows are.
    at : table
        Where the table holds, as in a panel.
    columns : table
        Metric and unit of each column by its name: ``fct = "mean_fct_short_s ms"``.
    rows : str
        A line for each row: the value of the axis, then the cells; ``-`` stands for none.
    times : table
        What the values of a column are multiplied by, as in a claim.
    text, note, conditions : str or table
        Of each cell, or of the cells of each column by its name; ``{AXIS}`` is the value of the row.
    same_as : table
        First part of the ids of the claims that say the same as the cells of a row, by its value.
    cause : table
        Why cells are not met, by ``ROW-COLUMN`` or by column.
    """

    id: str
    axis: str
    columns: dict[str, str]
    rows: str
    where: str = ""
    at: Selection = ()
    times: dict[str, float] = {}
    text: str | dict[str, str] = ""
    note: str | dict[str, str] = ""
    conditions: str | dict[str, str] = ""
    same_as: dict[str, str] = {}
    cause: dict[str, str] = {}


class Unstated(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A setting that the paper leaves open.

    Parameters
    ----------
    values : list or table
        What is tried, as the values of an axis; the first follows the text.
    item, items : str, list of str
        Words of the paper that it stands for.
    why : str
        Why these values.
    alone : bool
        Whether its alternatives are tried alone only, and not in a fraction of all combinations.
    """

    values: tuple[Label, ...] | dict[str, Any]
    item: str = ""
    items: tuple[str, ...] = ()
    why: str = ""
    alone: bool = False


class StudyFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a study.

    Parameters
    ----------
    title, notes, paper : str
        For people.
    length : str
        ``as printed, Section V-A``: the runs of the paper are as long as these, at the place named, and begin with an
        empty network as these do. Where nothing is said, the verdict on a claim whose points are below a settled share
        of 0.9 (:func:`capsim.results.load_record.settled_before`) has the mark ``from empty``.
    seeds : int or pair of int
        Runs of each point, 5 when left out; ``[8, 64]``, which a study with claims has then, are 8, 16, 32, ... until
        each claim is decided, 64 at most. The seeds are 1, 2, 3, ...
    level : float
        Probability at most that the verdict on a claim is wrong.
    engine : str
        ``compiled`` or ``reference``.
    axes : table
        The values of each axis by its name: a list, or a table of each value, or of what it sets, by what it is called.
        A name without a dot is used in templates, one with a dot is a setting (:mod:`capsim.scenario.settings`); so is
        a key of the scenario that a value sets and no template uses, such as ``traffic`` or ``warm_up_s``. A name that
        is neither is refused, and so are two values that give the same runs.
    unstated : table
        The same for what a paper leaves open; see `Unstated`.
    vary : list of str
        Those of `unstated` that are tried, in order; all when left out.
    unstated_at : table or list of tables
        Where they are tried, as `at` of a panel; of a trend at all points in any case.
    let : table
        Constants, and what follows from other names.
    scenario : str or table
        A preset or file, or a table: ``base`` and what differs from it, or all of a scenario.
    measure : table
        ``name`` of a measurement (:mod:`capsim.study.measures`) and its arguments, in place of that of any run.
    reduced, quick : table
        New values of names and settings at a smaller scale; ``false`` is none in place of an inherited one.
    panel, table, claim : list of tables
        What is drawn, printed and claimed; the claims of ``[[claim]]`` are in no panel.
    """

    title: str = ""
    notes: str = ""
    paper: str = ""
    length: str = ""
    seeds: int | tuple[int, ...] = 5
    level: Annotated[float, msgspec.Meta(gt=0, lt=1)] = FALSE_ALARM
    engine: Literal["compiled", "reference"] = "compiled"
    axes: dict[str, Any] = {}
    unstated: dict[str, Any] = {}
    vary: tuple[str, ...] | None = None
    unstated_at: Selection = ()
    let: dict[str, Any] = {}
    scenario: dict[str, Any] | str = {}
    measure: dict[str, Any] = {}
    reduced: dict[str, Any] | bool = {}
    quick: dict[str, Any] | bool = {}
    panel: tuple[Panel, ...] = ()
    table: tuple[PrintedTable, ...] = ()
    claim: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Source:
    """A study as it was read.

    Attributes
    ----------
    file : StudyFile
        Its keys, with those of the studies that it extends.
    name : str
        That of the file, without ``.toml``.
    folder : Path
        What names of files in it are relative to.
    sha256 : str
        Of its text and those of the files that it extends, 64 hexadecimal digits.
    """

    file: StudyFile
    name: str = "study"
    folder: Path = Path()
    sha256: str = ""

    def with_seeds(self, seeds: int) -> "Source":
        """Return the study with so many seeds, or at most so many where it ends when claims are decided."""
        filed = self.file.seeds
        chosen = seeds if isinstance(filed, int) else (min(filed[0], seeds), seeds)
        _check_seeds(chosen, "--seeds", claimed=_has_claims(self.file))
        return replace(self, file=msgspec.structs.replace(self.file, seeds=chosen))

    @classmethod
    def of_tables(cls, tables: Mapping[str, Any], *, name: str = "study", folder: Path | None = None) -> "Source":
        """Return the study that plain tables describe.

        Raises
        ------
        ParameterError
            One line: the key and the rule it breaks.
        """
        return cls(_checked(dict(tables), f"{name}.toml"), name, folder or Path())


def claims_of(source: Source, label: Callable[[PrintedTable, str, str], Label] | None = None) -> Iterator[Claim]:
    """Yield the claims of a study: those of panels, the cells of printed tables, and those in neither.

    Parameters
    ----------
    source : Source
        The study.
    label : callable, optional
        ``label(table, row, where)`` returns the value of the table's axis that the text of a row stands for; the text
        when left out.

    Raises
    ------
    ParameterError
        If a row of a table has another number of cells than there are columns.
    """
    yield from _of_panels(source.file)
    for number, table in enumerate(source.file.table):
        yield from _cells(table, f"{source.name}.toml: table[{number}]", label)
    yield from source.file.claim


def _cells(
    table: PrintedTable, where: str, label: Callable[[PrintedTable, str, str], Label] | None
) -> Iterator[PrintedCell]:
    for line in table.rows.strip().splitlines():
        row, *cells = line.split()
        value = label(table, row, where) if label else row
        fits = len(cells) == len(table.columns)
        require(fits, f"{where}.rows: {row} has {len(cells)} cells, but there are {len(table.columns)} columns")
        yield from (
            _cell(table, row, value, column, cell)
            for column, cell in zip(table.columns, cells, strict=True)
            if cell != "-"
        )


def _cell(table: PrintedTable, row: str, value: Label, column: str, cell: str) -> PrintedCell:
    metric, _, unit = table.columns[column].partition(" ")
    tables = [table.at] if isinstance(table.at, dict) else list(table.at) or [{}]

    def words(text: str | dict[str, str]) -> str:
        of_column = text if isinstance(text, str) else text.get(column, "")
        return of_column.replace(f"{{{table.axis}}}", row)

    return PrintedCell(
        id=f"{table.id}-{row.lower()}-{column}",
        row=row,
        is_="equal",
        metric=metric,
        where=table.where,
        at=tuple({**one, table.axis: value} for one in tables),
        printed=f"{cell} {unit}".strip(),
        times=table.times.get(column, 1.0),
        text=words(table.text),
        note=words(table.note),
        conditions=words(table.conditions),
        same_as=f"{table.same_as[row]}-{column}" if row in table.same_as else "",
        cause=table.cause.get(f"{row}-{column}", table.cause.get(column, "")),
    )


def _has_claims(file: StudyFile) -> bool:
    return bool(file.table) or any(one.is_simulated for one in (*file.claim, *_of_panels(file)))


def tables_of(source: Source) -> dict[str, Any]:
    """Return a study as plain tables, with all that it inherits and without what equals its default."""
    tables: dict[str, Any] = _plain(without_defaults(source.file))
    return tables


def _plain(value: Any) -> Any:
    """Return tables without what TOML cannot say."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if one is not None}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def read_study(path: Path, *, alone: bool = False) -> Source:
    """Return the study of a TOML file.

    Parameters
    ----------
    path : Path
        The file.
    alone : bool
        Leave out what it inherits: a study has its title and its claims itself, and is read in half of the time so.

    Raises
    ------
    ParameterError
        If the file is no TOML or breaks a rule; the text names file and key.
    OSError
        If it cannot be read.
    """
    tables, texts, own = _read(path, MOST_PARENTS, alone=alone)
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    return Source(_checked(tables, path.name, says_seeds="seeds" in own), path.stem, path.parent, digest)


def _read(path: Path, parents: int, *, alone: bool = False) -> tuple[dict[str, Any], list[str], set[str]]:
    """Return the tables of a file with all that it inherits, the texts of these files, and the keys of its own."""
    text, tables = read_toml(path)
    texts, base = [text], tables.pop("extends", None)
    if base is None or alone:
        return tables, texts, set(tables)
    require(isinstance(base, str), f"{path.name}: extends = {shortened(base)}, but it must be the name of a file")
    rule = f"a study extends at most {MOST_PARENTS} others, one after the other"
    require(parents > 0, f"{path.name}: extends = {shortened(base)}, but {rule}: put them together")
    parent, more, _ = _read(path.parent / base, parents - 1)
    return (
        _merged({key: one for key, one in parent.items() if key not in NOT_INHERITED}, tables),
        texts + more,
        set(tables),
    )


def _merged(parent: Mapping[str, Any], child: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables in each other; what the child has wins, and ``values`` of a setting stand alone."""
    both = {
        key: _merged(parent[key], one)
        for key, one in child.items()
        if isinstance(one, Mapping) and isinstance(parent.get(key), Mapping) and "values" not in one
    }
    return {**parent, **child, **both}


def _checked(tables: dict[str, Any], where: str, *, says_seeds: bool = True) -> StudyFile:
    """Return the keys of a study; the claims of a panel have its keys."""
    _refuse_unknown(tables, StudyFile, where)
    for key in ("reduced", "quick"):
        require(
            tables.get(key) is not True, f"{where}: {key} = true says nothing: give a table of new values, or false"
        )
    if isinstance(tables.get("panel"), list):
        panels = [_with_shared(panel, f"{where}: panel[{number}]") for number, panel in enumerate(tables["panel"])]
        tables = tables | {"panel": panels}
    file = converted(tables, StudyFile, where=where)
    rule = f'but it must name the place, as in "{AS_PRINTED}Section V-A"'
    fits = not file.length or (file.length.startswith(AS_PRINTED) and file.length != AS_PRINTED)
    require(fits, f"{where}: length = {shortened(file.length)}, {rule}")
    claimed = _has_claims(file)
    if claimed and "seeds" not in tables:
        return msgspec.structs.replace(file, seeds=LOOKED_AT)
    if not (claimed or says_seeds or isinstance(file.seeds, int)):  # those of a parent with claims
        file = msgspec.structs.replace(file, seeds=file.seeds[0])
    _check_seeds(file.seeds, f"{where}: seeds", claimed=claimed)
    return file


def _of_panels(file: StudyFile) -> list[Claim]:
    return [claim for panel in file.panel for claim in panel.claims]


def _check_seeds(seeds: int | tuple[int, ...], where: str, *, claimed: bool) -> None:
    if isinstance(seeds, int):
        SEEDS.check(where, seeds)
        known = not claimed or look_at(seeds)
        rule = "claims are analysed with 8, 16, 32, ... seeds: write one of these, or [8, 64]"
        require(known, f"{where} = {seeds}, but {rule}")
        return
    fits = len(seeds) == 2 and all(map(look_at, seeds)) and seeds[0] <= seeds[1] <= SEEDS.largest
    require(fits, f"{where} = {list(seeds)}, but it must be the first and the last of 8, 16, 32, ..., as in [8, 64]")
    require(claimed, f"{where} = {list(seeds)} ends when claims are decided, but there is no claim: give one number")


def look_at(seeds: int) -> bool:
    """Return whether a sample is analysed when it has so many seeds."""
    return seeds >= FIRST_LOOK_SEEDS and seeds % FIRST_LOOK_SEEDS == 0 and (seeds // FIRST_LOOK_SEEDS).bit_count() == 1


def _with_shared(panel: Any, where: str) -> Any:
    if not isinstance(panel, Mapping) or not isinstance(panel.get("claims"), list):
        return panel
    _refuse_unknown(panel, Panel, where)
    shared = {key: one for key, one in panel.items() if key in Compares.__struct_fields__}
    for number, claim in enumerate(panel["claims"]):
        _refuse_unknown(claim, Claim, f"{where}.claims[{number}]")
    return {**panel, "claims": [{**shared, **claim} for claim in panel["claims"]]}


def _refuse_unknown(tables: Any, kind: type[msgspec.Struct], where: str) -> None:
    require(isinstance(tables, Mapping), f"{where} is no table: write {{ key = value }}")
    known = _keys(kind)
    for key in tables.keys() - known.keys():
        check_known(key, known, f"{where}: unknown key {key}")


@cache
def _keys(kind: type[msgspec.Struct]) -> Mapping[str, None]:
    """Return the keys of a table, which msgspec reads anew each time, in their order."""
    return MappingProxyType(dict.fromkeys(field.encode_name for field in msgspec.structs.fields(kind)))
