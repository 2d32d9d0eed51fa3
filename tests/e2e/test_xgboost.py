"""The built-in XGBoost on real data, as a client of SageMaker sees it."""
import pytest

from engine import ROOT, XGBOOST_IMAGE

ABALONE = ROOT / "examples/data/abalone"
LIBSVM = {"train": ("abalone.train_0", "abalone.train_1"), "validation": ("abalone.validation",)}


def channel(engine, name, job, content_type="text/libsvm"):
    source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{engine.bucket()}/{job}/{name}/"}
    return {"ChannelName": name, "ContentType": content_type, "DataSource": {"S3DataSource": source}}


def upload(engine, job):
    for name, files in LIBSVM.items():
        for file in files:
            engine.client("s3").upload_file(str(ABALONE / file), engine.bucket(), f"{job}/{name}/{file}")
    return [channel(engine, name, job) for name in LIBSVM]


def train(engine, job, channels, values, **changes):
    algorithm = {"TrainingImage": XGBOOST_IMAGE, "TrainingInputMode": "File"}
    engine.client("sagemaker").create_training_job(
        **engine.request(job, AlgorithmSpecification=algorithm, InputDataConfig=channels,
                         HyperParameters={k: str(v) for k, v in values.items()}, **changes))
    return job


def test_every_metric_of_a_round_is_a_final_metric(engine, name):
    train(engine, name, upload(engine, name), {"num_round": 5, "eval_metric": "rmse,mae", "max_depth": 5, "eta": 0.2,
                                               "gamma": 4, "min_child_weight": 6})
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    got = {m["MetricName"]: round(m["Value"], 5) for m in seen["FinalMetricDataList"]}
    # As the Python package of XGBoost computes them.
    assert got == {"train:rmse": 3.82409, "train:mae": 3.12999, "validation:rmse": 3.99038, "validation:mae": 3.17925}
    assert list(engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])) == ["xgboost-model"]
    assert "[4]\ttrain-rmse:3.82409\ttrain-mae:3.12999\tvalidation-rmse:3.99038\tvalidation-mae:3.17925" in engine.lines(
        name)


def test_interruptions_do_not_change_the_model(engine, name):
    channels = upload(engine, name)
    values = {"num_round": 250, "max_depth": 5, "eta": 0.05, "subsample": 0.7, "colsample_bytree": 0.6,
              "tree_method": "hist", "nthread": 1}
    calm = engine.wait(train(engine, name + "-calm", channels, values))
    spot = {"EnableManagedSpotTraining": True,
            "CheckpointConfig": {"S3Uri": f"s3://{engine.bucket()}/{name}/checkpoints"},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200}}
    train(engine, name, channels, values, **spot)
    engine.wait_for_line(name, "[20]\t")
    engine.sabia("spot", "interrupt", name, check=False)  # a fast machine may be done by now
    seen = engine.wait(name, seconds=120)
    assert seen["TrainingJobStatus"] == calm["TrainingJobStatus"] == "Completed", (seen, calm)
    statuses = [t["Status"] for t in seen["SecondaryStatusTransitions"]]
    if "Interrupted" not in statuses:
        pytest.skip("the training ended before the interruption")
    assert any("Resuming from iteration" in line for line in engine.lines(name))
    models = [engine.artifact(s["ModelArtifacts"]["S3ModelArtifacts"])["xgboost-model"] for s in (seen, calm)]
    assert models[0] == models[1]


@pytest.mark.parametrize("values, reason", [
    ({"num_round": 0}, "Hyperparameter num_round: value 0 not in range [1, +inf)"),
    ({"num_round": 3, "depth": 4}, "Extraneous hyperparameter found: depth"),
    ({"num_round": 3, "objective": "binary:logistic"}, "label must be in [0,1] for logistic regression"),
])
def test_the_users_mistakes_reach_the_failure_reason(engine, name, values, reason):
    seen = engine.wait(train(engine, name, upload(engine, name), values))
    assert seen["TrainingJobStatus"] == "Failed"
    assert seen["FailureReason"].startswith("AlgorithmError: framework error: \n"), seen["FailureReason"]
    assert reason in seen["FailureReason"]


def test_bad_csv_names_file_and_line(engine, name):
    engine.client("s3").put_object(Bucket=engine.bucket(), Key=f"{name}/train/a.csv", Body=b"1,2,3\n4,five,6\n")
    seen = engine.wait(train(engine, name, [channel(engine, "train", name, "text/csv")], {"num_round": 3}))
    assert "line 2 of file 'a.csv': column 2 'five' is not a number" in seen["FailureReason"]
