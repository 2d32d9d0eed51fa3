"""The families of actions through boto3, in JSON and in the query protocol: no job needs to run for these."""
import datetime
import json
import subprocess
import time
import urllib.parse

import pytest
from botocore.exceptions import ClientError


def refused(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return error.value.response["Error"]["Code"], error.value.response["Error"]["Message"]


def held(engine, name, **changes):
    """A job that waits for a spot instance or runs for long; enough to be described, tagged and stopped."""
    engine.script(name, "import time; time.sleep(300)", **changes)
    return engine.describe(name)


def test_describe_right_after_create_has_all_that_clients_read(engine, name):
    seen = held(engine, name, Environment={"A": "b"}, EnableManagedSpotTraining=True,
                StoppingCondition={"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 60})
    assert seen["TrainingJobStatus"] == "InProgress"
    assert seen["OutputDataConfig"]["KmsKeyId"] == "" and seen["OutputDataConfig"]["CompressionType"] == "GZIP"
    assert seen["AlgorithmSpecification"]["MetricDefinitions"] == []
    assert seen["SecondaryStatusTransitions"][0]["Status"] == "Starting"
    assert seen["ResourceConfig"]["InstanceCount"] == 1
    assert seen["LastModifiedTime"] >= seen["CreationTime"]
    assert seen["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://data/out/{name}/output/model.tar.gz"
    assert seen["EnableManagedSpotTraining"] is True and seen["EnableNetworkIsolation"] is False
    assert seen["Environment"] == {"A": "b"}
    engine.client("sagemaker").stop_training_job(TrainingJobName=name)


def test_tags_of_a_job(engine, name):
    sagemaker = engine.client("sagemaker")
    arn = held(engine, name, Tags=[{"Key": "team", "Value": "a"}])["TrainingJobArn"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "stage", "Value": "x"}, {"Key": "team", "Value": "b"}])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "b"}, {"Key": "stage", "Value": "x"}]
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=["team"])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "stage", "Value": "x"}]
    code, message = refused(sagemaker.add_tags, ResourceArn=arn, Tags=[{"Key": "aws:x", "Value": "1"}])
    assert code == "ValidationException" and "aws:x" in message
    many = [{"Key": f"k{i}", "Value": ""} for i in range(50)]
    assert refused(sagemaker.add_tags, ResourceArn=arn, Tags=many)[0] == "ResourceLimitExceeded"
    assert refused(sagemaker.list_tags, ResourceArn=arn + "-no")[1] == "Requested resource not found."
    sagemaker.stop_training_job(TrainingJobName=name)


def test_a_job_that_runs_can_be_stopped_but_not_deleted(engine, name):
    sagemaker = engine.client("sagemaker")
    held(engine, name)
    assert refused(sagemaker.delete_training_job, TrainingJobName=name)[0] == "ResourceInUse"
    sagemaker.stop_training_job(TrainingJobName=name)
    sagemaker.stop_training_job(TrainingJobName=name)
    engine.wait(name)
    assert refused(sagemaker.stop_training_job, TrainingJobName=name) == (
        "ValidationException", "The request was rejected because the training job is in status Stopped.")
    deadline = time.monotonic() + 30
    while True:  # the record may still be cleaned up for a moment after it says Stopped
        try:
            sagemaker.delete_training_job(TrainingJobName=name)
            break
        except sagemaker.exceptions.ResourceInUse:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert refused(sagemaker.describe_training_job, TrainingJobName=name)[1] == "Requested resource not found."


def test_a_filter_that_matches_nothing_has_no_token(engine):
    future = datetime.datetime.now() + datetime.timedelta(days=1)
    page = engine.client("sagemaker").list_training_jobs(LastModifiedTimeAfter=future)
    assert page["TrainingJobSummaries"] == [] and "NextToken" not in page
    assert engine.client("sagemaker").list_training_jobs(WarmPoolStatusEquals="Available")["TrainingJobSummaries"] == []


def test_log_groups_streams_and_events(engine, name):
    logs = engine.client("logs")
    group = f"/test/{name}"
    logs.create_log_group(logGroupName=group)
    with pytest.raises(logs.exceptions.ResourceAlreadyExistsException):
        logs.create_log_group(logGroupName=group)
    for stream in ("a", "b"):
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
    now = int(time.time() * 1000)
    logs.put_log_events(logGroupName=group, logStreamName="a",
                        logEvents=[{"timestamp": now + i, "message": f"line {i} é"} for i in range(5)])
    logs.put_log_events(logGroupName=group, logStreamName="b", logEvents=[{"timestamp": now, "message": "ERROR x"}])

    page = logs.get_log_events(logGroupName=group, logStreamName="a", startFromHead=True, startTime=now + 1, limit=2)
    assert [e["message"] for e in page["events"]] == ["line 1 é", "line 2 é"]
    page = logs.get_log_events(logGroupName=group, logStreamName="a", nextToken=page["nextForwardToken"],
                               startTime=now + 1)
    assert [e["message"] for e in page["events"]] == ["line 3 é", "line 4 é"]
    last = logs.get_log_events(logGroupName=group, logStreamName="a", nextToken=page["nextForwardToken"])
    assert last["events"] == [] and last["nextForwardToken"] == page["nextForwardToken"]

    streams = logs.describe_log_streams(logGroupName=group, limit=1)
    assert [s["logStreamName"] for s in streams["logStreams"]] == ["a"]
    assert "nextToken" not in logs.describe_log_streams(logGroupName=group, limit=2)
    found = logs.get_paginator("filter_log_events").paginate(logGroupName=group, filterPattern="?ERROR ?nothing")
    assert [e["message"] for page in found for e in page["events"]] == ["ERROR x"]
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.get_log_events(logGroupName=group, logStreamName="no")
    logs.delete_log_group(logGroupName=group)
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.describe_log_streams(logGroupName=group)


