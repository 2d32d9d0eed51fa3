"""Cases of the SageMaker Python SDK v2. Usage: sdk_v2.py CASE NAME"""
import pathlib
import sys
import time

import sagemaker
from sagemaker.estimator import Estimator
from sagemaker.inputs import TrainingInput

ROLE = "arn:aws:iam::123456789012:role/SageMakerRole"
case, name = sys.argv[1], sys.argv[2]
session = sagemaker.Session()
here = pathlib.Path(".")


def abalone_like(path, rows):
    path.write_text("".join(f"{n % 7},{n % 5},{n % 3},{n % 11}\n" for n in range(rows)))
    return session.upload_data(str(path), key_prefix=f"{name}/{path.stem}")


def xgboost(**options):
    image = sagemaker.image_uris.retrieve("xgboost", session.boto_region_name, "1.7-1")
    return Estimator(image, ROLE, instance_count=1, instance_type="ml.m5.large", sagemaker_session=session,
                     base_job_name=name[:30].rstrip("-"),
                     hyperparameters={"num_round": 20, "max_depth": 3, "eta": 0.2, "objective": "reg:squarederror"},
                     **options)


def estimator():
    """fit() with logs on the default bucket, the artifact, tags and analytics."""
    train, validation = abalone_like(here / "train.csv", 300), abalone_like(here / "validation.csv", 60)
    made = xgboost(tags=[{"Key": "team", "Value": "ml"}])
    made.fit({"train": TrainingInput(train, content_type="text/csv"),
              "validation": TrainingInput(validation, content_type="text/csv")})
    assert made.model_data.endswith("/output/model.tar.gz"), made.model_data
    files = session.download_data(str(here), made.model_data.split("/")[2], "/".join(made.model_data.split("/")[3:]))
    assert (here / "model.tar.gz").stat().st_size > 100, files
    described = session.describe_training_job(made.latest_training_job.name)
    metrics = {m["MetricName"] for m in described["FinalMetricDataList"]}
    assert "validation:rmse" in metrics, metrics
    frame = sagemaker.analytics.TrainingJobAnalytics(made.latest_training_job.name, ["validation:rmse"],
                                                     sagemaker_session=session).dataframe()
    assert len(frame) >= 1 and (frame.metric_name == "validation:rmse").all(), frame


def xgboost_spot():
    """Managed spot training with checkpoints: the SDK prints the savings."""
    train = abalone_like(here / "train.csv", 200)
    bucket = session.default_bucket()
    made = xgboost(use_spot_instances=True, max_run=600, max_wait=900,
                   checkpoint_s3_uri=f"s3://{bucket}/{name}/checkpoints")
    made.fit({"train": TrainingInput(train, content_type="text/csv")})
    described = session.describe_training_job(made.latest_training_job.name)
    assert described["EnableManagedSpotTraining"] is True and described["BillableTimeInSeconds"] >= 1
    kept = session.list_s3_files(bucket, f"{name}/checkpoints")
    assert any("xgboost-checkpoint" in key for key in kept), kept


def script_mode():
    """A framework estimator: source_dir, requirements of the toolkit contract, hyperparameters of every type."""
    from sagemaker.sklearn import SKLearn
    source = here / "src"
    source.mkdir()
    (source / "helper.py").write_text("def greet():\n    return 'hello from the helper'\n")
    (source / "train.py").write_text("""
import argparse, json, os
import helper
parser = argparse.ArgumentParser()
parser.add_argument('--epochs', type=int)
parser.add_argument('--rate', type=float)
parser.add_argument('--tag')
parser.add_argument('--model-dir', default=os.environ['SM_MODEL_DIR'])
parser.add_argument('--train', default=os.environ['SM_CHANNEL_TRAIN'])
args = parser.parse_args()
print(helper.greet(), args.epochs + 1, args.rate * 2, repr(args.tag))
print('accuracy=0.875;')
assert os.environ['SM_NUM_GPUS'] is not None and json.loads(os.environ['SM_HPS'])['epochs'] == 2
open(args.model_dir + '/m', 'w').write(open(args.train + '/train.csv').readline())
""")
    train = abalone_like(here / "train.csv", 10)
    made = SKLearn("train.py", source_dir=str(source), framework_version="1.2-1", py_version="py3", role=ROLE,
                   instance_type="ml.m5.large", instance_count=1, sagemaker_session=session,
                   base_job_name=name[:30].rstrip("-"), hyperparameters={"epochs": 2, "rate": 0.5, "tag": "a b"},
                   metric_definitions=[{"Name": "accuracy", "Regex": "accuracy=(.*?);"}])
    made.fit({"train": train})
    described = session.describe_training_job(made.latest_training_job.name)
    assert described["FinalMetricDataList"][0]["Value"] == 0.875
    (source / "train.py").write_text("raise RuntimeError('deliberate')\n")
    failing = SKLearn("train.py", source_dir=str(source), framework_version="1.2-1", py_version="py3", role=ROLE,
                      instance_type="ml.m5.large", instance_count=1, sagemaker_session=session,
                      base_job_name=name[:30].rstrip("-"))
    try:
        failing.fit()
    except sagemaker.exceptions.UnexpectedStatusException as error:
        assert "AlgorithmError" in str(error) and "deliberate" in str(error), str(error)
    else:
        raise AssertionError("a failing script must fail fit()")


