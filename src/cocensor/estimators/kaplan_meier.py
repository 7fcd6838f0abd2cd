"""The Kaplan–Meier estimator."""

from __future__ import annotations

from cocensor.copulas import Independence
from cocensor.data import WhichMargin
from cocensor.estimators.margin import MarginEstimator


class KaplanMeier(MarginEstimator):
    r"""The product-limit curve :math:`S(t) = \prod_{u_j \le t} (1 - d_j/n_j)`.

    Assumes that event and censoring are independent. It is the Copula-Graphic estimator at the
    independence copula, and shares all of its methods.

    Parameters
    ----------
    of : {"event", "dropout"}
        Whose curve: of the event time, or of the dropout time, for which events tied with a dropout have
        left the risk set before it, :math:`\prod (1 - m_j/(n_j - d_j))`.

    Examples
    --------
    >>> from cocensor import KaplanMeier, Survival
    >>> y = Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> km = KaplanMeier().fit(y)
    >>> km.predict([1, 4, 7, 10]).round(4)
    array([0.875 , 0.7292, 0.5469, 0.2734])
    >>> km.quantile(0.5)
    10.0

    References
    ----------
    Kaplan, E. L., Meier, P. (1958). Nonparametric estimation from incomplete observations. *JASA* 53, 457–481.
    """

    def __init__(self, of: WhichMargin = "event") -> None:
        self.copula = Independence()
        self.of = of

    def __repr__(self) -> str:
        return f"KaplanMeier(of={self.of!r})"
