#!/usr/bin/python3
"""How far graph-tool's merge-split chains agree with each other on their own target: R̂ of the log joint between four
chains from random starts, after so many CPU seconds each.

Usage: benches/peers/merge_split.py NETWORK.edges [CPU_SECONDS]      (Debian's python3-graph-tool)
"""

import sys
import time

import graph_tool.all as gt
import numpy as np

CHAINS = 4


def network(path):
    """An undirected simple graph from lines of two names."""
    names, edges = {}, set()
    for line in open(path):
        words = line.split()
        if len(words) >= 2 and not line.startswith(("#", "%")):
            a, b = (names.setdefault(word, len(names)) for word in words[:2])
            if a != b:
                edges.add((min(a, b), max(a, b)))
    graph = gt.Graph(directed=False)
    graph.add_vertex(len(names))
    graph.add_edge_list(sorted(edges))
    return graph


def chain(graph, seed, seconds):
    """The log joint after each merge-split sweep."""
    gt.seed_rng(seed)
    np.random.seed(seed)
    start = np.random.randint(0, 50, graph.num_vertices())
    state = gt.BlockState(graph, b=start, deg_corr=False)
    trace, began = [], time.process_time()
    while time.process_time() - began < seconds:
        state.multiflip_mcmc_sweep(niter=1, beta=1)
        trace.append(-state.entropy())
    return trace, state.get_nonempty_B()


def rhat(chains):
    """Plain R̂ (Gelman and Rubin)."""
    chains = np.array(chains)
    length = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = chains.mean(axis=1).var(ddof=1)
    return float(np.sqrt((length - 1) / length + between / within))


def main():
    path, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 38.0
    gt.openmp_set_num_threads(1)
    graph = network(path)
    chains = [chain(graph, seed, seconds) for seed in range(1, CHAINS + 1)]
    length = min(len(trace) for trace, _ in chains)
    halves = [trace[length // 2 : length] for trace, _ in chains]
    print(f"{path}: {graph.num_vertices()} vertices, {graph.num_edges()} edges, {seconds:g} CPU s and {length} sweeps a chain")
    print(f"R-hat of the second half {rhat(halves):.3f}")
    for half, (_, blocks) in zip(halves, chains):
        print(f"  mean {np.mean(half):.1f}, best {np.max(half):.1f}, blocks {blocks}")


main()
