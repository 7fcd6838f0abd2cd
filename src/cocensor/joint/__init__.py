"""The joint model of event and dropout given covariates."""

from cocensor.joint.fit import fit_joint
from cocensor.joint.model import JointModel
from cocensor.joint.select import CopulaChoice, DependenceProfile, select_copula

__all__ = ["CopulaChoice", "DependenceProfile", "JointModel", "fit_joint", "select_copula"]
