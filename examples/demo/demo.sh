#!/usr/bin/env bash
# A whole managed spot training job, through the public API with the distribution's boto3: examples/demo/demo.sh SABIA
# SABIA is the binary that `make build` leaves. `make demo` calls this. State goes to build/demo, fresh each time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
sabia=$(realpath "${1:?the sabia binary}")
home=$root/build/demo/home
rm -rf "$root/build/demo"
mkdir -p "$root/build/demo"

# The notice before a spot instance ends is two minutes, as on EC2; the job needs a fraction of a second of it.
"$sabia" --home "$home" serve --port 0 --tls-port 0 >"$root/build/demo/serve.log" 2>&1 &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true' EXIT
for ((i = 0; i < 300; ++i)); do
  if exports=$("$sabia" --home "$home" env 2>/dev/null); then break; fi
  if ! kill -0 "$daemon" 2>/dev/null; then
    echo "sabia serve ended:" >&2
    cat "$root/build/demo/serve.log" >&2
    exit 1
  fi
  sleep 0.1
done
eval "${exports:?sabia serve is not ready after 30 s; see build/demo/serve.log}"

/usr/bin/python3 "$root/examples/demo/demo.py" "$sabia" "$home" "$root/build/demo"
