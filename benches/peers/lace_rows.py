"""CPU time of lace's row kernels on a binary table with all columns in one view: CSV LABELS SECONDS; prints JSON.

lace cannot be started from given labels: it runs for a while, and its labels are written for armix to start from."""

import json
import os
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
import lace
import polars

table, labels_file, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
cells = polars.read_csv(table)
ids = {"ID": [str(row) for row in range(cells.height)]}
columns = {name: cells[name].cast(polars.Utf8) for name in cells.columns}  # text makes them categorical
engine = lace.Engine.from_df(polars.DataFrame(ids | columns), n_states=1, rng_seed=1, flat_columns=True)
engine.update(500, transitions="flat", quiet=True)


def rows():
    (view,) = engine.row_assignments(0)  # one view: all columns are in it
    return view


open(labels_file, "w").writelines(f"{label}\n" for label in rows())


def measure(kernel):
    transitions = [lace.StateTransition.row_assignment(getattr(lace.RowKernel, kernel)())]
    total, sweeps, blocks = 0.0, 0, [max(rows()) + 1]
    while total < seconds:
        began = time.process_time()
        engine.update(50, transitions=transitions, quiet=True)
        total += time.process_time() - began
        sweeps += 50
        blocks.append(len(set(rows())))
    return {
        "program": "lace",
        "sweep": kernel,
        "cpu_ms": 1e3 * total / sweeps,
        "sweeps": sweeps,
        "blocks_before": blocks[0],
        "blocks_after": blocks[-1],
        "blocks": sum(blocks) / len(blocks),
    }


kernels = [name for name in ["gibbs", "slice", "sams"] if hasattr(lace.RowKernel, name)]
print(json.dumps({"version": lace.__version__, "rows": [measure(kernel) for kernel in kernels]}))
