"""The everyday job: ``cocensor evaluate`` of three models of ten covariates, from the command to the written report.

Processor seconds of a new process with one thread, by phase, against ``import sksurv.metrics`` in another; and
``cocensor.evaluate`` of the same study in memory, against ``riskRegression::Score`` of Brier score and AUC with
standard errors, as far as R has it.

Run: python -m benchmarks.everyday
"""

from __future__ import annotations
