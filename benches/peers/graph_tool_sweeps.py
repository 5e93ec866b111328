"""CPU time of graph-tool's sweeps on a network, beginning at given labels: EDGES LABELS SECONDS; prints JSON."""

import json
import os
import statistics
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import graph_tool
from graph_tool.inference import BlockState

graph_tool.openmp_set_num_threads(1)
graph_tool.seed_rng(1)

edges_file, labels_file, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
name, label = zip(*(line.split("\t") for line in open(labels_file).read().splitlines()))
number = {vertex: at for at, vertex in enumerate(name)}
graph = graph_tool.Graph(directed=False)
graph.add_vertex(len(name))
lines = (line.split() for line in open(edges_file) if line[0] not in "#%")
graph.add_edge_list([(number[words[0]], number[words[1]]) for words in lines])
blocks = graph.new_vp("int", [int(text) for text in label])


def fresh():
    return BlockState(graph, b=blocks, deg_corr=False)


BATCH = 10  # sweeps from the same labels: after more of them the number of blocks would be another one


def timed(state, sweep, niter):
    began = time.process_time()
    attempts = getattr(state, sweep)(niter=niter)[1]
    return time.process_time() - began, attempts


def measure(sweep):
    """Short batches that each begin at the labels, so that the number of blocks stays near that of armix. What a
    call costs without any sweep is subtracted."""
    timed(fresh(), sweep, 1)  # the first call sets things up
    call = statistics.median(timed(fresh(), sweep, 0)[0] for _ in range(20))
    total, sweeps, attempts, after = 0.0, 0, 0, []
    while total < seconds or sweeps < 3:
        state = fresh()
        before = state.get_nonempty_B()
        niter = BATCH if sweeps else 3
        took, tried = timed(state, sweep, niter)
        total += took - call
        attempts += tried
        sweeps += niter
        after.append(state.get_nonempty_B())
    return {
        "program": "graph-tool",
        "sweep": sweep,
        "cpu_ms": 1e3 * total / sweeps,
        "sweeps": sweeps,
        "sweeps_in_batch": BATCH,
        "attempts": attempts / sweeps,
        "blocks_before": before,
        "blocks_after": sum(after) / len(after),
    }


sweeps = ["gibbs_sweep", "mcmc_sweep", "multiflip_mcmc_sweep"]
print(json.dumps({"version": graph_tool.__version__, "rows": [measure(sweep) for sweep in sweeps]}))
