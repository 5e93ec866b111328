"""From what people have in Python - graphs, matrices, tables, paths - to data that can be clustered.

Which kind of object it is, is told by the module that its type comes from, so that nothing is imported to find out.
"""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _armix

BUILT_IN = (
    "karate",
    "southern-women",
    "four-vertex",
    "bernoulli-1",
    "bernoulli-2",
    "bernoulli-3",
    "planted:K,size,p_in,p_out",
    "mixture:K,size,columns,noise",
    "levels:K,size,columns",
    "counts:K,size,columns",
    "reals:K,size,columns",
    "grid:WxH",
)
"""The names of data that are built in."""

_NETWORK, _TABLE = "irm", "bernoulli"
_TABLES = ("bernoulli", "categorical", "poisson", "gaussian", "niw", "student-t", "mixed")
_NETWORKS = ("irm-bernoulli", "irm-poisson", "irm-gaussian", "irm-categorical", "irm-relations",
             "irm-degree-corrected")
_MOST_VERTICES = 1 << 28

_WHAT_THERE_IS = (
    "give a networkx or igraph graph, a scipy sparse or NumPy matrix, a pandas or polars DataFrame, "
    "an array of edges of shape (m, 2), or the path of a file"
)


class Converted:
    """Data for the engine, with the items as the user calls them."""

    def __init__(self, data: _armix.Data, items: Sequence[Any] | None = None):
        self.data = data
        # Vertices may have been dropped on the way; then the names tell which are left.
        names = data.names
        if items is None:
            self.items = names
        elif len(items) == len(names):
            self.items = list(items)
        else:
            known = {str(item): item for item in items}
            self.items = [known[name] for name in names]


def _prior(prior: str, discount: float | None, gamma: float | None, components: str | None) -> Any:
    """A prior over partitions, as the library names it."""
    for name, value, owner in (("discount", discount, "pitman-yor"), ("gamma", gamma, "mfm"), ("components", components, "mfm")):
        if value is not None and prior != owner:
            raise ValueError(f"{name}={value!r} belongs to prior={owner!r}: say so, or leave it out")
    if prior == "crp":
        return "crp"
    if prior == "pitman-yor":
        return {"pitman-yor": {"discount": 0.25 if discount is None else float(discount)}}
    if prior == "mfm":
        kind, _, number = (components or "geometric:0.1").partition(":")
        try:
            if kind not in ("geometric", "poisson"):
                raise ValueError
            count = {kind: float(number)}
        except ValueError:
            raise ValueError(f"components={components!r}: write 'geometric:0.1' or 'poisson:1'") from None
        return {"mfm": {"gamma": 1.0 if gamma is None else float(gamma), "components": count}}
    raise ValueError(f"there is no prior {prior!r}; the priors are crp, pitman-yor and mfm")


def _finite(name: str, value: Any) -> float:
    if not np.isfinite(float(value)):
        raise ValueError(f"{name}={value!r}: give a number")
    return float(value)


