"""Runs armix and its peers one after another on the same data and blocks, and prints the ratios of their CPU times."""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

here = Path(__file__).parent
options = argparse.ArgumentParser()
for option in ["--armix", "--graph-tool", "--lace", "--folder", "--json"]:
    options.add_argument(option, required=True)
options.add_argument("--rounds", default=5, type=int, help="peer and armix take turns so often; medians are reported")
options.add_argument("--seconds", default=0.3, type=float, help="CPU seconds for each kind of sweep in each round")
options.add_argument("--shared", default="../shared/data/networks", help="folder with football.edges, polblogs_gcc.edges")
args = options.parse_args()
folder = Path(args.folder)

# What each sweep of a peer is compared with: the move of armix that does most nearly the same.
COUNTERPART = {"multiflip_mcmc_sweep": "arm", "sams": "sams"}


def output(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{done.stderr}")
    return done.stdout


def peer(python, script, *arguments):
    """What a peer measured; nothing if it is not installed."""
    module = {"graph_tool_sweeps.py": "graph_tool", "lace_rows.py": "lace"}[script]
    there = shutil.which(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True)
    if not there or there.returncode != 0:
        print(f"SKIPPED: {module} is not installed for {python}", file=sys.stderr)
        return None
    return json.loads(output(python, here / script, *arguments, args.seconds))


def bench(data, labels):
    """The costs of armix's moves, beginning at the labels."""
    moves = ["--moves", "gibbs,arm,arm-cells,sm,sams", "--seconds", args.seconds]
    report = json.loads(output(args.armix, "bench", data, "--start", labels, "--warmup", 0, "--json", *moves))
    return report["data"][0]


def compare(data, measured, armix):
    """A row for each sweep of the peer, beside that of armix."""
    moves = {move["move"]: move for move in armix["moves"]}
    for row in measured["rows"]:
        ours = moves[COUNTERPART.get(row["sweep"], "gibbs")]
        row |= {"data": data, "n": armix["n"], "version": measured["version"]}
        row |= {"armix_move": ours["move"], "armix_cpu_ms": ours["cpu_ms"], "armix_blocks": ours["blocks"]}
        row["ratio"] = row["cpu_ms"] / ours["cpu_ms"]
        if row["sweep"] == "gibbs_sweep":
            # An attempt is a candidate weighed: time for each does not depend on the number of blocks.
            row["blocks"] = row["attempts"] / armix["n"] - 1
            row["ns_per_candidate"] = 1e6 * row["cpu_ms"] / row["attempts"]
            row["armix_ns_per_candidate"] = 1e9 / ours["work_per_second"]
            row["ratio_per_candidate"] = row["ns_per_candidate"] / row["armix_ns_per_candidate"]
    return measured["rows"]


def median(rounds):
    """One row for several rounds: medians of the numbers, and how far the ratios lie apart."""
    row = {key: value if isinstance(value, str) else statistics.median(r[key] for r in rounds)
           for key, value in rounds[0].items()}
    ratios = [r["ratio"] for r in rounds]
    return row | {"ratio_lowest": min(ratios), "ratio_highest": max(ratios)}


def turns(name, python, script, data, labels):
    """Peer and armix in turns, so that what disturbs the machine disturbs both alike."""
    rounds = []
    for _ in range(args.rounds):
        measured = peer(python, script, data, labels)
        if measured is None:
            return []
        rounds.append(compare(name, measured, bench(data, labels)))
    return [median(rows) for rows in zip(*rounds)]


def labels_of(data, path):
    """The best partition of a short run, as names and labels."""
    fit = ["fit", data, "--no-save", "--quiet", "--json", "--ensembles", 1, "--chains", 4, "--iterations", 300]
    summary = json.loads(output(args.armix, *fit, "--max-time", "20s"))
    pairs = zip(summary["items"], summary["best_partition"])
    path.write_text("".join(f"{name}\t{label}\n" for name, label in pairs))


found = []
networks = {"karate": folder / "karate.edges"}
output(args.armix, "convert", "karate", networks["karate"])
for name in ["football", "polblogs_gcc"]:
    path = Path(args.shared) / f"{name}.edges"
    if path.exists():
        networks[name] = path
    else:
        print(f"SKIPPED: {name}: there is no {path}", file=sys.stderr)
for name, edges in networks.items():
    print(f"{name} …", file=sys.stderr)
    labels = folder / f"{name}.labels.tsv"
    labels_of(edges, labels)
    found += turns(name, args.graph_tool, "graph_tool_sweeps.py", edges, labels)

print("bernoulli-1 …", file=sys.stderr)
table, labels = folder / "bernoulli-1.csv", folder / "bernoulli-1.labels"
output(args.armix, "convert", "bernoulli-1", table)
found += turns("bernoulli-1", args.lace, "lace_rows.py", table, labels)

version = output(args.armix, "--version").strip()
report = {"armix": version, "rounds": args.rounds, "seconds": args.seconds, "rows": found}
Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
print(f"{'data':13}{'peer':32}{'ms':>8}{'blocks':>10}  {'armix':6}{'ms':>8}{'blocks':>7}{'ratio':>7}{'from – to':>15}{'same K':>8}")
for row in found:
    blocks = f"{row['blocks_before']:.0f} → {row['blocks_after']:.3g}"
    apart = f"{row['ratio_lowest']:.2f} – {row['ratio_highest']:.2f}"
    same = f"{row['ratio_per_candidate']:.2f}" if "ratio_per_candidate" in row else ""
    line = (
        f"{row['data']:13}{row['program'] + ' ' + row['sweep']:32}{row['cpu_ms']:>8.3g}{blocks:>10}  "
        f"{row['armix_move']:6}{row['armix_cpu_ms']:>8.3g}{row['armix_blocks']:>7.1f}{row['ratio']:>7.2f}{apart:>15}{same:>8}"
    )
    print(line.rstrip())
print("CPU time of one sweep on one thread; ratio: the peer's time in that of armix, the median of all rounds, and from – to;")
print("same K: the ratio for each candidate weighed")
