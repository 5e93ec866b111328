#!/bin/bash
# A run of armix over several machines with Slurm: sbatch examples/slurm.sh DATA RUN [options of armix fit]
# It stops in good time, saves, and queues itself again until all iterations are done; what is killed is
# continued from its last checkpoint, to the same bytes.
#SBATCH --job-name=armix
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=2
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -uo pipefail

data=${1:?usage: sbatch slurm.sh DATA RUN [options of armix fit]}
run=${2:?usage: sbatch slurm.sh DATA RUN [options of armix fit]}
shift 2
# Less than --time, by more than the longest iteration and a checkpoint take.
going=(--max-time "${ARMIX_MAX_TIME:-3.75h}" --checkpoint-every 5m --threads "${SLURM_CPUS_PER_TASK:-1}" --no-report)
# With Slurm, srun starts the ranks; --mpi must be what this MPI was built for (srun --mpi=list).
launch=${ARMIX_LAUNCH:-srun --mpi=pmix}

if [ -e "$run/run.json" ]; then
  $launch armix resume "$run" "${going[@]}"
else
  $launch armix fit "$data" --out "$run" "$@" "${going[@]}"
fi
code=$?
[ $code = 0 ] || exit $code

# Not done yet? Then this job goes back to the queue. Pictures and verdicts need one process.
if armix show "$run" --json 2>/dev/null | grep -q '"interrupted":false'; then
  armix report "$run"
else
  ${ARMIX_REQUEUE:-scontrol requeue "${SLURM_JOB_ID:-}"}
fi
