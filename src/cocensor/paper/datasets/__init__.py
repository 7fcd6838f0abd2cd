"""The paper's data sets, the same from whatever source; splits of them, and their encoding as numbers."""

from cocensor.paper.datasets.catalogue import available
from cocensor.paper.datasets.churn import load_churn
from cocensor.paper.datasets.dataset import Dataset
from cocensor.paper.datasets.employee import load_employee
from cocensor.paper.datasets.encoding import Encoder, UnseenLevelWarning
from cocensor.paper.datasets.flchain import load_flchain
from cocensor.paper.datasets.gbsg import load_gbsg
from cocensor.paper.datasets.metabric import load_metabric
from cocensor.paper.datasets.mimic_iv import load_mimic_iv
from cocensor.paper.datasets.nacd import load_nacd
from cocensor.paper.datasets.seer import load_seer
from cocensor.paper.datasets.splitting import stratified_split, subsample
from cocensor.paper.datasets.support import load_support
from cocensor.paper.datasets.whas import load_whas

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