def convert(
    data: Any,
    model: str | None = None,
    *,
    alpha: float = 1.0,
    beta: tuple[float, float] = (1.0, 1.0),
    hyper: Mapping[str, float] | None = None,
    degrees_of_freedom: float = 4.0,
    menu: int = 4,
    prior: str = "crp",
    discount: float | None = None,
    gamma: float | None = None,
    components: str | None = None,
    threshold: float = 0.0,
    downsample: float | None = None,
    largest_component: bool = False,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    types: dict[Any, str] | None = None,
    hold_out: float | None = None,
    hold_out_seed: int = 1,
    data_seed: int = 1,
    known: Mapping[Any, Any] | None = None,
    together: Sequence[Sequence[Any]] | None = None,
    max_blocks: int | None = None,
    weight: str | None = "weight",
    directed: bool = False,
    self_loops: bool = False,
    weights: str | Sequence[str] | None = None,
    bipartite: bool = False,
    mask: str | os.PathLike | None = None,
    relations: Sequence[str | os.PathLike] = (),
    names: Sequence[Any] | None = None,
    name: str | None = None,
) -> Converted:
    """Converts data of any kind; `fit` tells what the options mean."""
    if isinstance(data, Converted):
        return data
    if model not in (None, _NETWORK, *_NETWORKS, *_TABLES):
        raise ValueError(
            f"there is no model {model!r}; the models are irm, {', '.join(_NETWORKS)} (networks) and {', '.join(_TABLES)} (tables)"
        )
    if isinstance(weights, str):
        weights = [weights]
    # Whatever says something about a network asks for one.
    if model is None and not bipartite and (directed or self_loops or weights or mask or relations):
        wanted: str | None = _NETWORK
    else:
        wanted = _NETWORK if model in _NETWORKS else model
    try:
        plus, minus = beta
        beta = (float(plus), float(minus))
    except (TypeError, ValueError):
        raise TypeError(f"beta={beta!r}: give two numbers, as in beta=(1.0, 1.0)") from None
    chosen = dict(columns=columns, id_column=id_column, label_column=label_column, types=types)
    options = json.dumps(
        {
            "model": model,
            "prior": _prior(prior, discount, gamma, components),
            "alpha": float(alpha),
            "beta": beta,
            "hypers": [(str(key), _finite(f"hyper[{key!r}]", value)) for key, value in (hyper or {}).items()],
            "degrees_of_freedom": float(degrees_of_freedom),
            "menu": int(menu),
            "data_seed": int(data_seed),
            "threshold": float(threshold),
            "downsample": None if downsample is None else float(downsample),
            "largest_component": bool(largest_component),
            "columns": None if columns is None else [str(c) for c in columns],
            "id_column": None if id_column is None else str(id_column),
            "label_column": None if label_column is None else str(label_column),
            "types": [[str(column), str(kind)] for column, kind in (types or {}).items()],
            "hold_out": None if hold_out is None else float(hold_out),
            "hold_out_seed": int(hold_out_seed),
            "beforehand": {
                "known": [(str(item), str(group)) for item, group in (known or {}).items()],
                "together": [[str(item) for item in items] for items in together or []],
                "max_blocks": None if max_blocks is None else int(max_blocks),
            },
            "directed": bool(directed),
            "self_loops": bool(self_loops),
            "weights": [str(w) for w in weights or ()],
            "bipartite": bool(bipartite),
            "mask": None if mask is None else os.path.abspath(os.fspath(mask)),
            "relations": [os.path.abspath(os.fspath(path)) for path in relations],
        }
    )
    if isinstance(data, (str, os.PathLike)):
        return _path(data, options)
    module = type(data).__module__.split(".")[0]
    if module == "networkx" or hasattr(data, "is_multigraph"):
        return _networkx(data, weight, name or getattr(data, "name", "") or "graph", options)
    if module == "igraph":
        return _igraph(data, weight, name or "graph", options)
    if module == "scipy" or hasattr(data, "tocoo"):
        return _sparse(data, wanted, names, name or "matrix", options, bipartite)
    if module in ("pandas", "polars") or hasattr(data, "columns"):
        if bipartite:
            return _two_sides(data, names, name or "table", options)
        return _frame(data, wanted, names, chosen, name or "table", options)
    if isinstance(data, (list, tuple, np.ndarray)) or hasattr(data, "__array__"):
        if bipartite and np.ndim(data) == 2 and np.shape(data)[1] > 2:
            return _two_sides(data, names, name or "array", options)
        return _array(data, wanted, names, name or "array", options)
    raise TypeError(f"data of type {type(data).__name__} cannot be clustered: {_WHAT_THERE_IS}")


def _path(path: str | os.PathLike, options: str) -> Converted:
    path = os.fspath(path)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    path = os.path.expanduser(path)
    looks_like_file = os.sep in path or "." in os.path.basename(path)
    # FILE.zip:MEMBER and FILE.mat:VARIABLE are no paths of their own.
    if looks_like_file and not os.path.exists(path) and ":" not in path:
        raise FileNotFoundError(f"there is no file {path!r}")
    return Converted(_armix.read(path, options))


def _network(
    items, edges, weights, directed, source, options, given=True, *, both_ways=False, sides=None, hidden=()
) -> Converted:
    """`both_ways`: edges are known to have no direction; `sides`: which of two each item is on; `hidden`: unknown pairs."""
    labels = [str(item) for item in items]
    if given and len(set(labels)) < len(labels):
        seen: set[str] = set()
        twice = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise ValueError(f"two vertices are called {twice!r}: give them different names")
    edges = np.ascontiguousarray(np.asarray(edges, dtype=np.uint32).reshape(-1, 2))
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if np.isnan(weights).any():
            raise ValueError("some weights are NaN: leave these edges out, or give them weight 0")
    hidden = np.ascontiguousarray(np.asarray(hidden, dtype=np.uint32).reshape(-1, 2))
    sides = None if sides is None else [bool(side) for side in sides]
    data = _armix.network(labels, edges, weights, bool(directed), bool(both_ways), hidden, sides, str(source), options)
    return Converted(data, list(items))