def stop_and_attach():
    """wait=False, attach() from another estimator, stop()."""
    from sagemaker.sklearn import SKLearn
    source = here / "src"
    source.mkdir()
    (source / "train.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    made = SKLearn("train.py", source_dir=str(source), framework_version="1.2-1", py_version="py3", role=ROLE,
                   instance_type="ml.m5.large", instance_count=1, sagemaker_session=session,
                   base_job_name=name[:30].rstrip("-"))
    made.fit(wait=False)
    job = made.latest_training_job.name
    made.latest_training_job.stop()
    deadline = time.monotonic() + 60
    while session.describe_training_job(job)["TrainingJobStatus"] != "Stopped":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    attached = SKLearn.attach(job, sagemaker_session=session)
    assert attached.latest_training_job.name == job and attached.entry_point == "train.py"


def pipe():
    """Pipe mode as the job's input mode and as a channel's; gzip, records, shuffling."""
    from sagemaker.inputs import ShuffleConfig
    from sagemaker.sklearn import SKLearn
    train = abalone_like(here / "train.csv", 300)
    made = xgboost(input_mode="Pipe")
    made.fit({"train": TrainingInput(train, content_type="text/csv", shuffle_config=ShuffleConfig(5))})
    described = session.describe_training_job(made.latest_training_job.name)
    assert described["AlgorithmSpecification"]["TrainingInputMode"] == "Pipe"
    assert described["InputDataConfig"][0]["ShuffleConfig"] == {"Seed": 5}, described["InputDataConfig"]
    import gzip
    (here / "rows.gz").write_bytes(gzip.compress(b"a,b\n"))
    packed = session.upload_data("rows.gz", key_prefix=f"{name}/packed")
    source = here / "src"
    source.mkdir()
    (source / "train.py").write_text("""
import json, os
assert json.loads(os.environ['SM_INPUT_DATA_CONFIG'])['rows']['RecordWrapperType'] == 'RecordIO'
with open(os.environ['SM_CHANNEL_ROWS'] + '_0', 'rb') as stream:
    got = stream.read()
assert got == bytes.fromhex('0a23d7ce04000000') + b'a,b\\n', got
assert os.listdir(os.environ['SM_CHANNEL_FILES']) == ['train.csv']
""")
    script = SKLearn("train.py", source_dir=str(source), framework_version="1.2-1", py_version="py3", role=ROLE,
                     instance_type="ml.m5.large", instance_count=1, sagemaker_session=session,
                     base_job_name=name[:30].rstrip("-"))
    script.fit({"rows": TrainingInput(packed, input_mode="Pipe", compression="Gzip", record_wrapping="RecordIO"),
                "files": TrainingInput(train)})



def xgboost_ranges():
    from sagemaker.tuner import ContinuousParameter, IntegerParameter
    return {"eta": ContinuousParameter(0.05, 0.5, scaling_type="Logarithmic"), "max_depth": IntegerParameter(1, 6)}


def tuner():
    """fit() of a tuner, its best job and estimator, analytics, attach(), and a second search that starts from it."""
    from sagemaker.tuner import HyperparameterTuner, WarmStartConfig, WarmStartTypes
    train, validation = abalone_like(here / "train.csv", 300), abalone_like(here / "validation.csv", 60)
    inputs = {"train": TrainingInput(train, content_type="text/csv"),
              "validation": TrainingInput(validation, content_type="text/csv")}
    estimator = xgboost()
    for tuned in xgboost_ranges():
        estimator._hyperparameters.pop(tuned, None)
    options = {"objective_type": "Minimize", "max_parallel_jobs": 2, "tags": [{"Key": "team", "Value": "ml"}]}
    made = HyperparameterTuner(estimator, "validation:rmse", xgboost_ranges(), max_jobs=4, strategy="Bayesian",
                               random_seed=1, early_stopping_type="Auto",
                               base_tuning_job_name="a" + name[-12:].strip("-"), **options)
    made.fit(inputs)
    assert made.describe()["HyperParameterTuningJobStatus"] == "Completed", made.describe()
    frame = made.analytics().dataframe()
    assert len(frame) == 4 and {"eta", "max_depth", "FinalObjectiveValue"} <= set(frame.columns), frame
    best = frame.sort_values("FinalObjectiveValue").iloc[0]
    assert made.best_training_job() == best.TrainingJobName
    assert made.best_estimator().model_data.endswith(f"{best.TrainingJobName}/output/model.tar.gz")
    attached = HyperparameterTuner.attach(made.latest_tuning_job.name, sagemaker_session=session)
    assert attached.best_training_job() == made.best_training_job()
    assert attached.estimator.hyperparameters()["num_round"] == "20", attached.estimator.hyperparameters()
    warm = WarmStartConfig(WarmStartTypes.IDENTICAL_DATA_AND_ALGORITHM, parents={made.latest_tuning_job.name})
    second = HyperparameterTuner(estimator, "validation:rmse", xgboost_ranges(), max_jobs=2, warm_start_config=warm,
                                 base_tuning_job_name="b" + name[-12:].strip("-"), **options)
    second.fit(inputs)
    seen = second.describe()
    assert seen["WarmStartConfig"]["WarmStartType"] == "IdenticalDataAndAlgorithm"
    overall = seen["OverallBestTrainingJob"]["FinalHyperParameterTuningJobObjectiveMetric"]["Value"]
    assert overall <= min(best.FinalObjectiveValue, second.analytics().dataframe().FinalObjectiveValue.min())
    assert made.identical_dataset_and_algorithm_tuner().warm_start_config.parents == {made.latest_tuning_job.name}


