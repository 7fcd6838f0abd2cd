"""Semi-synthetic data: real covariates with times drawn from models of the real times."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import (
    FloatArray,
    Seed,
    as_frame,
    as_vector,
    check_choice,
    check_number,
    check_whole,
)
from cocensor._late import narwhals as nw
from cocensor._numerics import open_uniform
from cocensor.copulas import Copula, Independence
from cocensor.data import Survival
from cocensor.data.covariates import column_names
from cocensor.data.risk_table import WhichMargin
from cocensor.estimators import CoxPH
from cocensor.estimators.cox import Ties
from cocensor.metrics.concordance import harrell_c
from cocensor.paper.datasets.dataset import Dataset
from cocensor.paper.datasets.encoding import Encoder, Scaling
from cocensor.paper.datasets.splitting import stratified_split, subsample
from cocensor.simulate.simulated import SimulatedSurvival

#: What becomes of times that are drawn beyond the last observed one.
LateTimes = Literal["extrapolate", "administrative"]
_STRATEGIES = ("original", "top_5", "top_10", "random_25")
# The importance of features is judged on at most so many subjects, by so many permutations.
_N_IMPORTANCE, _N_PERMUTATIONS = 5_000, 5


@dataclass(frozen=True, eq=False)
class SemiSynthetic:
    r"""Event and dropout times for the subjects of a real data set, drawn from Cox models of both.

    Two Cox models, of the event and of the dropout, are fitted to the real data with *all* features; then both times
    of every subject are drawn by inverse transform, :math:`t = S^{-1}(u \mid x)`. The data that a learner gets keep
    the chosen features only. With ``dependence="omitted"`` (the paper's way) the times are independent given all
    features, and dependent given fewer; a copula injects a known dependence on top.

    Parameters
    ----------
    dataset : Dataset
    features : {"original", "top_5", "top_10", "random_25"} or sequence of str
        All features; the five or ten most important ones, by the fall of Harrell's C of the event model when a feature
        is permuted; a random quarter; or those named.
    dependence : "omitted" or Copula
        Independent given all features, or with this survival copula given all features.
    tail : {"extrapolate", "administrative"}
        What becomes of a time past the end of its Breslow curve, where :math:`S_{end} > 0`: the paper's
        :math:`t_{end}/(1 - S_{end})` with the last observed time :math:`t_{end}`, or the study ends there and such
        subjects are censored administratively.
    study_end : float, optional
        With the tail "administrative": an earlier end of study than the last observed time.
    ridge, ties : float, {"efron", "breslow"}
        Of both Cox models, on standardised features, indicators included.
    selection_seed : int
        Of the permutations, and of the random quarter.
    scaling : {"standard", "minmax"} or None
        How :meth:`SemiSyntheticSample.parts` scales numbers.
    encode_on : {"train", "all"}
        What its imputation, scaling and encoding are learned from.
    integer_times, clip, ties_censored
        The published way: see :meth:`published`.

    Examples
    --------
    >>> from cocensor.paper import SemiSynthetic
    >>> from cocensor import Clayton
    >>> from cocensor.paper.datasets import load_whas
    >>> design = SemiSynthetic(load_whas(), features="top_5", dependence=Clayton.from_tau(0.5))
    >>> design.features_
    ('age', ...)
    >>> sample = design.draw(seed=0)
    >>> len(sample), sample.n_features, sample.copula
    (500, 5, Clayton(theta=2.0))

    References
    ----------
    Qi, S., et al. (2023). An effective meaningful way to evaluate survival models. *ICML*.
    """

    dataset: Dataset
    features: str | Sequence[str] = "original"
    dependence: Literal["omitted"] | Copula = "omitted"
    tail: LateTimes = "extrapolate"
    study_end: float | None = None
    ridge: float = 0.01
    ties: Ties = "efron"
    selection_seed: int = 0
    scaling: Scaling = "standard"
    encode_on: Literal["train", "all"] = "train"
    integer_times: bool = False
    clip: float | None = None
    ties_censored: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.dataset, Dataset):
            raise TypeError(f"dataset must be a Dataset, but is of type {type(self.dataset).__name__}.")
        if isinstance(self.features, str):
            check_choice(self.features, "features", _STRATEGIES)
        else:
            columns = as_frame(self.dataset.X, "dataset").columns
            unknown = [name for name in self.features if name not in columns]
            if unknown or not len(self.features):
                named = f"{unknown[0]!r} is not one" if unknown else "there are none"
                raise ValueError(f"features must be columns of the data set, but {named}.")
        if not (self.dependence == "omitted" or isinstance(self.dependence, Copula)):
            raise ValueError(f"dependence must be 'omitted' or a copula, but is {self.dependence!r}.")
        check_choice(self.tail, "tail", ("extrapolate", "administrative"))
        check_choice(self.encode_on, "encode_on", ("train", "all"))
        if self.study_end is not None:
            if self.tail != "administrative":
                raise ValueError("study_end must be None unless tail is 'administrative'.")
            last = self.dataset.y.t_max
            if check_number(self.study_end, "study_end", lower=0.0) > last:
                raise ValueError(
                    f"study_end must not pass the last time {last:g}, but is {self.study_end:g}."
                )
        if self.tail == "administrative" and (self.integer_times or self.clip or self.ties_censored):
            raise ValueError("tail must be 'extrapolate' with integer_times, clip or ties_censored.")
        Encoder((), self.scaling)
        CoxPH(self.ties, ridge=self.ridge)
        check_whole(self.selection_seed, "selection_seed", 0)
        if self.clip is not None:
            check_number(self.clip, "clip", lower=0.0, upper=1.0)

    @classmethod
    def published(cls, dataset: Dataset, **changes: Any) -> Self:
        """The way behind the paper's published numbers.

        The Cox models are penalised by 0.01 for each subject. Times are rounded to whole numbers; the observed ones are
        at least 1 and clipped at their 99.9th percentile, a tie of event and dropout counts as censored, the tail is
        extrapolated, and features are scaled to [0, 1] on the whole data before splitting. There, one draw served all
        splits: take ``draw(0)`` and ``parts(seed)`` for the seeds 0 to 9. One thing is not reproduced: there, features
        were chosen among the indicators after encoding, here they are the data set's own.
        """
        published: dict[str, Any] = {"integer_times": True, "clip": 0.999, "ties_censored": True}
        published |= {"scaling": "minmax", "encode_on": "all", "ridge": 0.01 * len(dataset)}
        return cls(dataset, **(published | changes))

    # --- what is fitted --------------------------------------------------------------------------------

    @cached_property
    def encoder(self) -> Encoder:
        """The encoding of all features, of all subjects: it serves the models that times are drawn from."""
        return Encoder(self.dataset.categorical).fit(self.dataset.X)

    @cached_property
    def design_(self) -> FloatArray:
        """All features, encoded and standardised."""
        encoded = self.encoder.transform(self.dataset.X)
        return (encoded - encoded.mean(axis=0)) / encoded.std(axis=0)

    @cached_property
    def event_model_(self) -> CoxPH:
        """The Cox model of the event, given all features."""
        return self._model("event")

    @cached_property
    def dropout_model_(self) -> CoxPH:
        """The Cox model of the dropout, given all features."""
        return self._model("dropout")

    def _model(self, of: WhichMargin) -> CoxPH:
        return CoxPH(self.ties, ridge=self.ridge, of=of).fit(self.design_, self.dataset.y)

    @cached_property
    def importance_(self) -> dict[str, float]:
        """The fall of Harrell's C of the event model when a feature is permuted, the largest first."""
        rng = np.random.default_rng(self.selection_seed)
        rows = subsample(self.dataset.y, _N_IMPORTANCE, rng)
        y, design = self.dataset.y[rows], self.design_[rows]
        effects = design * self.event_model_.coef_
        whole_risk = effects.sum(axis=1)
        reference = harrell_c(y, whole_risk)
        groups = np.array(self.encoder.groups_)
        falls = {}
        for name in as_frame(self.dataset.X, "dataset").columns:
            part = effects[:, groups == name].sum(axis=1)
            permuted = [
                harrell_c(y, whole_risk - part + rng.permutation(part)) for _ in range(_N_PERMUTATIONS)
            ]
            falls[name] = reference - float(np.mean(permuted))
        return dict(sorted(falls.items(), key=lambda item: -item[1]))

    @cached_property
    def features_(self) -> tuple[str, ...]:
        """The features that are kept, in the order of the data set."""
        columns = as_frame(self.dataset.X, "dataset").columns
        if not isinstance(self.features, str):
            chosen = set(self.features)
        elif self.features == "original":
            chosen = set(columns)
        elif self.features == "random_25":
            count = max(1, round(0.25 * len(columns)))
            rng = np.random.default_rng(self.selection_seed)
            chosen = set(rng.choice(columns, size=count, replace=False).tolist())
        else:
            chosen = set(list(self.importance_)[: int(self.features.removeprefix("top_"))])
        return tuple(name for name in columns if name in chosen)

    # --- draws -----------------------------------------------------------------------------------------

    def draw(self, seed: int | None = None) -> SemiSyntheticSample:
        """Times for all subjects; the same for the same seed, and new ones each time without."""
        if seed is None:
            seed = secrets.randbits(63)
        seed = check_whole(seed, "seed", 0, otherwise=" or None")
        event, dropout = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
        n = len(self.dataset.y)
        copula = Independence() if self.dependence == "omitted" else self.dependence
        u = open_uniform(event, n)
        v = np.asarray(copula.sample_given(u, dropout))
        reached = [-np.log(p) / self._curve(of)[2] for of, p in (("event", u), ("dropout", v))]
        e, c = (self._times(of, hazard) for of, hazard in zip(("event", "dropout"), reached, strict=True))
        if self.integer_times:
            e, c = np.rint(e), np.rint(c)
        X = nw.to_native(as_frame(self.dataset.X, "dataset").select(list(self.features_)))
        return SemiSyntheticSample(
            X=X,
            y=self._observed(e, c),
            event_time=e,
            dropout_time=c,
            seed=seed,
            rows=np.arange(n),
            event_hazard=reached[0],
            dropout_hazard=reached[1],
            design=self,
            copula_=copula,
        )

    def _observed(self, e: FloatArray, c: FloatArray) -> Survival:
        if self.integer_times or self.clip is not None or self.ties_censored:
            time = np.minimum(e, c)
            if self.integer_times:
                time = np.maximum(time, 1.0)
            if self.clip is not None:
                time = np.minimum(time, np.quantile(time, self.clip))
            return Survival(time, e < c if self.ties_censored else e <= c)
        end = None if self.tail == "extrapolate" else np.full(e.size, self._end)
        return Survival.from_latent(e, c, end)

    @property
    def _end(self) -> float:
        return self.dataset.y.t_max if self.study_end is None else self.study_end

    def _curve(self, of: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Times and cumulative hazards of the Breslow steps, and the relative hazard of each subject."""
        model = self.event_model_ if of == "event" else self.dropout_model_
        baseline = model.baseline_at_centre_
        return baseline.times, baseline.values, model.relative_hazard(self.design_)

    def _times(self, of: str, reached: FloatArray) -> FloatArray:
        """The first time at which the baseline hazard is at or above what each subject has ``reached``."""
        times, hazard, relative = self._curve(of)
        index = np.searchsorted(hazard, reached, side="left")
        inside = times[np.minimum(index, times.size - 1)]
        return np.where(index < times.size, inside, self._beyond(hazard, relative))

    def _beyond(self, hazard: FloatArray, relative: FloatArray) -> FloatArray:
        """Where a time past the end of its curve is put: never before the last observed time."""
        return self.dataset.y.t_max / -np.expm1(-hazard[-1] * relative)

    def _survival(self, of: str, t: FloatArray, rows: npt.NDArray[np.intp]) -> FloatArray:
        times, hazard, relative = self._curve(of)
        steps = np.concatenate(([0.0], hazard))[np.searchsorted(times, t, side="right")]
        result = np.exp(-steps * relative[rows][:, None])
        end = self._beyond(hazard, relative)[rows][:, None]
        return np.where(t >= end, 0.0, result)


@dataclass(frozen=True, eq=False, repr=False)
class SemiSyntheticSample(SimulatedSurvival):
    """A draw of :meth:`SemiSynthetic.draw`: real subjects with simulated times.

    Its survival functions are given all features, not only those kept.

    Attributes
    ----------
    X : data frame
        The features that are kept.
    y, event_time, dropout_time, seed
        As in :class:`SimulatedSurvival`.
    rows : array of shape (n,)
        Which subjects of the data set these are.
    event_hazard, dropout_hazard : array of shape (n,)
        The cumulative baseline hazard, of the Cox model of the event or the dropout, at which its time comes.
    design : SemiSynthetic
        What drew it.
    copula_ : Copula
        The survival copula given all features; also called ``copula``.

    See Also
    --------
    SemiSynthetic : Draws it, with an example.
    """

    rows: npt.NDArray[np.intp]
    #: The baseline hazards at which event and dropout came: their order also past the end of the curves.
    event_hazard: FloatArray
    dropout_hazard: FloatArray
    design: SemiSynthetic
    copula_: Copula

    _by_row: ClassVar[tuple[str, ...]] = (
        *SimulatedSurvival._by_row,
        "rows",
        "event_hazard",
        "dropout_hazard",
    )

    @property
    def _latent_order(self) -> tuple[FloatArray, FloatArray]:
        return self.event_hazard, self.dropout_hazard

    @property
    def copula(self) -> Copula:
        """The survival copula of event and dropout given all features."""
        return self.copula_

    def parts(self, seed: Seed = 0, shares: Sequence[float] = (0.7, 0.1, 0.2)) -> tuple[Self, ...]:
        """Training, validation and test part, stratified on event and time, with the features as numbers.

        Imputation, scaling and encoding are learned from the first part, unless the design says otherwise. Large data
        may be thinned out before: ``sample[subsample(sample.y, 10_000)]``.
        """
        if column_names(self.X) is None:
            raise ValueError("X has been encoded: take the parts of the sample as it was drawn.")
        picked = [self[rows] for rows in stratified_split(self.y, shares, seed)]
        kept = set(self.design.features_)
        categorical = [name for name in self.design.dataset.categorical if name in kept]
        learned_from = picked[0].X if self.design.encode_on == "train" else self.X
        encoder = Encoder(categorical, self.design.scaling).fit(learned_from)
        return tuple(replace(part, X=encoder.transform(part.X)) for part in picked)

    def event_survival(self, t: npt.ArrayLike) -> FloatArray:
        """The S_E given all features that the event times were drawn from, (n, len(t))."""
        return self._survival("event", t)

    def dropout_survival(self, t: npt.ArrayLike) -> FloatArray:
        """The S_C given all features that the dropout times were drawn from, (n, len(t))."""
        return self._survival("dropout", t)

    def own_survival(self, of: WhichMargin, t: FloatArray) -> FloatArray:
        """The true survival function of each subject at a time of its own, (n,)."""
        if self.design.integer_times:
            t = np.floor(t) + 0.5
        return self.design._survival(of, t[:, None], self.rows)[:, 0]

    def _survival(self, of: str, t: npt.ArrayLike) -> FloatArray:
        times = as_vector(t, "t", single=True, negative=False)
        if self.design.integer_times:
            times = np.floor(times) + 0.5  # from where on a time is rounded to more than t
        return self.design._survival(of, times, self.rows)
