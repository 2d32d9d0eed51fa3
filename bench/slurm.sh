#!/usr/bin/env bash
# A private Slurm (munge, slurmctld, slurmd) below a directory, as the peer of job latency and throughput.
# Usage: bench/slurm.sh start DIR [PLACES] | stop DIR. After start, `SLURM_CONF=DIR/slurm.conf srun …` works.
# Configuration: what makes Slurm quick on one node. Its jobs mostly wait inside Slurm: with 16 places for jobs, 17 to 26
# trivial array jobs end per second while the processors are idle two thirds of the time. So the node says that it has
# 512 processors unless PLACES says otherwise (64: 48 jobs/s, 256 and more: 58 to 91, and then the processors are busy).
# No accounting, no delay
# between scheduling rounds, pgid for tracking, no logs. Tried without gain: state in memory, select/linear,
# sched/builtin, defer; with a minimal interval between rounds it was slower, and so were many sruns at once (12 to 20).
set -euo pipefail
action=${1:?start or stop} dir=${2:?directory} places=${3:-512}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

case $action in
start)
  host=$(hostname -s)
  getent hosts "$host" >/dev/null || echo "127.0.0.1 $host" >>/etc/hosts
  ports=$(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))')
  read -r ctld_port slurmd_port <<<"$ports"
  mkdir -p "$dir"/{state,spool,munge}
  chmod 700 "$dir/munge"
  head -c 1024 /dev/urandom >"$dir/munge/key"
  chmod 600 "$dir/munge/key"
  chmod 755 "$dir"
  munged --key-file="$dir/munge/key" --socket="$dir/munge.sock" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" --force
  cat >"$dir/slurm.conf" <<CONF
ClusterName=bench
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$ctld_port
SlurmdPort=$slurmd_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.sock
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SlurmctldDebug=error
SlurmdDebug=error
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,default_queue_depth=10000,partition_job_depth=10000,bf_interval=1,sched_max_job_start=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
MaxJobCount=100000
MinJobAge=10
NodeName=$host NodeAddr=127.0.0.1 CPUs=$places State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$dir/slurm.conf
  slurmctld -f "$SLURM_CONF" -c
  slurmd -f "$SLURM_CONF"
  for _ in $(seq 300); do
    srun --quiet /bin/true 2>/dev/null && exit 0
    sleep 0.1
  done
  echo "slurm did not come up; see $dir/*.log" >&2
  exit 1
  ;;
stop)
  for pid in "$dir/slurmd.pid" "$dir/slurmctld.pid" "$dir/munge/pid"; do
    [ -f "$pid" ] && kill "$(cat "$pid")" 2>/dev/null || true
  done
  ;;
*)
  echo "usage: bench/slurm.sh start|stop DIR" >&2
  exit 2
  ;;
esac