def test_metrics_put_and_read(engine, name):
    cloudwatch = engine.client("cloudwatch")
    dimensions = [{"Name": "TrainingJobName", "Value": name}]
    minute = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)
    cloudwatch.put_metric_data(Namespace="Test", MetricData=[
        {"MetricName": "loss", "Dimensions": dimensions, "Value": value, "Timestamp": minute} for value in (1, 2, 6)])
    got = cloudwatch.get_metric_statistics(Namespace="Test", MetricName="loss", Dimensions=dimensions, Period=60,
                                           StartTime=minute - datetime.timedelta(minutes=5),
                                           EndTime=minute + datetime.timedelta(minutes=5),
                                           Statistics=["Average", "Maximum"], ExtendedStatistics=["p50"])
    point, = got["Datapoints"]
    assert (point["Timestamp"], point["Average"], point["Maximum"]) == (minute, 3, 6)
    assert point["ExtendedStatistics"] == {"p50": 2}
    data = cloudwatch.get_metric_data(
        StartTime=minute - datetime.timedelta(minutes=5), EndTime=minute + datetime.timedelta(minutes=5),
        MetricDataQueries=[{"Id": "q", "MetricStat": {
            "Metric": {"Namespace": "Test", "MetricName": "loss", "Dimensions": dimensions},
            "Period": 60, "Stat": "Sum"}}])
    assert data["MetricDataResults"][0]["Values"] == [9] and data["MetricDataResults"][0]["StatusCode"] == "Complete"
    listed = cloudwatch.list_metrics(Namespace="Test", Dimensions=dimensions)["Metrics"]
    assert [m["MetricName"] for m in listed] == ["loss"]
    code, message = refused(cloudwatch.get_metric_data, StartTime=minute, EndTime=minute + datetime.timedelta(hours=1),
                            MetricDataQueries=[{"Id": "q", "Expression": "1+1"}])
    assert code == "InvalidParameterValue" and "Expression" in message


def test_identity_and_temporary_credentials(engine):
    import boto3
    sts = engine.client("sts")
    me = sts.get_caller_identity()
    assert me["Arn"] == f"arn:aws:iam::{me['Account']}:root"
    role = f"arn:aws:iam::{me['Account']}:role/service-role/Train"
    session = sts.assume_role(RoleArn=role, RoleSessionName="night@run")
    keys = session["Credentials"]
    assert keys["Expiration"] > datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=50)
    assumed = boto3.client("sts", endpoint_url=engine.environment()["AWS_ENDPOINT_URL"], region_name="us-west-2",
                           aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"],
                           aws_session_token=keys["SessionToken"]).get_caller_identity()
    assert assumed["Arn"] == f"arn:aws:sts::{me['Account']}:assumed-role/Train/night@run"
    assert assumed["UserId"] == session["AssumedRoleUser"]["AssumedRoleId"]
    code, message = refused(sts.assume_role, RoleArn="arn:aws:iam::1:user/x-and-more", RoleSessionName="s1")
    assert "must be the ARN of an IAM role" in message
    assert "Policy" in refused(sts.assume_role, RoleArn=role, RoleSessionName="s1", Policy="{}")[1]


def test_what_sdk_v3_checks_of_a_role(engine):
    iam = engine.client("iam")
    role = iam.get_role(RoleName="Train")["Role"]
    trust = role["AssumeRolePolicyDocument"]
    if isinstance(trust, str):
        trust = json.loads(urllib.parse.unquote(trust))
    assert trust["Statement"][0]["Principal"]["Service"] == "sagemaker.amazonaws.com"
    pages = iam.get_paginator("simulate_principal_policy").paginate(
        PolicySourceArn=role["Arn"], ActionNames=["s3:PutObject", "sagemaker:CreateTrainingJob"],
        ResourceArns=["arn:aws:s3:::a/*", "arn:aws:s3:::b/*"], PaginationConfig={"PageSize": 3})
    results = [r for page in pages for r in page["EvaluationResults"]]
    assert len(results) == 4 and {r["EvalDecision"] for r in results} == {"allowed"}
    code, message = refused(iam.create_role, RoleName="x", AssumeRolePolicyDocument="{}")
    assert "CreateRole" in message


def test_aws_cli_reads_the_same(engine, name):
    held(engine, name)
    environment = {**engine.environment(), "AWS_PAGER": ""}
    shown = subprocess.run(["aws", "sagemaker", "list-training-jobs", "--name-contains", name, "--output", "json"],
                           capture_output=True, text=True, env=environment, timeout=60)
    assert shown.returncode == 0, shown.stderr
    assert [j["TrainingJobName"] for j in json.loads(shown.stdout)["TrainingJobSummaries"]] == [name]
    engine.client("sagemaker").stop_training_job(TrainingJobName=name)
