"""Survival learners behind one interface: covariates and outcomes in, survival curves out."""

from cocensor.paper.learners.base import Learner
from cocensor.paper.learners.cox import CoxLearner
from cocensor.paper.learners.deepsurv import DeepSurv
from cocensor.paper.learners.mtlr import MTLR
from cocensor.paper.learners.registry import learner, learners
from cocensor.paper.learners.trees import GBSA, RSF

__all__ = ["GBSA", "MTLR", "RSF", "CoxLearner", "DeepSurv", "Learner", "learner", "learners"]
