"""The paper's data sets, the same from whatever source; splits of them, and their encoding as numbers."""

from cocensor.paper.datasets.catalogue import available
from cocensor.paper.datasets.dataset import Dataset
from cocensor.paper.datasets.downloaded import load_churn, load_employee, load_metabric
from cocensor.paper.datasets.encoding import Encoder, UnseenLevelWarning
from cocensor.paper.datasets.own_files import load_mimic_iv, load_nacd, load_seer
from cocensor.paper.datasets.packaged import load_flchain, load_gbsg, load_support, load_whas
from cocensor.paper.datasets.splitting import stratified_split, subsample

__all__ = [
    "Dataset",
    "Encoder",
    "UnseenLevelWarning",
    "available",
    "load_churn",
    "load_employee",
    "load_flchain",
    "load_gbsg",
    "load_metabric",
    "load_mimic_iv",
    "load_nacd",
    "load_seer",
    "load_support",
    "load_whas",
    "stratified_split",
    "subsample",
]