def _networkx(graph, weight, source, options) -> Converted:
    nodes = list(graph.nodes)
    index = {node: at for at, node in enumerate(nodes)}
    edges = np.fromiter(
        (index[v] for u_v in graph.edges() for v in u_v), dtype=np.uint32, count=2 * graph.number_of_edges()
    )
    weights = None
    if weight is not None:
        values = [w for _, _, w in graph.edges(data=weight, default=None)]
        if any(w is not None for w in values):
            try:
                weights = np.array([1.0 if w is None else float(w) for w in values])
            except (TypeError, ValueError):
                raise TypeError(
                    f"the edge attribute {weight!r} is not a number everywhere: use weight=None to ignore it"
                ) from None
    sides = None
    if json.loads(options)["bipartite"]:
        # networkx marks the sides by this attribute, if it knows them.
        marks = [graph.nodes[node].get("bipartite") for node in nodes]
        sides = marks if all(mark in (0, 1) for mark in marks) else None
    directed = graph.is_directed()
    return _network(nodes, edges, weights, directed, source, options, both_ways=not directed, sides=sides)


def _igraph(graph, weight, source, options) -> Converted:
    attributes = graph.vs.attributes()
    nodes = graph.vs["name"] if "name" in attributes else list(range(graph.vcount()))
    weights = None
    if weight is not None and weight in graph.es.attributes():
        weights = np.array([1.0 if w is None else float(w) for w in graph.es[weight]])
    edges = np.array(graph.get_edgelist(), dtype=np.uint32).reshape(-1, 2)
    sides = graph.vs["type"] if json.loads(options)["bipartite"] and "type" in attributes else None
    directed = graph.is_directed()
    return _network(nodes, edges, weights, directed, source, options, both_ways=not directed, sides=sides)


def _items(names, n: int, what: str):
    if names is None:
        return range(n)
    names = list(names)
    if len(names) != n:
        raise ValueError(f"{len(names)} names do not fit {n} {what}: give one for each")
    return names


def _two_sides(table, names, source, options) -> Converted:
    """A network between the rows and the columns of a table."""
    index = getattr(table, "index", None)
    columns = [str(c) for c in table.columns] if hasattr(table, "columns") else None
    matrix = table.to_numpy() if hasattr(table, "to_numpy") else np.asarray(table)
    try:
        matrix = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("a bipartite network needs a number in every cell: 0 for no link, NaN for what is unknown") from None
    rows, width = matrix.shape
    if names is None and index is not None and type(index).__name__ != "RangeIndex":
        names = list(index)
    first = [f"r{row}" for row in range(rows)] if names is None else list(_items(names, rows, "rows"))
    second = columns or [f"c{column}" for column in range(width)]
    hidden = np.argwhere(np.isnan(matrix)) + [0, rows]
    u, v = np.nonzero(np.nan_to_num(matrix))
    edges = np.column_stack([u, v + rows])
    values = matrix[u, v]
    weights = None if np.all(values == 1) else values
    sides = [False] * rows + [True] * width
    return _network([*first, *second], edges, weights, False, source, options, sides=sides, hidden=hidden)


def _sparse(matrix, model, names, source, options, bipartite=False) -> Converted:
    rows, columns = matrix.shape
    if bipartite and rows != columns:
        return _two_sides(matrix.toarray(), names, source, options)
    if model in _TABLES or (model is None and rows != columns):
        return _array(matrix.toarray(), model or "table", names, source, options)
    if rows != columns:
        raise ValueError(f"a network needs a square matrix, not one of shape {matrix.shape}; a table is model='bernoulli'")
    matrix = matrix.tocoo()
    edges = np.column_stack([matrix.row, matrix.col]).astype(np.uint32)
    return _adjacency(edges, np.asarray(matrix.data), _items(names, rows, "vertices"), source, options)


