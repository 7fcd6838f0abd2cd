"""The base of experiments, their configuration, and what their tables and figures share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from cocensor._checks import FloatArray, check_choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Protocol = Literal["matched", "published"]
PROTOCOLS = ("matched", "published")
Cell = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Config:
    """Configuration of an experiment; two runs with the same one may share their results.

    Parameters
    ----------
    protocol : {"matched", "published"}
        "matched": every score runs over one and the same interval, and conclusions rest on it. "published": each score
        runs to the largest of the times that it is given, as behind the paper's numbers.
    seeds : tuple of int
        One draw of the data for each.

    Examples
    --------
    >>> from cocensor.paper import Config
    >>> Config(seeds=(0, 1)).as_dict()
    {'protocol': 'matched', 'seeds': [0, 1]}
    """

    protocol: Protocol = "matched"
    seeds: tuple[int, ...] = tuple(range(10))

    def __post_init__(self) -> None:
        check_choice(self.protocol, "protocol", PROTOCOLS)
        if not self.seeds:
            raise ValueError("seeds is empty: at least one is needed.")

    def as_dict(self) -> dict[str, Any]:
        """For the manifest: what JSON can hold."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


class Experiment(ABC):
    """One figure or table: cells that are computed one by one, in any order, and what is made of their rows.

    A cell is a small dict that says all there is to compute; its rows have one estimate each. A cell must not depend on
    any other: that is what makes a run parallel and resumable.

    Parameters
    ----------
    config : Config, optional
        By default that of the full experiment.

    Examples
    --------
    >>> from cocensor.paper import experiments
    >>> experiment = experiments()["dependence"].configured(seeds=1)
    >>> experiment.name, len(experiment.cells())
    ('dependence', 18)
    """

    name: ClassVar[str]
    #: What of the paper it is.
    about: ClassVar[str]

    def __init__(self, config: Config | None = None) -> None:
        self.config = self.default_config() if config is None else config

    @classmethod
    def default_config(cls) -> Config:
        """The full experiment."""
        return Config()

    @classmethod
    def configured(
        cls, protocol: Any = "matched", seeds: int | None = None, quick: bool = False, **only: tuple[str, ...]
    ) -> Self:
        """The experiment under a protocol, with other seeds, with ``only`` some data sets and so on, or in small."""
        changes: dict[str, Any] = {"protocol": protocol, **only}
        if seeds is not None:
            changes["seeds"] = tuple(range(seeds))
        config = cls.default_config()
        strange = [name for name in only if not hasattr(config, name)]
        if strange:
            raise ValueError(f"{strange[0]} must not be given for {cls.name}, which has none.")
        config = replace(config, **changes)
        return cls.quick(config) if quick else cls(config)

    @classmethod
    def quick(cls, config: Config) -> Self:
        """Return an experiment of a minute, for newcomers and tests."""
        return cls(replace(config, seeds=config.seeds[:1]))

    @abstractmethod
    def cells(self) -> list[Cell]:
        """All that is to be computed."""

    @abstractmethod
    def run_cell(self, cell: Cell) -> list[Row]:
        """The rows of one cell."""

    @abstractmethod
    def summarise(self, rows: list[Row]) -> dict[str, list[Row]]:
        """Tables by name, each a list of rows."""

    def plot(self, rows: list[Row]) -> dict[str, Figure]:
        """Figures by name; none by default."""
        return {}


# --- rows and panels --------------------------------------------------------------------------------------


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows by their values of some names, in the order in which these come."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def errors_of(rows: Iterable[Row]) -> FloatArray:
    """Return the differences of estimates and oracle; NaN where there is no estimate."""
    return np.array([np.nan if row["estimate"] is None else row["estimate"] - row["oracle"] for row in rows])


def panels(
    n: int, n_columns: int, width: float, height: float, beside: float = 0.0, sharey: bool = False
) -> tuple[Figure, Any]:
    """Return a figure with ``n`` panels in rows of at most ``n_columns``, and their axes by row and column.

    All are of one size in inches, with room ``beside`` them for a legend.
    """
    from matplotlib.figure import Figure

    n_columns = min(n, n_columns)
    n_rows = -(-n // n_columns)
    figure = Figure(figsize=(width * n_columns + beside, height * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, sharey=sharey, squeeze=False)
    for ax in axes.flat[n:]:
        ax.set_visible(False)
    return figure, axes
