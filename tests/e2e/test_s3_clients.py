"""Stock S3 clients that are not SDKs: rclone and s3fs, as a user would point them at the engine."""
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import time

import pytest

AWKWARD = ["plain.txt", "with space & plus+.txt", "percent%41.txt", "ünïcode/鍵.txt", "deep/er/and/deeper.bin", "empty"]


@pytest.fixture
def bucket(engine, name):
    s3 = engine.client("s3")
    made = name.lower()
    s3.create_bucket(Bucket=made, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    return made


@pytest.fixture
def tree(tmp_path):
    """Files of awkward names and one that needs several parts."""
    chance, root = random.Random(7), tmp_path / "tree"
    for number, name in enumerate(AWKWARD):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if name == "empty" else chance.randbytes(1000 + number))
    (root / "large.bin").write_bytes(chance.randbytes(23_000_000))
    return root


def digests(root):
    root = pathlib.Path(root)
    return {str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(root.rglob("*")) if p.is_file()}


@pytest.fixture
def rclone(engine, tmp_path):
    if shutil.which("rclone") is None:
        pytest.skip("rclone is not installed")
    env = engine.environment()
    config = tmp_path / "rclone.conf"
    config.write_text(f"[sabia]\ntype = s3\nprovider = Other\nenv_auth = true\nregion = us-west-2\n"
                      f"endpoint = {env['AWS_ENDPOINT_URL']}\nforce_path_style = true\nchunk_size = 5Mi\nupload_cutoff = 10Mi\n")
    env.pop("AWS_CA_BUNDLE", None)  # rclone refuses it for an endpoint without TLS

    def run(*arguments, check=True):
        done = subprocess.run(["rclone", "--config", str(config), "--retries", "1", *map(str, arguments)], env=env,
                              capture_output=True, text=True, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"rclone {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}")
        return done

    return run


def test_rclone_copies_syncs_and_checks(rclone, bucket, tree, tmp_path):
    remote = f"sabia:{bucket}/pre"
    rclone("copy", tree, remote)
    assert "0 differences found" in rclone("check", "--download", tree, remote).stderr
    listed = rclone("lsf", "--recursive", "--files-only", remote).stdout.splitlines()
    assert sorted(listed) == sorted(digests(tree))
    # A second run has nothing to do: sizes, times and hashes are as they were given.
    assert "There was nothing to transfer" in rclone("copy", "-v", tree, remote).stderr
    (tree / "plain.txt").write_bytes(b"changed")
    (tree / "empty").unlink()
    rclone("sync", tree, remote)
    rclone("copy", remote, tmp_path / "back")
    assert digests(tmp_path / "back") == digests(tree)
    # Copies within the server, with parts; moving; a byte range.
    rclone("copy", "--s3-copy-cutoff", "10Mi", remote, f"sabia:{bucket}/other")
    assert "0 differences found" in rclone("check", remote, f"sabia:{bucket}/other").stderr
    rclone("moveto", f"{remote}/plain.txt", f"{remote}/moved.txt")
    assert rclone("cat", "--offset", "2", "--count", "3", f"{remote}/moved.txt").stdout == "ang"
    size = rclone("size", "--json", remote).stdout
    assert f'"count":{len(digests(tree))}' in size
    rclone("purge", f"sabia:{bucket}")
    assert bucket not in rclone("lsd", "sabia:").stdout


@pytest.fixture
def mounted(engine, bucket, tmp_path):
    if shutil.which("s3fs") is None or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("s3fs or /dev/fuse is not to be had")
    env = engine.environment()
    passwords, directory = tmp_path / "passwd", tmp_path / "mnt"
    passwords.write_text(f"{env['AWS_ACCESS_KEY_ID']}:{env['AWS_SECRET_ACCESS_KEY']}")
    passwords.chmod(0o600)
    directory.mkdir()
    process = subprocess.Popen(
        ["s3fs", bucket, str(directory), "-f", "-o", f"url={env['AWS_ENDPOINT_URL']}", "-o", "use_path_request_style",
         "-o", f"passwd_file={passwords}", "-o", "endpoint=us-west-2", "-o", "multipart_size=5", "-o", "nomixupload"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={k: v for k, v in env.items() if not k.startswith("AWS_")})
    deadline = time.monotonic() + 30
    while not os.path.ismount(directory):
        assert process.poll() is None and time.monotonic() < deadline, "s3fs did not mount"
        time.sleep(0.05)
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=False)
    process.terminate()
    process.wait(20)


def test_s3fs_reads_and_writes_a_bucket(engine, bucket, mounted, tree):
    shutil.copytree(tree, mounted / "tree", copy_function=shutil.copyfile)
    assert digests(mounted / "tree") == digests(tree)
    s3 = engine.client("s3")
    body = s3.get_object(Bucket=bucket, Key="tree/large.bin")["Body"].read()
    assert hashlib.sha256(body).hexdigest() == digests(tree)["large.bin"]
    # What others put appears; seeking reads ranges; renaming copies on the server; removing removes.
    s3.put_object(Bucket=bucket, Key="from-outside", Body=bytes(range(256)) * 100)
    with open(mounted / "from-outside", "rb") as file:
        file.seek(25_000)
        assert file.read(4) == bytes((25_000 + i) % 256 for i in range(4))
    os.rename(mounted / "tree/large.bin", mounted / "tree/renamed.bin")
    assert s3.head_object(Bucket=bucket, Key="tree/renamed.bin")["ContentLength"] == 23_000_000
    os.unlink(mounted / "tree/plain.txt")
    assert "tree/plain.txt" not in [o["Key"] for o in s3.list_objects_v2(Bucket=bucket)["Contents"]]
