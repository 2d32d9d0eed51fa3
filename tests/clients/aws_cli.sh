#!/usr/bin/env bash
# A tour with the AWS CLI: aws s3 in all its verbs, a training job, logs. Usage: aws_cli.sh NAME
set -euo pipefail
name=$(echo "$1" | tr -c 'a-z0-9\n' '-' | cut -c1-40)
bucket=cli-$name

aws s3 mb "s3://$bucket"
mkdir -p tree/sub
head -c 20000000 /dev/urandom >tree/big.bin
echo one >tree/one.txt
echo two >"tree/sub/t wo.txt"
aws s3 sync --quiet tree "s3://$bucket/tree"
aws s3 ls --recursive "s3://$bucket/" | grep -q "tree/sub/t wo.txt"
aws s3 cp --quiet "s3://$bucket/tree/big.bin" copy.bin
cmp tree/big.bin copy.bin
aws s3 cp --quiet "s3://$bucket/tree/big.bin" "s3://$bucket/copied.bin"
aws s3 mv --quiet "s3://$bucket/copied.bin" "s3://$bucket/moved.bin"
mkdir back
aws s3 sync --quiet "s3://$bucket/tree" back
diff -r tree back
url=$(aws s3 presign "s3://$bucket/tree/one.txt")
[ "$(curl -sf "$url")" = one ]
[ "$(aws s3 cp "s3://$bucket/tree/one.txt" -)" = one ]

cat >request.json <<JSON
{"TrainingJobName": "$name", "RoleArn": "arn:aws:iam::123456789012:role/SageMakerRole",
 "AlgorithmSpecification": {"TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
   "ContainerEntrypoint": ["/bin/sh", "-c"], "ContainerArguments": ["cat /opt/ml/input/data/train/one.txt; echo done"]},
 "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix",
   "S3Uri": "s3://$bucket/tree/one.txt"}}}],
 "OutputDataConfig": {"S3OutputPath": "s3://$bucket/out"},
 "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1},
 "StoppingCondition": {"MaxRuntimeInSeconds": 60}}
JSON
aws sagemaker create-training-job --cli-input-json file://request.json --query TrainingJobArn --output text
for _ in $(seq 200); do
  status=$(aws sagemaker describe-training-job --training-job-name "$name" --query TrainingJobStatus --output text)
  [ "$status" = InProgress ] || break
done
[ "$status" = Completed ]
stream=$(aws logs describe-log-streams --log-group-name /aws/sagemaker/TrainingJobs \
  --log-stream-name-prefix "$name/" --query 'logStreams[0].logStreamName' --output text)
aws logs get-log-events --log-group-name /aws/sagemaker/TrainingJobs --log-stream-name "$stream" \
  --start-from-head --query 'events[].message' --output text | grep -q one
aws sagemaker list-training-jobs --last-modified-time-after 2099-01-01 --query 'length(TrainingJobSummaries)' | grep -qx 0
aws s3 rm --quiet --recursive "s3://$bucket"
aws s3 rb "s3://$bucket"
echo "aws cli tour passed"