def _adjacency(edges, values, items, source, options) -> Converted:
    """A network of the entries of a square matrix. Both of a symmetric matrix say the same link."""
    if values.dtype.kind not in "biuf":
        raise TypeError(f"a matrix of {values.dtype} is no adjacency matrix: use numbers")
    values = values.astype(np.float64)
    unknown = np.isnan(values)
    hidden = edges[unknown]
    present = (values != 0) & ~unknown
    edges, values = edges[present], values[present]
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    mirrored = np.lexsort((edges[:, 0], edges[:, 1]))
    symmetric = np.array_equal(edges[order], edges[mirrored][:, ::-1]) and np.array_equal(
        values[order], values[mirrored]
    )
    if symmetric:
        upper = edges[:, 0] <= edges[:, 1]
        edges, values = edges[upper], values[upper]
    weights = None if np.all(values == 1) else values
    return _network(items, edges, weights, not symmetric, source, options, both_ways=symmetric, hidden=hidden)


def _array(data, model, names, source, options) -> Converted:
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(float), np.nan)
    try:
        array = np.asarray(data)
    except ValueError:
        raise ValueError(f"the rows of these data are not equally long: {_WHAT_THERE_IS}") from None
    if array.ndim != 2:
        raise ValueError(f"an array of shape {array.shape} cannot be clustered: {_WHAT_THERE_IS}")
    if array.dtype.kind in "USO":
        return _named_edges(array, model, source, options)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an array of {array.dtype} cannot be clustered: use integers, booleans or floats")
    rows, columns = array.shape
    square = rows == columns
    integers = array.dtype.kind in "iu"
    if model is None:
        if square and rows > 2 and np.array_equal(array, array.T):
            model = _NETWORK
        elif columns == 2 and integers and array.size and array.max() > 1:
            model = _NETWORK
        elif square or (columns == 2 and integers):
            raise ValueError(
                f"an array of shape {array.shape} may be a network or a table: say which with model='irm' or model='bernoulli'"
            )
        else:
            model = "table"
    if model == _TABLE or (model == "table" and not json.loads(options)["types"] and _zero_one(array)):
        return _cells(array, names, source, options)
    if model != _NETWORK:
        return _numeric(array, names, source, options)
    if columns == 2 and not square:
        return _edges(array, names, source, options)
    if not square:
        raise ValueError(
            f"a network is a square matrix or edges of shape (m, 2), not an array of shape {array.shape}; "
            "a table is model='bernoulli'"
        )
    u, v = np.nonzero(array)
    values = array[u, v]
    return _adjacency(np.column_stack([u, v]), values, _items(names, rows, "vertices"), source, options)


def _edges(array, names, source, options) -> Converted:
    if array.dtype.kind not in "iu":
        raise TypeError(f"edges of {array.dtype}: vertices are numbered by integers, use edges.astype(int)")
    if array.size == 0:
        raise ValueError("there are no edges: nothing tells the vertices apart")
    if array.min() < 0:
        raise ValueError(f"vertex {array.min()}: vertices are numbered from 0 on")
    n = int(array.max()) + 1
    if n > _MOST_VERTICES:
        raise ValueError(f"vertex {n - 1} is beyond all reason: number the vertices from 0 on, or give their names as text")
    items = range(n) if names is None else list(names)
    if len(items) < n:
        raise ValueError(f"{len(items)} names do not fit vertices up to {n - 1}: give {n} at least")
    return _network(items, array, None, False, source, options, given=names is not None)


def _named_edges(array, model, source, options) -> Converted:
    if model in _TABLES or array.shape[1] not in (2, 3):
        raise TypeError(
            f"an array of {array.dtype} and shape {array.shape} cannot be clustered: a table of words is a DataFrame"
        )
    index: dict[Any, int] = {}
    edges = [[index.setdefault(vertex, len(index)) for vertex in pair[:2]] for pair in array.tolist()]
    weights = None
    if array.shape[1] == 3:
        try:
            weights = array[:, 2].astype(float)
        except (TypeError, ValueError):
            raise TypeError("the third column of edges is their weight: it must be a number") from None
    return _network(list(index), edges, weights, False, source, options)


def _zero_one(array: np.ndarray) -> bool:
    known = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    return bool(np.isin(known, (0, 1)).all())