def tuner_of_scripts():
    """Script mode in a tuner of several estimators, Autotune, and stop_tuning_job()."""
    from sagemaker.sklearn import SKLearn
    from sagemaker.tuner import CategoricalParameter, ContinuousParameter, HyperparameterTuner, IntegerParameter
    source = here / "src"
    source.mkdir()
    (source / "train.py").write_text("""
import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument('--rate', type=float)
parser.add_argument('--units', type=int)
parser.add_argument('--kind')
parser.add_argument('--seconds', type=float, default=0)
args = parser.parse_args()
time.sleep(args.seconds)
print(f"loss={abs(args.rate - 0.1) + args.units / 1000 + len(args.kind)};")
""")

    def sklearn(**hyperparameters):
        return SKLearn("train.py", source_dir=str(source), framework_version="1.2-1", py_version="py3", role=ROLE,
                       instance_type="ml.m5.large", instance_count=1, sagemaker_session=session,
                       base_job_name=name[:30].rstrip("-"), hyperparameters=hyperparameters)

    metrics = [{"Name": "loss", "Regex": "loss=(.*?);"}]
    ranges = {"rate": ContinuousParameter(0.01, 1), "units": IntegerParameter(1, 9),
              "kind": CategoricalParameter(["a", "bb"])}
    several = HyperparameterTuner.create(
        estimator_dict={"one": sklearn(), "two": sklearn()}, objective_metric_name_dict={"one": "loss", "two": "loss"},
        hyperparameter_ranges_dict={"one": ranges, "two": ranges}, objective_type="Minimize", strategy="Random",
        metric_definitions_dict={"one": metrics, "two": metrics}, max_jobs=4, max_parallel_jobs=2,
        base_tuning_job_name="c" + name[-12:].strip("-"))
    several.fit(inputs={}, include_cls_metadata={})
    frames = several.analytics().dataframe()
    assert sorted(frames.TrainingJobDefinitionName) == ["one", "one", "two", "two"], frames
    assert several.best_training_job() == frames.sort_values("FinalObjectiveValue").iloc[0].TrainingJobName
    auto = HyperparameterTuner(sklearn(rate=0.2, units=8, kind="a"), "loss", {}, metric_definitions=metrics,
                               objective_type="Minimize", max_jobs=3, max_parallel_jobs=3, autotune=True,
                               base_tuning_job_name="d" + name[-12:].strip("-"))
    auto.fit()
    assert auto.describe()["Autotune"] == {"Mode": "Enabled"}
    tuned = auto.describe()["BestTrainingJob"]["TunedHyperParameters"]
    assert set(tuned) == {"rate", "units"} and 0.02 <= float(tuned["rate"]) <= 1 and 1 <= int(tuned["units"]) <= 80, tuned
    slow = HyperparameterTuner(sklearn(seconds=600, kind="a"), "loss", {k: ranges[k] for k in ("rate", "units")},
                               metric_definitions=metrics, objective_type="Minimize", max_jobs=3,
                               base_tuning_job_name="e" + name[-12:].strip("-"))
    slow.fit(wait=False)
    slow.stop_tuning_job()
    slow.wait()
    assert slow.describe()["HyperParameterTuningJobStatus"] == "Stopped"
    slow.stop_tuning_job()  # of one that has ended: the SDK takes the refusal for "already stopped"


{"estimator": estimator, "xgboost_spot": xgboost_spot, "script_mode": script_mode,
 "stop_and_attach": stop_and_attach, "pipe": pipe, "tuner": tuner, "tuner_of_scripts": tuner_of_scripts}[case]()
print(f"{case} passed")
