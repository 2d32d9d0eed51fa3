"""sabia fsck on a real home: after kill -9, after a flipped bit, and while a daemon runs."""
import json
import os
import subprocess

import pytest


def fsck(engine, *arguments):
    run = engine.sabia("fsck", "--json", "--quiet", *arguments, check=False)
    return run.returncode, json.loads(run.stdout) if run.stdout else run.stderr


def blob_with(engine, content):
    for directory, _, names in os.walk(engine.home / "blobs"):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                if file.read() == content:
                    return path
    raise AssertionError("no file has these bytes")


def flip(path, offset):
    os.chmod(path, 0o644)
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 0x10]))


def test_a_running_daemon_is_in_the_way(engine):
    run = engine.sabia("fsck", check=False)
    assert run.returncode == 1
    assert str(engine.process.pid) in run.stderr and "stop it first" in run.stderr


def test_no_home_is_an_error_and_none_is_made(binary, tmp_path):
    run = subprocess.run([str(binary), "--home", str(tmp_path / "none"), "fsck"], capture_output=True, text=True)
    assert run.returncode == 1 and "is not a home" in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_kill_9_leaves_no_problems(fresh_engine):
    engine = fresh_engine()
    s3 = engine.client("s3")
    s3.create_bucket(Bucket="bkt", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_bucket_versioning(Bucket="bkt", VersioningConfiguration={"Status": "Enabled"})
    for i in range(20):
        s3.put_object(Bucket="bkt", Key=f"k{i % 7}", Body=os.urandom(5000 + i))
    upload = s3.create_multipart_upload(Bucket="bkt", Key="parts")["UploadId"]
    s3.upload_part(Bucket="bkt", Key="parts", UploadId=upload, PartNumber=1, Body=os.urandom(6 << 20))
    engine.kill()
    # What an upload leaves that was cut off before its commit.
    (engine.home / "blobs/tmp" / ("0" * 32)).write_bytes(b"never acknowledged")
    code, report = fsck(engine)
    assert code == 0, report
    assert (report["Objects"], report["OlderVersions"], report["Parts"]) == (7, 13, 1)
    assert report["BytesRead"] > 6 << 20
    assert [f["Kind"] for f in report["Findings"]] == ["left-over"]
    text = engine.sabia("fsck", "--quiet").stdout
    assert "no problems" in text and "checked 7 objects, 13 older versions, 1 parts" in text
    engine.start()
    assert fsck(engine)[0] == 1
    engine.kill()
    assert fsck(engine)[1]["Findings"] == []


def test_a_flipped_bit_is_found_repaired_and_put_back(fresh_engine):
    engine = fresh_engine()
    s3 = engine.client("s3")
    s3.create_bucket(Bucket="bkt", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    good, bad = os.urandom(100_000), os.urandom(100_000)
    s3.put_object(Bucket="bkt", Key="good", Body=good)
    s3.put_object(Bucket="bkt", Key="bad", Body=bad, Metadata={"colour": "red"})
    engine.kill()
    flip(blob_with(engine, bad), 77_777)
    code, report = fsck(engine)
    assert code == 4, report
    assert [(f["Kind"], f["Bucket"], f["Key"]) for f in report["Findings"]] == [("damaged", "bkt", "bad")]
    assert "ETag" in report["Findings"][0]["Detail"]
    assert fsck(engine)[0] == 4, "nothing was changed"
    assert fsck(engine, "--quick")[0] == 0, "the size is right"

    code, report = fsck(engine, "--repair")
    assert code == 5 and report["ProblemsLeft"] == 0, report
    kept = report["LostAndFound"]
    lines = [json.loads(line) for line in open(os.path.join(kept, "report.jsonl"))]
    assert [line["Key"] for line in lines] == ["bad"] and "red" in lines[0]["Row"]["metadata"]
    with open(os.path.join(kept, lines[0]["Blob"]), "rb") as file:
        assert len(file.read()) == 100_000
    assert fsck(engine)[0] == 0

    engine.start()
    s3 = engine.client("s3")
    assert s3.get_object(Bucket="bkt", Key="good")["Body"].read() == good
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket="bkt", Key="bad")
    s3.upload_file(os.path.join(kept, lines[0]["Blob"]), "bkt", "bad")
    engine.kill()
    assert fsck(engine)[0] == 0


def test_lost_files_and_strangers(fresh_engine):
    engine = fresh_engine()
    s3 = engine.client("s3")
    s3.create_bucket(Bucket="bkt", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    content = os.urandom(100_000)  # smaller ones have their bytes in the index for a while
    s3.put_object(Bucket="bkt", Key="gone", Body=content)
    engine.kill()
    os.unlink(blob_with(engine, content))
    (engine.home / "blobs/notes.txt").write_text("who put me here?")
    run = engine.sabia("fsck", check=False)
    assert run.returncode == 4
    assert "missing: s3://bkt/gone" in run.stdout and "stranger: blobs/notes.txt" in run.stdout
    assert "2 problems" in run.stdout
    assert engine.sabia("fsck", "--repair", check=False).returncode == 5
    assert engine.sabia("fsck").returncode == 0
