"""The paper's data sets, the same from whatever source; splits of them, and their encoding as numbers."""

from cocensor.datasets.catalogue import available
from cocensor.datasets.churn import load_churn
from cocensor.datasets.dataset import Dataset
from cocensor.datasets.employee import load_employee
from cocensor.datasets.encoding import Encoder, UnseenLevelWarning
from cocensor.datasets.flchain import load_flchain
from cocensor.datasets.gbsg import load_gbsg
from cocensor.datasets.metabric import load_metabric
from cocensor.datasets.mimic_iv import load_mimic_iv
from cocensor.datasets.nacd import load_nacd
from cocensor.datasets.seer import load_seer
from cocensor.datasets.splitting import stratified_split, subsample
from cocensor.datasets.support import load_support
from cocensor.datasets.whas import load_whas

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
