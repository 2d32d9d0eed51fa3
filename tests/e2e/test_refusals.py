"""Bad input: AWS's codes and texts, and nothing else is harmed."""
import http.client
import json
import socket
import urllib.parse

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import ClientError


def refused(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return error.value.response["Error"]["Code"], error.value.response["Error"]["Message"]


@pytest.fixture
def raw(engine):
    """A client that validates nothing itself."""
    return engine.client("sagemaker", config=Config(parameter_validation=False, retries={"max_attempts": 0}))


def test_constraint_violations_are_worded_as_aws_words_them(engine, raw, name):
    code, message = refused(raw.create_training_job, **engine.request("a/../../b" + name))
    assert code == "ValidationException"
    assert "'trainingJobName' failed to satisfy constraint: Member must satisfy regular expression pattern" in message
    request = engine.request(name)
    del request["RoleArn"]
    assert refused(raw.create_training_job, **request) == (
        "ValidationException",
        "1 validation error detected: Value null at 'roleArn' failed to satisfy constraint: Member must not be null")
    code, message = refused(raw.create_training_job, **engine.request(
        name, ResourceConfig={"InstanceCount": -1, "InstanceType": "ml.huge", "VolumeSizeInGB": 1}))
    assert message.startswith("2 validation errors detected: ") and "resourceConfig.instanceType" in message


@pytest.mark.parametrize("changes,code,text", [
    ({"RoleArn": "not-an-arn-at-all-but-long-enough"}, "ValidationException", "roleArn"),
    ({"StoppingCondition": {"MaxRuntimeInSeconds": 5, "MaxWaitTimeInSeconds": 10}}, "ValidationException",
     "Invalid MaxWaitTimeInSeconds. It is only supported when EnableManagedSpotTraining is set to true"),
    ({"EnableManagedSpotTraining": True, "StoppingCondition": {"MaxRuntimeInSeconds": 50, "MaxWaitTimeInSeconds": 10}},
     "ValidationException", "MaxWaitTimeInSeconds"),
    ({"AlgorithmSpecification": {"TrainingImage": "example.com/mystery:1", "TrainingInputMode": "File"}},
     "ValidationException", "mystery"),
    ({"EnableManagedSpotTraining": True, "ResourceConfig": {
        "InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1, "KeepAlivePeriodInSeconds": 60}},
     "ValidationException", "Invalid KeepAlivePeriodInSeconds."),
    ({"InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {
        "S3DataType": "S3Prefix", "S3Uri": "s3://data/nothing-here/"}}}]}, "ValidationException",
     'No S3 objects found under S3 URL "s3://data/nothing-here/" given in input data source.'),
    ({"InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {
        "S3DataType": "S3Prefix", "S3Uri": "s3://no-such-bucket-here/x"}}}]}, "ValidationException",
     "No S3 objects found"),
], ids=["role", "wait-without-spot", "wait-below-runtime", "image", "warm-pool", "no-objects", "no-bucket"])
def test_business_rules(engine, name, changes, code, text):
    got, message = refused(engine.client("sagemaker").create_training_job, **engine.request(name, **changes))
    assert got == code and text in message, message
    assert refused(engine.client("sagemaker").describe_training_job, TrainingJobName=name) == (
        "ValidationException", "Requested resource not found.")


def test_a_taken_name_is_in_use(engine, name):
    engine.script(name, "pass")
    code, message = refused(engine.client("sagemaker").create_training_job, **engine.request(name))
    assert code == "ResourceInUse"
    assert message.startswith("Training job names must be unique within an AWS account and region, and a training job "
                              "with this name already exists (arn:aws:sagemaker:us-west-2:")
    engine.wait(name)


def test_an_action_of_the_future_is_named(engine):
    code, message = refused(engine.client("sagemaker").create_endpoint, EndpointName="e", EndpointConfigName="c")
    assert "CreateEndpoint" in message and code not in ("InternalFailure",)


