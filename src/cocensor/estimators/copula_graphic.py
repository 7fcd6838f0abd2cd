"""The Copula-Graphic estimator."""

from __future__ import annotations

from cocensor.copulas import ArchimedeanCopula
from cocensor.data import WhichMargin
from cocensor.estimators.margin import MarginEstimator


class CopulaGraphic(MarginEstimator):
    r"""The survival curve of a margin when event and censoring have a known Archimedean copula.

    .. math:: S_E(t) = \varphi^{-1}\Bigl(\sum_{u_j \le t} \bigl[\varphi(\tfrac{n_j - d_j}{N})
        - \varphi(\tfrac{n_j}{N})\bigr]\Bigr)

    Assumes that :math:`P(E > t, C > c) = C_\theta(S_E(t), S_C(c))` with the stated copula; the data cannot
    check that. Where a subject is marked as administratively censored, the shares :math:`n_j/N` give way to
    the Kaplan–Meier estimate of :math:`P(\min(E, C) > t)`, because the end of the study is independent of
    both. At independence the curve is Kaplan–Meier's, exactly.

    Parameters
    ----------
    copula : ArchimedeanCopula
        The survival copula of (E, C).
    of : {"event", "dropout"}
        Whose curve. The two together give back the observed share at risk,
        :math:`C(S_E(t), S_C(t)) = \#\{t_i > t\}/N`.

    Examples
    --------
    >>> from cocensor import Clayton, CopulaGraphic, Survival
    >>> y = Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> cg = CopulaGraphic(Clayton(18.0)).fit(y)
    >>> cg.predict([1, 4, 7, 10]).round(4)
    array([0.875 , 0.6262, 0.3751, 0.125 ])

    References
    ----------
    Rivest, L.-P., Wells, M. T. (2001). A martingale approach to the copula-graphic estimator for the survival
    function under dependent censoring. *Journal of Multivariate Analysis* 79, 138–155.
    Zheng, M., Klein, J. P. (1995). Estimates of marginal survival for dependent competing risks based on an
    assumed copula. *Biometrika* 82, 127–138.
    """

    def __init__(self, copula: ArchimedeanCopula, of: WhichMargin = "event") -> None:
        if not isinstance(copula, ArchimedeanCopula):
            raise TypeError(
                f"copula must be Archimedean, because others have no closed Copula-Graphic form, but is {copula!r}."
            )
        self.copula = copula
        self.of = of

    def __repr__(self) -> str:
        return f"CopulaGraphic({self.copula!r}, of={self.of!r})"
