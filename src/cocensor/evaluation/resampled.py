"""Errors and intervals from the bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from cocensor._validation import Progress, as_tuple, check_choice, check_whole
from cocensor.evaluation.bootstrap import bootstrapped
from cocensor.evaluation.data import Resampling
from cocensor.evaluation.details import Details
from cocensor.evaluation.scores import about_intervals


@dataclass(frozen=True, eq=False, repr=False)
class Resampled(Details):
    """Scores whose errors can be asked from resamples; see :class:`Evaluation`."""

    def bootstrap(
        self,
        n_resamples: int = 500,
        *,
        seed: int = 0,
        adjustments: str | Sequence[str] | None = None,
        progress: Progress | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """The same evaluation with errors and intervals from the bootstrap, for any adjustment.

        Test subjects are drawn with replacement, and so are those of the training sample where there is one. To every
        resample the adjustment is fitted again. Joint models start from their fit to all, and keep its columns, knots,
        and kind of times; the weights of their ridges are chosen again. Models, reference curve, horizon and copula
        stay as they are, also a selected copula: intervals are about the given models under that copula. A resample
        without an answer is left out; a note says so where these are more than 5 %, and with half of them there is no
        interval.

        Parameters
        ----------
        n_resamples : int
        seed : int
            The same seed draws the same subjects, whatever the number of threads.
        adjustments : str or sequence of str, optional
            Of those evaluated; by default all. The others keep their errors.
        progress : callable, optional
            Called with the number of finished resamples and of all.
        n_jobs : int, optional
            Number of threads; by default one for each core.

        Returns
        -------
        Evaluation
            Its intervals are by percentiles; ``confidence_interval(method="basic")`` asks for others.

        Examples
        --------
        >>> import cocensor as cc
        >>> from cocensor.simulate import SyntheticDesign
        >>> data = SyntheticDesign(n=300, n_features=2).draw(0)
        >>> cox = {k: cc.CoxPH().fit(data.X[:, :k], data.y) for k in (1, 2)}
        >>> curves = {f"{k}": model.predict_survival_function(data.X[:, :k]) for k, model in cox.items()}
        >>> result = cc.evaluate(curves, data.y, adjustments="ipcw", metrics="ibs")
        >>> resampled = result.bootstrap(200)
        >>> for found in (result, resampled):
        ...     print(found.score("2").confidence_interval(), found.compare("1", "2").standard_error)
        ConfidenceInterval(low=0.0987..., high=0.1166...) 0.00109...
        ConfidenceInterval(low=0.0990..., high=0.1158...) 0.00113...
        """
        if self.data.streamed is not None:
            raise ValueError(
                f"an evaluation of {self.data.n_test:,} test subjects that are read in parts has no bootstrap: its "
                "intervals are analytic."
            )
        how = Resampling(n_resamples, seed)
        if n_jobs is not None:
            check_whole(n_jobs, "n_jobs")
        names = tuple(self.results) if adjustments is None else as_tuple(adjustments, "adjustments", str)
        for name in names:
            check_choice(name, "adjustments", tuple(self.results))
        chosen = {name: self.results[name] for name in names}
        again = bootstrapped(self.data, chosen, how, progress, n_jobs)
        results = {**self.results, **again}
        found = replace(
            self,
            data=replace(self.data, confidence_level=self._level),
            results=results,
            notes=(
                *(note for note in self.notes if note != about_intervals(self.results)),
                about_intervals(results),
            ),
        )
        found._analyses.update({key: each for key, each in self._analyses.items() if key[0] != "at"})
        return found
