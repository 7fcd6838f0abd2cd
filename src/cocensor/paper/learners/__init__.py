"""Survival learners behind one interface: covariates and outcomes in, survival curves out."""

from cocensor.paper.learners.base import Learner
from cocensor.paper.learners.boosting import GBSA
from cocensor.paper.learners.cox import CoxLearner
from cocensor.paper.learners.deepsurv import DeepSurv
from cocensor.paper.learners.forest import RSF
from cocensor.paper.learners.mtlr import MTLR
from cocensor.paper.learners.registry import learner, learners

__all__ = ["GBSA", "MTLR", "RSF", "CoxLearner", "DeepSurv", "Learner", "learner", "learners"]