def _numeric(array, names, source, options) -> Converted:
    """A table of any numbers, whose columns get their types as those of files do."""
    columns = [(f"x{at + 1}", [text_of(cell) for cell in column.tolist()]) for at, column in enumerate(array.T)]
    if names is None:
        return Converted(_armix.columns(columns, str(source), options), range(len(array)))
    items = _items(names, len(array), "rows")
    columns.insert(0, ("item", [str(i) for i in items]))
    settings = {**json.loads(options), "id_column": "item"}
    return Converted(_armix.columns(columns, str(source), json.dumps(settings)), list(items))


def _cells(array, names, source, options, columns: Sequence[str] = ()) -> Converted:
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, dtype=bool)
    wrong = ~missing & (array != 0) & (array != 1)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"row {row}, column {column}: {array[row, column]} is neither 0 nor 1; leave model='bernoulli' out, or make "
            "the table binary, for example X > X.mean(axis=0), and use NaN for what is missing"
        )
    cells = np.where(missing, 2, array).astype(np.uint8)
    items = _items(names, len(array), "rows")
    data = _armix.cells([str(i) for i in items], [str(c) for c in columns], cells, str(source), options)
    return Converted(data, list(items))


def _frame(frame, model, names, chosen: dict[str, Any], source, options) -> Converted:
    headings = [str(c) for c in frame.columns]
    if len(set(headings)) < len(headings):
        raise ValueError("two columns have the same name: rename one of them")
    index: Any = getattr(frame, "index", None)
    own_names = index is not None and not type(index).__name__ == "RangeIndex"
    if own_names and names is None:
        names = list(index)
    lower = [h.lower() for h in headings]
    if model not in _TABLES and lower[:2] in (["source", "target"], ["from", "to"], ["u", "v"]):
        array = np.column_stack([np.asarray(frame[c], dtype=object) for c in list(frame.columns)[:3]])
        return _named_edges(array, model, source, options)
    if model == _NETWORK or (model is None and own_names and [str(i) for i in index] == headings):
        matrix = frame.to_numpy()
        square = matrix.shape[0] == matrix.shape[1]
        if not square and matrix.shape[1] == 2:
            return _array(matrix, _NETWORK, None, source, options)
        return _array(matrix, _NETWORK, headings if square else None, source, options)
    if names is not None and "item" in headings:
        raise ValueError("a column is called 'item', which is where the names of rows are saved: rename it")
    if not any(chosen.values()) and model in (None, _TABLE):
        matrix = _numbers(frame)
        if matrix is not None:
            return _cells(matrix, names, source, options, headings)
    cells = columns_of_text(frame)
    # What was declared to be categories is not guessed at.
    settings = json.loads(options)
    given = {column for column, _ in settings["types"]}
    used = set(chosen["columns"] or headings) - {str(chosen["id_column"]), str(chosen["label_column"])}
    for column in frame.columns:
        declared = str(getattr(frame[column], "dtype", "")).lower().startswith(("category", "categorical", "enum"))
        if declared and model is None and str(column) in used - given:
            settings["types"].append([str(column), "categorical"])
    options = json.dumps(settings)
    if names is not None and chosen["id_column"] is None:
        items = _items(names, len(frame), "rows")
        cells.insert(0, ("item", [str(i) for i in items]))
        settings = json.loads(options)
        settings["id_column"] = "item"
        options = json.dumps(settings)
        return Converted(_armix.columns(cells, str(source), options), list(items))
    return Converted(_armix.columns(cells, str(source), options))


def _numbers(frame) -> np.ndarray | None:
    """The cells, if they are zeros and ones already."""
    try:
        matrix = frame.to_numpy().astype(float)
    except (TypeError, ValueError):
        return None
    known = matrix[~np.isnan(matrix)]
    return matrix if np.isin(known, (0.0, 1.0)).all() else None


def columns_of_text(frame) -> list[tuple[str, list[str | None]]]:
    """The columns of a DataFrame as a file would have them."""
    return [(str(name), [text_of(cell) for cell in _values(frame[name])]) for name in frame.columns]


def _values(column):
    return column.to_list() if hasattr(column, "to_list") else list(column)


def text_of(cell: Any) -> str | None:
    """A cell as a file would have it; None where it is missing."""
    if cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return str(int(cell))
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell) or None