def test_wrong_keys(engine):
    import boto3
    endpoint = engine.environment()["AWS_ENDPOINT_URL"]
    good = engine.environment()

    def client(key, secret, service="sagemaker"):
        return boto3.client(service, endpoint_url=endpoint, region_name="us-west-2", aws_access_key_id=key,
                            aws_secret_access_key=secret, config=Config(retries={"max_attempts": 0}))

    assert refused(client("AKIAIOSFODNN7EXAMPLE", "x").list_training_jobs)[0] == "UnrecognizedClientException"
    assert refused(client(good["AWS_ACCESS_KEY_ID"], "x").list_training_jobs)[0] == "InvalidSignatureException"
    assert refused(client("AKIAIOSFODNN7EXAMPLE", "x", "s3").list_buckets)[0] == "InvalidAccessKeyId"
    assert refused(client(good["AWS_ACCESS_KEY_ID"], "x", "s3").list_buckets)[0] == "SignatureDoesNotMatch"


def post(engine, body, headers):
    host = urllib.parse.urlparse(engine.endpoint())
    connection = http.client.HTTPConnection(host.hostname, host.port, timeout=20)
    try:
        connection.request("POST", "/", body=body, headers=headers)
    except BrokenPipeError:
        pass  # Refused while it was being sent: the answer is there to be read.
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_unsigned_and_unknown(engine):
    status, body = post(engine, b"{}", {"X-Amz-Target": "SageMaker.ListTrainingJobs",
                                        "Content-Type": "application/x-amz-json-1.1"})
    assert status in (400, 403) and b"MissingAuthenticationToken" in body
    status, _ = post(engine, b"{}", {"X-Amz-Target": "Nobody.Nothing", "Content-Type": "application/x-amz-json-1.1"})
    assert 400 <= status < 500


def test_a_null_is_an_absent_member(engine, name):
    """Clients other than AWS's send them; the daemon must not mistake one for a list or an object."""
    def call(action, body):
        request = AWSRequest("POST", engine.endpoint() + "/", data=json.dumps(body), headers={
            "X-Amz-Target": f"SageMaker.{action}", "Content-Type": "application/x-amz-json-1.1"})
        SigV4Auth(engine.session().get_credentials(), "sagemaker", "us-west-2").add_auth(request)
        return post(engine, request.data, dict(request.headers))

    nothing = {member: None for member in ("InputDataConfig", "HyperParameters", "CheckpointConfig", "Tags")}
    status, body = call("CreateTrainingJob", {**engine.request(name), **nothing,
                                              "StoppingCondition": {"MaxRuntimeInSeconds": None}})
    assert status == 200, body
    assert engine.describe(name)["StoppingCondition"]["MaxRuntimeInSeconds"] == 86400
    status, body = call("CreateHyperParameterTuningJob", {
        "HyperParameterTuningJobName": "nulls", "TrainingJobDefinition": None, "TrainingJobDefinitions": None,
        "HyperParameterTuningJobConfig": {"Strategy": "Random", "ResourceLimits": {"MaxParallelTrainingJobs": 1}}})
    assert status == 400 and b"One of TrainingJobDefinition and TrainingJobDefinitions must be given" in body, body


def test_an_endless_head_and_an_endless_body_are_cut(engine):
    host = urllib.parse.urlparse(engine.endpoint())
    with socket.create_connection((host.hostname, host.port), timeout=20) as s:
        try:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
            for _ in range(200):
                s.sendall(b"X-Filler: " + b"y" * 8000 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        else:
            assert s.recv(64).split(b" ")[1] in (b"431", b"400")
    status, _ = post(engine, b"x" * (32 << 20), {"X-Amz-Target": "SageMaker.ListTrainingJobs",
                                                 "Content-Type": "application/x-amz-json-1.1"})
    assert status in (400, 403, 413)
    assert engine.client("sagemaker").list_training_jobs()["TrainingJobSummaries"] is not None


def test_lists_page_and_filter(engine, name):
    sagemaker = engine.client("sagemaker")
    for number in range(5):
        engine.script(f"{name}-{number}", "pass")
    got, token = [], {}
    while True:
        page = sagemaker.list_training_jobs(NameContains=name, MaxResults=2, SortBy="Name", SortOrder="Ascending",
                                            **token)
        got += [j["TrainingJobName"] for j in page["TrainingJobSummaries"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert got == [f"{name}-{n}" for n in range(5)]
    for number in range(5):
        engine.wait(f"{name}-{number}")
    done = sagemaker.list_training_jobs(NameContains=name, StatusEquals="Completed")["TrainingJobSummaries"]
    assert len(done) == 5 and all("TrainingEndTime" in j for j in done)
    assert refused(sagemaker.list_training_jobs, NextToken="forged")[0] == "ValidationException"
