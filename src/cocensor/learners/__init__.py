"""Survival learners behind one interface: covariates and outcomes in, survival curves out."""

from cocensor.learners.base import Learner
from cocensor.learners.boosting import GBSA
from cocensor.learners.cox import CoxLearner
from cocensor.learners.deepsurv import DeepSurv
from cocensor.learners.forest import RSF
from cocensor.learners.mtlr import MTLR
from cocensor.learners.registry import learner, learners

__all__ = ["GBSA", "MTLR", "RSF", "CoxLearner", "DeepSurv", "Learner", "learner", "learners"]
