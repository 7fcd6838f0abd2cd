"""Metrics by name."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from cocensor._checks import as_choice
from cocensor.metrics import absolute_error, auc, calibration, concordance, d_calibration, net_benefit, proper
from cocensor.metrics.base import Metric

_REGISTRY: dict[str, type[Metric]] = {
    kind.name: kind
    for kind in (
        proper.IntegratedBrierScore,
        proper.BrierScore,
        proper.IntegratedLogScore,
        auc.CumulativeDynamicAUC,
        concordance.Concordance,
        calibration.IntegratedCalibrationIndex,
        calibration.MedianCalibrationError,
        calibration.HighCalibrationError,
        proper.Miscalibration,
        proper.Discrimination,
        d_calibration.DCalibration,
        net_benefit.NetBenefit,
        absolute_error.RestrictedAbsoluteError,
    )
}
_BUILT_IN = frozenset(_REGISTRY)


def register_metric(kind: type[Metric]) -> type[Metric]:
    """Make a metric of your own known by its ``name``, wherever metrics are named; also as a decorator of its class.

    Parameters
    ----------
    kind : subclass of Metric
        With a ``name`` that is not taken.

    Returns
    -------
    class
        ``kind`` itself.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from cocensor import metric
    >>> from cocensor.metrics import Metric, MetricValue, register_metric, unregister_metric
    >>> @register_metric
    ... @dataclass(frozen=True)
    ... class Calibration(Metric):
    ...     name, label, direction, range = "calibration", "calibration in the large", "lower", (0.0, 1.0)
    ...     def evaluate(self, status, predictions):
    ...         free = status.a.sum(axis=0) / status.normaliser
    ...         means = {name: p.read(status.times, slice(None)).mean(axis=0) for name, p in predictions.items()}
    ...         return {name: MetricValue(float(abs(mean - free).mean())) for name, mean in means.items()}
    >>> metric("calibration")
    Calibration()
    >>> unregister_metric("calibration")
    """
    name = getattr(kind, "name", None)
    if not (isinstance(kind, type) and issubclass(kind, Metric)) or not isinstance(name, str):
        raise TypeError(f"kind must be a subclass of Metric with a name, but is {kind!r}.")
    if name in _REGISTRY:
        raise ValueError(f"name must not be taken, but {name!r} is a metric already.")
    _REGISTRY[name] = kind
    return kind


def unregister_metric(name: str) -> None:
    """Forget a metric that was registered.

    Parameters
    ----------
    name : str
        That of the metric's class.

    See Also
    --------
    register_metric : Has an example of both.
    """
    if name in _BUILT_IN or name not in _REGISTRY:
        raise ValueError(f"name must be that of a metric that was registered, but is {name!r}.")
    del _REGISTRY[name]


def metric_names() -> list[str]:
    """The names of the metrics.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from cocensor.metrics import metric_names
    >>> metric_names()[:4]
    ['ibs', 'brier', 'ils', 'auc']
    """
    return list(_REGISTRY)


def metric_kinds() -> dict[str, type[Metric]]:
    """The classes of metrics by name."""
    return dict(_REGISTRY)


def metric_labels() -> dict[str, str]:
    """The labels of metrics in tables and figures, by name."""
    return {name: kind.label for name, kind in _REGISTRY.items()}


def metric(name: str, **settings: Any) -> Metric:
    """A metric by name, with its settings.

    Parameters
    ----------
    name : str
        One of :func:`metric_names`, or what it is called in tables.
    **settings
        Those of its class, such as a time ``at``, a log score's ``floor`` or net benefit's ``threshold``.

    Returns
    -------
    Metric

    Examples
    --------
    >>> from cocensor import metric
    >>> metric("ibs").label
    'integrated Brier score'
    >>> metric("ils", floor=0.01)
    IntegratedLogScore(floor=0.01)
    """
    name = as_choice(name, "metric", metric_labels())
    kind = _REGISTRY[name]
    own, checked = settings_of(kind), is_dataclass(kind)
    for setting in settings:
        if checked and setting not in own:
            has = f"its settings are {', '.join(own)}" if own else "it has no settings"
            raise ValueError(f"the metric {name!r} does not know {setting}: {has}.")
    for key, needed in own.items():
        if needed and key not in settings:
            raise ValueError(f"{key} is needed for the metric {name!r}: cc.metric({name!r}, {key}=...).")
    return kind(**settings)


def settings_of(kind: Any) -> dict[str, bool]:
    """The settings of a metric's class, if it is a dataclass, and whether each must be given."""
    own = [field for field in fields(kind) if field.init] if is_dataclass(kind) else []
    return {field.name: field.default is MISSING and field.default_factory is MISSING for field in own}
