// A tour with the JavaScript SDK v3: S3 with its default checksums, a refusal, a listing, logs, metrics, STS.
import assert from "node:assert/strict";
import {CloudWatchClient, ListMetricsCommand, PutMetricDataCommand} from "@aws-sdk/client-cloudwatch";
import {CloudWatchLogsClient, DescribeLogGroupsCommand} from "@aws-sdk/client-cloudwatch-logs";
import {CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client} from "@aws-sdk/client-s3";
import {DescribeTrainingJobCommand, ListTrainingJobsCommand, SageMakerClient} from "@aws-sdk/client-sagemaker";
import {GetCallerIdentityCommand, STSClient} from "@aws-sdk/client-sts";

const bucket = "js-" + process.argv[2].toLowerCase().replace(/[^a-z0-9-]/g, "-").slice(0, 50);
const s3 = new S3Client({forcePathStyle: true});
await s3.send(new CreateBucketCommand({Bucket: bucket}));
for (const key of ["plain.txt", "sp ace+plus%25/ü", "a//b"]) {
  await s3.send(new PutObjectCommand({Bucket: bucket, Key: key, Body: `body of ${key}`, Metadata: {k: "v"}}));
  const got = await s3.send(new GetObjectCommand({Bucket: bucket, Key: key}));
  assert.equal(await got.Body.transformToString(), `body of ${key}`);
  assert.deepEqual(got.Metadata, {k: "v"});
}
const listing = await s3.send(new ListObjectsV2Command({Bucket: bucket, Delimiter: "/"}));
assert.deepEqual(listing.Contents.map((o) => o.Key), ["plain.txt"]);
assert.deepEqual(listing.CommonPrefixes.map((p) => p.Prefix).sort(), ["a/", "sp ace+plus%25/"]);
await assert.rejects(s3.send(new GetObjectCommand({Bucket: bucket, Key: "missing"})), {name: "NoSuchKey"});

const sagemaker = new SageMakerClient({});
await assert.rejects(sagemaker.send(new DescribeTrainingJobCommand({TrainingJobName: "no-such-job"})),
                     {name: "ValidationException", message: "Requested resource not found."});
const jobs = await sagemaker.send(new ListTrainingJobsCommand({MaxResults: 1}));
assert.ok(Array.isArray(jobs.TrainingJobSummaries));
await new CloudWatchLogsClient({}).send(new DescribeLogGroupsCommand({}));
const cloudwatch = new CloudWatchClient({});
await cloudwatch.send(new PutMetricDataCommand({
  Namespace: bucket, MetricData: [{MetricName: "m", Value: 1.5, Timestamp: new Date()}]}));
const metrics = await cloudwatch.send(new ListMetricsCommand({Namespace: bucket}));
assert.deepEqual(metrics.Metrics.map((m) => m.MetricName), ["m"]);
const identity = await new STSClient({}).send(new GetCallerIdentityCommand({}));
assert.match(identity.Account, /^\d{12}$/);
console.log("javascript tour passed");
