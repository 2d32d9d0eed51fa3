#!/usr/bin/env bash
# A Ceph of one monitor, one manager, one OSD (BlueStore in a file) and one radosgw, for benchmarks only:
#   bench/radosgw.sh start DIRECTORY PORT ACCESS_KEY SECRET | stop DIRECTORY
# Ready in about a minute. Needs root and the Debian packages radosgw, ceph-mon, ceph-mgr, ceph-osd, ceph-common.
set -euo pipefail

stop() {
  local pid
  for pid in "$1"/*.pid; do
    [ -f "$pid" ] && kill -9 "$(cat "$pid")" 2>/dev/null || true
  done
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

start() {
  local dir=$1 port=$2 key=$3 secret=$4 fsid v2 v1
  rm -rf "$dir" && mkdir -p "$dir"/{mon,mgr,osd,rgw}
  dir=$(cd "$dir" && pwd)
  fsid=$(cat /proc/sys/kernel/random/uuid) v2=$(free_port) v1=$(free_port)
  cat >"$dir/ceph.conf" <<END
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:$v2,v1:127.0.0.1:$v1]
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = $dir/\$name.keyring
admin socket = $dir/\$name.asok
pid file = $dir/\$name.pid
log file = $dir/\$name.log
run dir = $dir
public addr = 127.0.0.1
cluster addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail crit = 1
mgr initial modules =
[mon]
mon data = $dir/mon
[mgr]
mgr data = $dir/mgr
[osd]
osd data = $dir/osd
osd objectstore = bluestore
bluestore block size = 12884901888
[client.rgw]
rgw data = $dir/rgw
rgw frontends = beast endpoint=127.0.0.1:$port
rgw enable usage log = false
rgw enable ops log = false
END
  local ceph=(ceph --conf "$dir/ceph.conf")
  ceph-authtool --create-keyring "$dir/mon..keyring" --gen-key -n mon. --cap mon 'allow *' >/dev/null
  ceph-authtool --create-keyring "$dir/client.admin.keyring" --gen-key -n client.admin \
    --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' >/dev/null
  ceph-authtool "$dir/mon..keyring" --import-keyring "$dir/client.admin.keyring" >/dev/null
  monmaptool --create --addv a "[v2:127.0.0.1:$v2,v1:127.0.0.1:$v1]" --fsid "$fsid" "$dir/monmap" >/dev/null
  ceph-mon --conf "$dir/ceph.conf" --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/mon..keyring"
  cp "$dir/mon..keyring" "$dir/mon/keyring"
  ceph-mon --conf "$dir/ceph.conf" -i a
  "${ceph[@]}" auth get-or-create mgr.x mon 'allow profile mgr' osd 'allow *' -o "$dir/mgr.x.keyring"
  ceph-mgr --conf "$dir/ceph.conf" -i x
  local uuid
  uuid=$(cat /proc/sys/kernel/random/uuid)
  "${ceph[@]}" osd new "$uuid" >/dev/null
  "${ceph[@]}" auth get-or-create osd.0 mon 'allow profile osd' mgr 'allow profile osd' osd 'allow *' -o "$dir/osd.0.keyring"
  ceph-osd --conf "$dir/ceph.conf" -i 0 --mkfs --osd-uuid "$uuid" >/dev/null 2>&1
  ceph-osd --conf "$dir/ceph.conf" -i 0
  "${ceph[@]}" auth get-or-create client.rgw mon 'allow rw' osd 'allow rwx' -o "$dir/client.rgw.keyring"
  radosgw --conf "$dir/ceph.conf" -n client.rgw
  for _ in $(seq 240); do
    curl -s -o "$dir/answer" "http://127.0.0.1:$port/" && break
    sleep 0.5
  done
  radosgw-admin --conf "$dir/ceph.conf" user create --uid bench --display-name bench --access-key "$key" \
    --secret-key "$secret" >/dev/null
}

case "${1:-}" in
  start) start "${@:2}" ;;
  stop) stop "$2" ;;
  *) echo "usage: bench/radosgw.sh start DIRECTORY PORT ACCESS_KEY SECRET | stop DIRECTORY" >&2; exit 2 ;;
esac
