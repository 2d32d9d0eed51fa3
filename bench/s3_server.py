"""Our S3 store beside other S3 servers on the same disk, interleaved in one run; figures are medians over rounds.

  s3-small   4 KiB objects over 32 connections: GET and PUT per second
  s3-large   one object of 1 GiB: GET to /dev/null, and PUT in parallel parts (signed URLs, four curls)
  s3-list    pages of 1,000 keys out of 1,000,000

Peers: nginx (files, no authentication, sendfile: what HTTP and this disk allow at best), radosgw (Ceph, with its
monitor, manager and one OSD), s3rver (npm). Every request is signed and every S3 server verifies it. All are loaded
by the same generator (bench/load), unpinned, on the same machine; a peer that cannot be had is named.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from engine import Engine  # noqa: E402

from report import Table, free_port, note, port_of, run, spread  # noqa: E402

import boto3  # noqa: E402
from botocore.config import Config  # noqa: E402

ROUNDS = 5
OBJECTS = 1000
SMALL = 4096
LARGE = 1 << 30
PART = 64 << 20
SECONDS = 2.0
KEY, SECRET = "S3RVER", "S3RVER"  # what s3rver has built in; the others are told
S3RVER = "3.7.1"
table = Table("what", "ours", "peer", "ratio, median (least..most)", "goal")


def wait_for(port, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"nothing listens on port {port}")


class Ours:
    name = "sabia"

    def __init__(self, release, work):
        home = pathlib.Path(tempfile.mkdtemp(dir=work, prefix="s3-"))
        self.engine = Engine(release / "src/cli/sabia", home / "sabia", "--log-level", "warn").start()
        self.port = port_of(self.engine)
        env = self.engine.environment()
        self.key, self.secret = env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]

    def stop(self):
        self.engine.stop()
        shutil.rmtree(self.engine.home.parent, ignore_errors=True)


class Nginx:
    """Static files. PUT is not asked of it."""
    name = "nginx"
    key, secret = KEY, SECRET

    def __init__(self, work):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=work, prefix="nginx-"))
        os.chmod(self.directory, 0o755)
        self.port = free_port()
        conf = self.directory / "nginx.conf"
        conf.write_text(f"""worker_processes 2; daemon off; pid {self.directory}/pid; error_log stderr crit;
            user root;
            events {{ worker_connections 1024; }}
            http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; open_file_cache max=4096;
              server {{ listen 127.0.0.1:{self.port}; root {self.directory}/files; }} }}""")
        (self.directory / "files/bench").mkdir(parents=True)
        self.process = subprocess.Popen(["/usr/sbin/nginx", "-c", str(conf)])
        wait_for(self.port)

    def fill(self, name, data):
        (self.directory / "files/bench" / name).write_bytes(data)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class S3rver:
    name = "s3rver"
    key, secret = KEY, SECRET

    def __init__(self, work):
        modules = work / "s3rver"
        if not (modules / "node_modules/.bin/s3rver").exists():
            modules.mkdir(exist_ok=True)
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", f"s3rver@{S3RVER}"], cwd=modules, check=True)
        self.directory = tempfile.mkdtemp(dir=work, prefix="s3rver-")
        self.port = free_port()
        self.process = subprocess.Popen(
            [modules / "node_modules/.bin/s3rver", "-d", self.directory, "-a", "127.0.0.1", "-p", str(self.port), "--silent"])
        wait_for(self.port)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class Radosgw:
    name = "radosgw"
    key, secret = "BENCHBENCHBENCHBENCH", "benchsecret"

    def __init__(self, work):
        self.directory = work / "radosgw"
        self.port = free_port()
        subprocess.run([ROOT / "bench/radosgw.sh", "start", self.directory, str(self.port), self.key, self.secret],
                       check=True, stderr=subprocess.DEVNULL)

    def stop(self):
        subprocess.run([ROOT / "bench/radosgw.sh", "stop", self.directory], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)


def client(server):
    return boto3.client("s3", endpoint_url=f"http://127.0.0.1:{server.port}", aws_access_key_id=server.key,
                        aws_secret_access_key=server.secret, region_name="us-east-1",
                        config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required",
                                      response_checksum_validation="when_required"))


class Bench:
    def __init__(self, release, work):
        self.release, self.work = pathlib.Path(release), pathlib.Path(work)

    def load(self, server, method, path, body=0, seconds=SECONDS, connections=32, query="", first=0, requests=0):
        command = [str(self.release / "bench/load"), "--port", str(server.port), "--service", "s3", "--region", "us-east-1",
                   "--method", method, "--path", path, "--query", query, "--key", server.key, "--secret", server.secret,
                   "--connections", str(connections), "--seconds", str(seconds), "--first", str(first),
                   "--requests", str(requests)]
        command += ["--body-bytes", str(body)] if body else []
        command += ["--cycle", str(OBJECTS)] if method == "GET" else []
        out = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        if out["errors"]:
            raise RuntimeError(f"{server.name}: {out['errors']} of {out['requests']} {method}s failed")
        return out

    def start_peers(self, *makers):
        servers = []
        for make in makers:
            try:
                servers.append(make(self.work))
            except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
                note(f"{make.__name__} cannot be had: {error}")
        return servers


def compare(what, figures, goals, unit):
    """figures: {server: [a figure per round]}; one row per peer."""
    ours = figures["sabia"]
    for peer, theirs in figures.items():
        if peer == "sabia":
            continue
        ratios = [a / b for a, b in zip(ours, theirs)]
        table.add(what, f"{statistics.median(ours):,.{unit[1]}f} {unit[0]}",
                  f"{peer}: {statistics.median(theirs):,.{unit[1]}f} {unit[0]}", spread(ratios), goals.get(peer, "-"))


def fsync_limit(directory, threads=32, seconds=2.0):
    """New files of 4 KiB with an fsync each, from so many threads: what durable PUTs could do without an index."""
    data, end = b"x" * SMALL, time.monotonic() + seconds

    def work(number):
        count = 0
        while time.monotonic() < end:
            path = f"{directory}/limit-{number}-{count}"
            fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
            os.write(fd, data)
            os.fsync(fd)
            os.close(fd)
            count += 1
        return count

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        total = sum(pool.map(work, range(threads)))
    for name in pathlib.Path(directory).glob("limit-*"):
        name.unlink()
    return total / seconds


def small(bench):
    ours = Ours(bench.release, bench.work)
    peers = bench.start_peers(Nginx, S3rver, Radosgw)
    servers = [ours, *peers]
    try:
        data = bytes(i * 131 % 251 for i in range(SMALL))
        for server in servers:
            if server.name == "nginx":
                for i in range(OBJECTS):
                    server.fill(f"o-{i}", data)
                continue
            client(server).create_bucket(Bucket="bench")
            bench.load(server, "PUT", "/bench/o-{n}", body=SMALL, requests=OBJECTS)
            got = client(server).get_object(Bucket="bench", Key="o-7")["Body"].read()
            if got != data:
                raise RuntimeError(f"{server.name} gave other bytes than it was given")
        gets = {server.name: [] for server in servers}
        puts = {server.name: [] for server in servers if server.name != "nginx"}
        puts["fsync of new files"] = []
        for number in range(ROUNDS):
            for server in servers:
                gets[server.name].append(bench.load(server, "GET", "/bench/o-{n}")["rate"])
            for server in servers:
                if server.name != "nginx":
                    puts[server.name].append(
                        bench.load(server, "PUT", "/bench/p-{n}", body=SMALL, first=1_000_000 * (number + 1))["rate"])
            puts["fsync of new files"].append(fsync_limit(bench.work))
        compare("GET of 4 KiB, 32 connections", gets, {"radosgw": ">= 20", "s3rver": ">= 10", "nginx": ">= 0.5"}, ("/s", 0))
        compare("PUT of 4 KiB, durable, 32 connections", puts, {"radosgw": ">= 10", "fsync of new files": ">= 0.5"}, ("/s", 0))
    finally:
        for server in servers:
            server.stop()


def get_seconds(server, s3, expected=None):
    url = (f"http://127.0.0.1:{server.port}/bench/large" if server.name == "nginx" else
           s3.generate_presigned_url("get_object", Params={"Bucket": "bench", "Key": "large"}))
    start = time.monotonic()
    if expected is None:
        subprocess.run(["curl", "-sf", "-o", "/dev/null", url], check=True)
        return time.monotonic() - start
    got = subprocess.run(f"curl -sf '{url}' | sha256sum", shell=True, check=True, capture_output=True, text=True).stdout.split()[0]
    if got != expected:
        raise RuntimeError(f"{server.name} gave other bytes than it was given")
    return time.monotonic() - start


def put_seconds(bench, s3, source):
    """In parts of 64 MiB by four curls; ends when the object is there."""
    start = time.monotonic()
    upload = s3.create_multipart_upload(Bucket="bench", Key="large")["UploadId"]

    def put(number):
        url = s3.generate_presigned_url("upload_part", Params={
            "Bucket": "bench", "Key": "large", "UploadId": upload, "PartNumber": number + 1})
        head = subprocess.run(["curl", "-sf", "-X", "PUT", "-H", "Expect:", "-T", f"{source}.{number}", "-D", "-", "-o", "/dev/null", url],
                              check=True, capture_output=True, text=True).stdout
        etag = next(line.split(":", 1)[1].strip() for line in head.splitlines() if line.lower().startswith("etag:"))
        return {"PartNumber": number + 1, "ETag": etag}

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(put, range(LARGE // PART)))
    s3.complete_multipart_upload(Bucket="bench", Key="large", UploadId=upload, MultipartUpload={"Parts": parts})
    return time.monotonic() - start


def write_limit(directory):
    """GB/s that fio writes and syncs, in files of the parts' size, four at a time."""
    out = subprocess.run(
        ["fio", "--name=limit", f"--directory={directory}", "--rw=write", "--bs=1M", f"--size={PART}", "--numjobs=16",
         "--end_fsync=1", "--group_reporting", "--output-format=json", "--ioengine=psync", "--fallocate=none", "--unlink=1"],
        check=True, capture_output=True, text=True).stdout
    return json.loads(out)["jobs"][0]["write"]["bw_bytes"] / 1e9


