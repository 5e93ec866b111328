"""Estimators as scikit-learn has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._fit import fit
from ._optional import need

need("sklearn", "An estimator")

from sklearn.base import BaseEstimator, ClusterMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402


class _Estimator(ClusterMixin, BaseEstimator):
    """What both estimators have in common."""

    def _sample(self, data: Any, model: str) -> None:
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):  # None, or a generator, as scikit-learn allows
            from sklearn.utils import check_random_state

            seed = int(check_random_state(seed).randint(1 << 31))
        self.fit_ = fit(
            data,
            model,
            self.moves,
            self.ensembles,
            self.chains,
            self.iterations,
            warmup=self.warmup,
            alpha=self.alpha,
            beta=self.beta,
            prior=self.prior,
            sample_hyper=self.sample_hyper,
            seed=int(seed),
            threads=self.n_jobs if self.n_jobs is None or self.n_jobs > 0 else None,
            progress=False if not self.verbose else None,
        )
        self.labels_ = self.fit_.labels(self.loss)
        self.n_clusters_ = int(self.labels_.max()) + 1

    def _probabilities(self, new: Any) -> np.ndarray:
        probability = self.fit_.predict_proba(new)
        return probability / probability.sum(axis=1, keepdims=True)


class BernoulliMixture(_Estimator):
    """The Dirichlet-process mixture of binary rows, with the number of clusters found.

    Values above `binarize` are ones, NaN is missing; with `binarize=None` the data must be zeros and ones. After `fit`,
    `labels_` is the estimate with the least expected variation of information, and `fit_` the whole `armix.Fit`.

    >>> import armix, numpy as np
    >>> X = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 20, axis=0)
    >>> int(armix.BernoulliMixture(iterations=100).fit(X).n_clusters_)
    2
    """

    def __init__(
        self,
        *,
        binarize=0.0,
        alpha=1.0,
        beta=(1.0, 1.0),
        prior="crp",
        sample_hyper=False,
        moves=None,
        ensembles=4,
        chains=None,
        iterations=1000,
        warmup=50,
        random_state=1,
        n_jobs=None,
        verbose=0,
    ):
        self.binarize = binarize
        self.alpha = alpha
        self.beta = beta
        self.prior = prior
        self.sample_hyper = sample_hyper
        self.moves = moves
        self.ensembles = ensembles
        self.chains = chains
        self.iterations = iterations
        self.warmup = warmup
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    loss = "vi"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _binary(self, X: Any, reset: bool) -> np.ndarray:
        least = 2 if reset else 1
        X = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan", ensure_min_samples=least)
        if self.binarize is None:
            return X
        binary = (X > self.binarize).astype(float)
        if X.dtype.kind == "f":
            binary[np.isnan(X)] = np.nan
        return binary

    def fit(self, X, y=None):
        """Samples partitions of the rows; y is ignored."""
        self._sample(self._binary(X, reset=True), "bernoulli")
        return self

    def predict_proba(self, X):
        """The probabilities of each cluster for new rows, and in the last column of a new one."""
        check_is_fitted(self)
        return self._probabilities(self._binary(X, reset=False))

    def predict(self, X):
        """The most probable cluster of new rows."""
        return self.predict_proba(X)[:, :-1].argmax(axis=1)


class RelationalModel(_Estimator):
    """The infinite relational model of a network, with the number of blocks found.

    `fit` takes a symmetric adjacency matrix, dense or sparse, or whatever `armix.fit` takes as a network; new vertices are
    rows of links to the known ones.

    >>> import armix, networkx as nx
    >>> armix.RelationalModel(iterations=100).fit_predict(nx.karate_club_graph()).shape
    (34,)
    """

    def __init__(
        self,
        *,
        alpha=1.0,
        beta=(1.0, 1.0),
        prior="crp",
        sample_hyper=False,
        moves=None,
        ensembles=4,
        chains=None,
        iterations=1000,
        warmup=50,
        random_state=1,
        n_jobs=None,
        verbose=0,
    ):
        self.alpha = alpha
        self.beta = beta
        self.prior = prior
        self.sample_hyper = sample_hyper
        self.moves = moves
        self.ensembles = ensembles
        self.chains = chains
        self.iterations = iterations
        self.warmup = warmup
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    loss = "vi"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y=None):
        """Samples partitions of the vertices; y is ignored."""
        if hasattr(X, "shape") or isinstance(X, (list, tuple)):
            X = validate_data(self, X, accept_sparse="csr", ensure_min_samples=2)
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"a network is a square adjacency matrix, not an array of shape {X.shape}")
        self._sample(X, "irm")
        self.n_features_in_ = len(self.labels_)
        return self

    def predict_proba(self, X):
        """The probabilities of each block for new vertices, given as rows of links to the known ones, and of a new one."""
        check_is_fitted(self)
        if not isinstance(X, dict):
            X = validate_data(self, X, accept_sparse="csr", reset=False)
        return self._probabilities(X)

    def predict(self, X):
        """The most probable block of new vertices."""
        return self.predict_proba(X)[:, :-1].argmax(axis=1)
