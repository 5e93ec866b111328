"""Runs as xarray and ArviZ have them: dimensions chain and draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._optional import need

if TYPE_CHECKING:
    from ._fit import Fit

_TOP = 5


def to_xarray(fit: Fit, burn_in: int, labels: bool) -> Any:
    """Ensembles are flattened into chains, and are a coordinate of theirs."""
    xarray = need("xarray", "Fit.to_xarray")
    ensembles, chains, iterations = fit.log_joint.shape
    flat = lambda values: values.reshape(ensembles * chains, -1)  # noqa: E731
    # With labels only iterations that have draws can be told.
    kept = np.arange(burn_in, iterations)
    if labels:
        drawn = fit.draw_iterations
        kept = drawn[drawn >= burn_in]
        if len(kept) == 0:
            raise ValueError("no partitions were saved after burn-in: leave labels=True away")
    variables: dict[str, Any] = {
        "log_joint": (("chain", "draw"), flat(fit.log_joint)[:, kept]),
        "blocks": (("chain", "draw"), flat(fit.blocks)[:, kept]),
    }
    for k in range(1, _TOP + 1):
        variables[f"fraction_{k}"] = (("chain", "draw"), flat(fit._run.fraction(k))[:, kept])
    for hyper, values in fit.hypers.items():
        variables[hyper] = (("chain", "draw"), flat(values)[:, kept])
    coordinates: dict[str, Any] = {
        "chain": np.arange(ensembles * chains),
        "draw": kept,
        "ensemble": ("chain", np.repeat(np.arange(ensembles), chains)),
    }
    if labels:
        draws = fit.draws[:, :, fit.draw_iterations >= burn_in]
        variables["labels"] = (("chain", "draw", "item"), draws.reshape(ensembles * chains, len(kept), -1))
        coordinates["item"] = [str(item) for item in fit.items]
    about = {"inference_library": "armix", "model_name": fit.model, "seed": fit.settings["seed"]}
    return xarray.Dataset(variables, coords=coordinates, attrs=about)


def to_arviz(dataset: Any) -> Any:
    """What ArviZ calls inference data."""
    arviz = need("arviz", "Fit.to_arviz")
    if hasattr(arviz, "InferenceData"):
        return arviz.InferenceData(posterior=dataset)
    return need("xarray", "Fit.to_arviz").DataTree.from_dict({"posterior": dataset})