def large(bench):
    ours = Ours(bench.release, bench.work)
    peers = bench.start_peers(Nginx, Radosgw)
    servers = [ours, *peers]
    source = bench.work / "large.bin"
    try:
        whole, block = hashlib.sha256(), os.urandom(PART)
        with open(source, "wb") as file:
            for number in range(LARGE // PART):
                piece = number.to_bytes(8, "big") + block[8:]
                whole.update(piece)
                file.write(piece)
                pathlib.Path(f"{source}.{number}").write_bytes(piece)
        clients = {server.name: client(server) for server in servers}
        gets = {server.name: [] for server in servers}
        puts = {"sabia": [], **{server.name: [] for server in peers if server.name != "nginx"}, "fio": []}
        for server in servers:
            if server.name != "nginx":
                clients[server.name].create_bucket(Bucket="bench")
        for number in range(ROUNDS):
            for server in servers:
                if server.name == "nginx":
                    if number == 0:
                        shutil.copy(source, server.directory / "files/bench/large")
                    continue
                puts[server.name].append(LARGE / 1e9 / put_seconds(bench, clients[server.name], source))
            puts["fio"].append(write_limit(bench.work))
            for server in servers:
                if number == 0:
                    get_seconds(server, clients[server.name], whole.hexdigest())
                gets[server.name].append(LARGE / 1e9 / get_seconds(server, clients[server.name]))
        compare("GET of 1 GiB", gets, {"radosgw": ">= 2.5", "nginx": ">= 0.9"}, ("GB/s", 2))
        compare("PUT of 1 GiB in parts, durable", puts, {"radosgw": ">= 5", "fio": ">= 0.8"}, ("GB/s", 2))
    finally:
        for file in bench.work.glob("large.bin*"):
            file.unlink()
        for server in servers:
            server.stop()


def listing(bench):
    home = pathlib.Path(tempfile.mkdtemp(dir=bench.work, prefix="million-")) / "sabia"
    home.mkdir()
    note("filling the index with 1,000,000 keys ...")
    subprocess.run([bench.release / "bench/objects_bench", "--home", home, "--puts", "32"], check=True, stdout=sys.stderr)
    engine = Engine(bench.release / "src/cli/sabia", home, "--log-level", "warn").start()
    try:
        env = engine.environment()
        server = type("Server", (), {"name": "sabia", "port": port_of(engine),
                                     "key": env["AWS_ACCESS_KEY_ID"], "secret": env["AWS_SECRET_ACCESS_KEY"]})
        for what, query in (("1,000 keys of 1,000,000", "list-type=2&prefix=data%2Fpart-500%2F"),
                            ("1,000 common prefixes of 1,000,000 keys", "delimiter=%2F&list-type=2&prefix=data%2F")):
            got = bench.load(server, "GET", "/million", query=query, connections=1, requests=300)
            table.add(f"LIST of {what}, p50 / p99", f"{got['p50_us'] / 1000:.2f} / {got['p99_us'] / 1000:.2f} ms", "-", "-",
                      "<= 2 ms")
    finally:
        engine.stop()
        shutil.rmtree(home.parent, ignore_errors=True)


SECTIONS = {"s3-small": small, "s3-large": large, "s3-list": listing}


if __name__ == "__main__":
    os.environ["CURL_CA_BUNDLE"] = ""
    run(SECTIONS, table, lambda section, release, work: section(Bench(release, work)))
