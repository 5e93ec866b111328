"""Bayesian clustering of networks and tables whose posterior you can trust.

>>> import armix
>>> fit = armix.fit("karate", iterations=200, progress=False)
>>> fit.labels().shape
(34,)

`fit` samples partitions with the adaptive reconfiguration moves of Herlau, Mørup, Teh and Schmidt; the `Fit` that it
returns has labels, similarities, diagnostics with a verdict, predictions, plots and a report. Runs are saved in the
format of the `armix` command, so that either can go on with what the other began.
"""

from typing import TYPE_CHECKING

from ._armix import __version__
from ._data import BUILT_IN
from ._fit import Fit, fit, load
from ._labels import (
    adjusted_rand,
    binder,
    credible_ball,
    diagnose,
    ess,
    exact,
    log_joint,
    mcse,
    modes,
    moves,
    nmi,
    rhat,
    salso,
    similarity,
    strategies,
    vi,
)

if TYPE_CHECKING:
    from ._estimators import BernoulliMixture, RelationalModel

__all__ = [
    "BUILT_IN",
    "BernoulliMixture",
    "Fit",
    "RelationalModel",
    "__version__",
    "adjusted_rand",
    "binder",
    "credible_ball",
    "diagnose",
    "ess",
    "exact",
    "fit",
    "load",
    "log_joint",
    "mcse",
    "modes",
    "moves",
    "nmi",
    "rhat",
    "salso",
    "similarity",
    "strategies",
    "vi",
]

_ESTIMATORS = ("BernoulliMixture", "RelationalModel")


def __getattr__(name):
    # scikit-learn takes longer to import than all the rest, so it is imported when it is asked for.
    if name in _ESTIMATORS:
        from . import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module 'armix' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
