"""Warm pools with boto3: instances that a job leaves and the next one takes, and how that ends."""
import time

import pytest
from botocore.exceptions import ClientError

POLL_SECONDS = 0.05


def resources(keep_alive=600, **changes):
    return {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1,
            "KeepAlivePeriodInSeconds": keep_alive, **changes}


def shell(script):
    return {"TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
            "ContainerEntrypoint": ["/bin/sh", "-c"], "ContainerArguments": [script]}


def run(engine, name, script="true", keep_alive=600, **changes):
    resource_changes = changes.pop("resources", {})
    engine.client("sagemaker").create_training_job(**engine.request(
        name, AlgorithmSpecification=shell(script), ResourceConfig=resources(keep_alive, **resource_changes),
        **changes))
    return engine.wait(name)


def pool(engine, name):
    return engine.client("sagemaker").describe_training_job(TrainingJobName=name).get("WarmPoolStatus", {})


def await_pool(engine, name, status, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if pool(engine, name).get("Status") == status:
            return pool(engine, name)
        time.sleep(POLL_SECONDS)
    pytest.fail(f"the pool of {name} is {pool(engine, name)}, not {status}")


def message(engine, name):
    described = engine.client("sagemaker").describe_training_job(TrainingJobName=name)
    return described["SecondaryStatusTransitions"][-1]["StatusMessage"]


def end(engine, name):
    engine.client("sagemaker").update_training_job(TrainingJobName=name, ResourceConfig={"KeepAlivePeriodInSeconds": 0})
    await_pool(engine, name, "Terminated")


def refused(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return error.value.response["Error"]["Code"], error.value.response["Error"]["Message"]


def test_the_next_job_takes_the_instances(engine, name):
    first, second = name + "-1", name + "-2"
    described = run(engine, first, "echo secret >/opt/ml/model/left; echo x >/tmp/left; env >/root/left; "
                    "echo kept >/opt/ml/sagemaker/warmpoolcache/note; echo pip >~/.cache/pip/note; sleep 1000 & true")
    assert described["TrainingJobStatus"] == "Completed"
    assert pool(engine, first)["Status"] == "Available"
    assert message(engine, first) == "Resource retained for reuse"
    run(engine, second, "find /opt/ml /tmp /root -name left; cat /opt/ml/sagemaker/warmpoolcache/note ~/.cache/pip/note; "
        "ls /proc | grep -c '^[0-9]'; cat /opt/ml/input/config/trainingjobconfig.json; echo; echo $TRAINING_JOB_NAME")
    taken = pool(engine, first)
    assert (taken["Status"], taken["ReusedByJob"]) == ("Reused", second)
    assert taken["ResourceRetainedBillableTimeInSeconds"] >= 0
    assert message(engine, first) == "Resource reused by training job: " + second
    assert pool(engine, second)["Status"] == "Available", "with the keep-alive of the second job"
    lines = engine.lines(second)
    assert lines[:2] == ["kept", "pip"], "only the caches are handed on"
    assert int(lines[2]) <= 6, "nothing of the first job runs"
    assert second in lines[3] and first not in lines[3]
    assert lines[4] == second
    end(engine, second)


def test_a_pool_on_which_a_job_runs_is_in_use(engine, name):
    first, second = name + "-1", name + "-2"
    run(engine, first)
    engine.client("sagemaker").create_training_job(**engine.request(
        second, AlgorithmSpecification=shell("sleep 1000"), ResourceConfig=resources(0)))
    await_pool(engine, second, "InUse")
    engine.client("sagemaker").stop_training_job(TrainingJobName=second)
    assert engine.wait(second)["TrainingJobStatus"] == "Stopped"
    assert pool(engine, second)["Status"] == "Terminated", "it keeps nothing alive itself"


def test_a_stopped_and_a_failed_job_leave_their_instances(engine, name):
    failed, stopped = name + "-f", name + "-s"
    assert run(engine, failed, "exit 3")["TrainingJobStatus"] == "Failed"
    assert pool(engine, failed)["Status"] == "Available"
    engine.client("sagemaker").create_training_job(**engine.request(
        stopped, AlgorithmSpecification=shell("sleep 1000"), ResourceConfig=resources()))
    await_pool(engine, stopped, "InUse")
    engine.client("sagemaker").stop_training_job(TrainingJobName=stopped)
    engine.wait(stopped)
    assert await_pool(engine, stopped, "Available")
    end(engine, stopped)


def test_all_hosts_of_a_gang_go_on(engine, name):
    first, second = name + "-1", name + "-2"
    two = {"InstanceCount": 2}
    run(engine, first, "echo kept >/opt/ml/sagemaker/warmpoolcache/note", resources=two)
    assert pool(engine, first)["Status"] == "Available"
    described = run(engine, second, "test -s /opt/ml/sagemaker/warmpoolcache/note", resources=two)
    assert described["TrainingJobStatus"] == "Completed", described.get("FailureReason")
    assert pool(engine, first)["ReusedByJob"] == second
    end(engine, second)


def test_a_near_miss_names_the_field(engine, name):
    first, other = name + "-1", name + "-2"
    run(engine, first)
    run(engine, other, keep_alive=0, resources={"VolumeSizeInGB": 2})
    assert pool(engine, first)["Status"] == "Available"
    assert pool(engine, other) == {}
    told = engine.sabia("jobs", other).stdout
    assert f"the one of training job '{first}' differs in VolumeSizeInGB ('1' there, '2' here)" in told
    end(engine, first)


def test_a_job_that_came_before_the_end_starts_cold(engine, name):
    first, early = name + "-1", name + "-2"
    sagemaker = engine.client("sagemaker")
    sagemaker.create_training_job(**engine.request(first, AlgorithmSpecification=shell("sleep 1000"),
                                                   ResourceConfig=resources()))
    run(engine, early)
    assert pool(engine, early)["Status"] == "Available", "its own instances"
    sagemaker.stop_training_job(TrainingJobName=first)
    engine.wait(first)
    await_pool(engine, first, "Available")
    end(engine, first)
    end(engine, early)


def test_expires(engine, name):
    run(engine, name, keep_alive=2)
    ended = await_pool(engine, name, "Terminated")
    assert ended["ResourceRetainedBillableTimeInSeconds"] == 2
    assert message(engine, name) == "Resource released due to keep alive period expiry"


def test_update_and_delete(engine, name):
    sagemaker = engine.client("sagemaker")
    run(engine, name)
    code, text = refused(sagemaker.delete_training_job, TrainingJobName=name)
    assert code == "ResourceInUse" and "warm pool" in text
    sagemaker.update_training_job(TrainingJobName=name, ResourceConfig={"KeepAlivePeriodInSeconds": 1200})
    described = sagemaker.describe_training_job(TrainingJobName=name)
    assert described["ResourceConfig"]["KeepAlivePeriodInSeconds"] == 1200
    assert described["WarmPoolStatus"]["Status"] == "Available"
    end(engine, name)
    code, text = refused(sagemaker.update_training_job, TrainingJobName=name,
                         ResourceConfig={"KeepAlivePeriodInSeconds": 60})
    assert code == "ValidationException" and "Available" in text
    sagemaker.delete_training_job(TrainingJobName=name)


def test_list_by_status(engine, name):
    sagemaker = engine.client("sagemaker")
    first, second = name + "-1", name + "-2"
    run(engine, first)
    run(engine, second)

    def names(status):
        pages = sagemaker.get_paginator("list_training_jobs").paginate(WarmPoolStatusEquals=status, NameContains=name)
        return [job["TrainingJobName"] for page in pages for job in page["TrainingJobSummaries"]]

    assert names("Available") == [second]
    assert names("Reused") == [first]
    assert names("InUse") == []
    end(engine, second)
    assert names("Terminated") == [second]


@pytest.mark.parametrize("changes", [
    {"EnableManagedSpotTraining": True, "ResourceConfig": resources()},
    {"ResourceConfig": {"VolumeSizeInGB": 1, "KeepAlivePeriodInSeconds": 60, "InstanceGroups": [
        {"InstanceGroupName": "a", "InstanceType": "ml.m5.large", "InstanceCount": 1}]}},
], ids=["spot", "groups"])
def test_refused_with(engine, name, changes):
    code, text = refused(engine.client("sagemaker").create_training_job, **engine.request(name, **changes))
    assert code == "ValidationException" and text.startswith("Invalid KeepAlivePeriodInSeconds."), text


def test_survives_the_daemon(fresh_engine, name):
    engine = fresh_engine()
    first, second, third = (f"{name}-{i}" for i in (1, 2, 3))
    run(engine, first, "echo kept >/opt/ml/sagemaker/warmpoolcache/note")
    assert pool(engine, first)["Status"] == "Available"
    engine.kill()
    engine.start()
    assert pool(engine, first)["Status"] == "Available"
    described = run(engine, second, "grep kept /opt/ml/sagemaker/warmpoolcache/note", keep_alive=2)
    assert described["TrainingJobStatus"] == "Completed", "the agent of the first job goes on"
    assert pool(engine, first)["ReusedByJob"] == second
    engine.kill()
    time.sleep(2.5)
    engine.start()
    ended = await_pool(engine, second, "Terminated")
    assert ended["ResourceRetainedBillableTimeInSeconds"] == 2, "what nobody watched is not billed"
    run(engine, third)
    assert pool(engine, third)["Status"] == "Available"


def test_a_job_that_needs_the_room_gets_it(fresh_engine, name):
    engine = fresh_engine("--overcommit", "1")
    first, other = name + "-1", name + "-2"
    run(engine, first)
    described = run(engine, other, keep_alive=0, resources={"VolumeSizeInGB": 2})
    assert described["TrainingJobStatus"] == "Completed"
    assert pool(engine, first)["Status"] == "Terminated"
    assert message(engine, first) == "Resource released: a waiting training job needs the capacity"
