"""Pictures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._optional import need

if TYPE_CHECKING:
    from ._fit import Fit

_MOST_POINTS = 2000


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    return need("matplotlib.pyplot", "plotting").subplots(figsize=size)[1]


def trace(fit: Fit, ax: Any, quantity: str) -> Any:
    """All chains of a quantity."""
    names = {"log_joint": "log joint", "blocks": "number of blocks"}
    if quantity in names:
        values = getattr(fit, quantity)
    elif quantity.startswith("fraction_") and quantity[9:].isdigit():
        values = fit._run.fraction(int(quantity[9:]))
    elif quantity in fit.hypers:
        values = fit.hypers[quantity]
    else:
        known = ", ".join(["log_joint", "blocks", *fit.hypers])
        raise ValueError(f"there is no quantity {quantity!r}: use {known}, or fraction_1 to fraction_5")
    ax = _axes(ax, (8, 3))
    iterations = np.arange(1, values.shape[-1] + 1)
    step = max(1, len(iterations) // _MOST_POINTS)
    for ensemble, chains in enumerate(values):
        for at, chain in enumerate(chains):
            label = f"ensemble {ensemble + 1}" if at == 0 else None
            ax.plot(iterations[::step], chain[::step], color=f"C{ensemble % 10}", lw=0.5, alpha=0.7, label=label)
    ax.set_xlabel("iteration")
    ax.set_ylabel(names.get(quantity, quantity.replace("_", " ")))
    ax.legend(loc="best", fontsize="small")
    return ax


def _order(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Items sorted by block, and where blocks end."""
    order = np.argsort(labels, kind="stable")
    return order, np.cumsum(np.bincount(labels))


def similarity(fit: Fit, ax: Any, loss: str, burn_in: Any) -> Any:
    """The sorted similarity matrix."""
    matrix = fit.similarity(burn_in=burn_in)
    order, ends = _order(fit.labels(loss, burn_in=burn_in))
    ax = _axes(ax, (6, 5))
    picture = ax.imshow(matrix[np.ix_(order, order)], vmin=0, vmax=1, cmap="Blues", interpolation="nearest")
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color="0.4", lw=0.5)
        ax.axvline(end - 0.5, color="0.4", lw=0.5)
    _names(ax, [fit.items[at] for at in order])
    ax.figure.colorbar(picture, ax=ax, label="probability of sharing a block")
    return ax


def _names(ax: Any, names: list) -> None:
    if len(names) <= 40:
        ax.set_xticks(range(len(names)), [str(name) for name in names], rotation=90, fontsize=7)
        ax.set_yticks(range(len(names)), [str(name) for name in names], fontsize=7)


def _layout(n: int, edges: np.ndarray, labels: np.ndarray, seed: int) -> np.ndarray:
    """Places of vertices: by springs if networkx is there, otherwise a circle for each block."""
    try:
        import networkx
    except ImportError:
        order, _ = _order(labels)
        angle = np.empty(n)
        angle[order] = np.linspace(0, 2 * np.pi, n, endpoint=False)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    places = networkx.spring_layout(graph, seed=seed)
    return np.array([places[v] for v in range(n)])


def network(
    fit: Fit,
    ax: Any,
    labels: np.ndarray,
    kind: str = "graph",
    layout: Any = None,
    names: bool | None = None,
    size: float | None = None,
    seed: int = 1,
) -> Any:
    """The network with its vertices coloured by block, or its sorted adjacency matrix."""
    if kind not in ("graph", "matrix"):
        raise ValueError(f"kind={kind!r}: use 'graph' or 'matrix'")
    if fit.data.kind != "network":
        raise TypeError("the data of this run are a table: use plot_similarity")
    if labels.shape != (len(fit.items),):
        raise ValueError(f"labels of shape {labels.shape} do not fit {len(fit.items)} vertices")
    edges, n = fit.data.edges(), len(fit.items)
    labels = np.unique(labels, return_inverse=True)[1].ravel()
    ax = _axes(ax, (6, 5))
    if kind == "matrix":
        order, ends = _order(labels)
        place = np.empty(n, dtype=int)
        place[order] = np.arange(n)
        u, v = place[edges[:, 0]], place[edges[:, 1]]
        points = max(0.2, 4000 / n**1.5)
        ax.scatter(np.r_[u, v], np.r_[v, u], s=points, c="k", marker="s", linewidths=0)
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="C0", lw=0.5)
            ax.axvline(end - 0.5, color="C0", lw=0.5)
        ax.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        _names(ax, [fit.items[at] for at in order])
        return ax
    from matplotlib.collections import LineCollection

    if layout is None:
        places = _layout(n, edges, labels, seed)
    elif isinstance(layout, dict):
        places = np.array([layout[item] for item in fit.items], dtype=float)
    else:
        places = np.asarray(layout, dtype=float)
    width = min(1.0, 30 / np.sqrt(max(len(edges), 1)))
    ax.add_collection(LineCollection(list(places[edges]), colors="0.7", linewidths=width, zorder=1))
    colours = np.array([f"C{label % 10}" for label in labels])
    area = size if size is not None else max(8.0, min(200.0, 8000 / n))
    ax.scatter(places[:, 0], places[:, 1], s=area, c=colours, zorder=2, edgecolors="white", linewidths=0.5)
    if names or (names is None and n <= 60):
        for (x, y), item in zip(places, fit.items):
            ax.text(x, y, str(item), ha="center", va="center", fontsize=6, zorder=3)
    ax.set_axis_off()
    return ax
