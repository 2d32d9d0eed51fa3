"""A tour with boto3 of any age: S3, a job, waiters, paginators, logs, metrics, STS, IAM. Usage: boto3_tour.py NAME"""
import hashlib
import io
import json
import sys
import tarfile
import time

import boto3

name = sys.argv[1]
s3, sagemaker, logs = boto3.client("s3"), boto3.client("sagemaker"), boto3.client("logs")
bucket = "tour-" + hashlib.sha1((name + boto3.__version__).encode()).hexdigest()[:10]
s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": boto3.session.Session().region_name})

big = bytes(range(256)) * (20 << 12)  # 20 MiB: the transfer manager uses parts
s3.upload_fileobj(io.BytesIO(big), bucket, "big/data.bin")
back = io.BytesIO()
s3.download_fileobj(bucket, "big/data.bin", back)
assert back.getvalue() == big
assert s3.head_object(Bucket=bucket, Key="big/data.bin")["ContentLength"] == len(big)
for key in ("a//b", "../x", "sp ace+plus%25", "trail/", "ünï"):
    s3.put_object(Bucket=bucket, Key=key, Body=key.encode(), Metadata={"k": "v"})
    got = s3.get_object(Bucket=bucket, Key=key)
    assert got["Body"].read() == key.encode() and got["Metadata"] == {"k": "v"}, key
keys = [o["Key"] for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
        for o in page["Contents"]]
assert keys == sorted(keys, key=lambda k: k.encode()) and "sp ace+plus%25" in keys, keys
assert s3.get_object(Bucket=bucket, Key="big/data.bin", Range="bytes=1-3")["Body"].read() == big[1:4]

packed = io.BytesIO()
with tarfile.open(fileobj=packed, mode="w:gz") as tar:
    code = b"print('loss=1.5')\nopen('/opt/ml/model/m','w').write('m')\n"
    info = tarfile.TarInfo("train.py")
    info.size = len(code)
    tar.addfile(info, io.BytesIO(code))
s3.put_object(Bucket=bucket, Key="code.tar.gz", Body=packed.getvalue())
job = name.replace("_", "-")[:50] + "-" + boto3.__version__.replace(".", "-")
sagemaker.create_training_job(
    TrainingJobName=job, RoleArn="arn:aws:iam::123456789012:role/SageMakerRole",
    AlgorithmSpecification={"TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
                            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]},
    HyperParameters={"sagemaker_program": json.dumps("train.py"),
                     "sagemaker_submit_directory": json.dumps(f"s3://{bucket}/code.tar.gz")},
    OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out"},
    ResourceConfig={"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1},
    StoppingCondition={"MaxRuntimeInSeconds": 60})
deadline = time.time() + 60
while sagemaker.describe_training_job(TrainingJobName=job)["TrainingJobStatus"] == "InProgress":
    assert time.time() < deadline
    time.sleep(0.1)
sagemaker.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=job)
found = [j["TrainingJobName"] for page in sagemaker.get_paginator("list_training_jobs").paginate(NameContains=job)
         for j in page["TrainingJobSummaries"]]
assert found == [job]
events = logs.filter_log_events(logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=job + "/",
                                filterPattern="loss")["events"]
assert [e["message"] for e in events] == ["loss=1.5"], events
metrics = boto3.client("cloudwatch").get_metric_data(
    MetricDataQueries=[{"Id": "m", "MetricStat": {"Metric": {
        "Namespace": "/aws/sagemaker/TrainingJobs", "MetricName": "loss",
        "Dimensions": [{"Name": "TrainingJobName", "Value": job}]}, "Period": 60, "Stat": "Average"}}],
    StartTime=time.time() - 3600, EndTime=time.time() + 60)
assert metrics["MetricDataResults"][0]["Values"] == [1.5], metrics
account = boto3.client("sts").get_caller_identity()["Account"]
assert len(account) == 12
role = boto3.client("iam").get_role(RoleName="SageMakerRole")["Role"]
assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"] == "sagemaker.amazonaws.com"
print("boto3 tour passed")
