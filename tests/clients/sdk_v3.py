"""Cases of the SageMaker Python SDK v3. Usage: sdk_v3.py CASE NAME"""
import pathlib
import sys

from sagemaker.train.configs import Compute, InputData, SourceCode, StoppingCondition
from sagemaker.train.model_trainer import ModelTrainer

ROLE = "arn:aws:iam::123456789012:role/SageMakerRole"
case, name = sys.argv[1], sys.argv[2]


def model_trainer():
    source = pathlib.Path("src")
    source.mkdir()
    (source / "train.py").write_text("""
import json, os
config = json.load(open('/opt/ml/input/config/hyperparameters.json'))
print('hyperparameters', config)
rows = open('/opt/ml/input/data/train/rows.csv').read()
open('/opt/ml/model/m', 'w').write(rows)
""")
    data = pathlib.Path("data")
    data.mkdir()
    (data / "rows.csv").write_text("1,2\n")
    trainer = ModelTrainer(
        training_image="763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.0.1-cpu-py310",
        source_code=SourceCode(source_dir=str(source), entry_script="train.py"), role=ROLE,
        compute=Compute(instance_type="ml.m5.large", instance_count=1, volume_size_in_gb=10),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=600),
        base_job_name=name[:30].rstrip("-"), hyperparameters={"epochs": 3})
    trainer.train(input_data_config=[InputData(channel_name="train", data_source=str(data))], wait=True, logs=True)
    job = trainer._latest_training_job
    job.refresh()
    assert job.training_job_status == "Completed", job.failure_reason
    assert job.model_artifacts.s3_model_artifacts.endswith("/output/model.tar.gz")



def tuner():
    from sagemaker.core.parameter import ContinuousParameter, IntegerParameter
    from sagemaker.train.tuner import HyperparameterTuner
    source = pathlib.Path("src")
    source.mkdir()
    (source / "train.py").write_text("""
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--rate', type=float)
parser.add_argument('--units', type=int)
parser.add_argument('--epochs', type=int)
args = parser.parse_args()
assert args.epochs == 3
rows = open('/opt/ml/input/data/train/rows.csv').read()
print(f"loss={abs(args.rate - 0.1) + args.units};")
""")
    data = pathlib.Path("data")
    data.mkdir()
    (data / "rows.csv").write_text("1,2\n")
    trainer = ModelTrainer(
        training_image="763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.0.1-cpu-py310",
        source_code=SourceCode(source_dir=str(source), entry_script="train.py"), role=ROLE,
        compute=Compute(instance_type="ml.m5.large", instance_count=1, volume_size_in_gb=10),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=600),
        base_job_name=name[:30].rstrip("-"), hyperparameters={"epochs": 3})
    uri = trainer.sagemaker_session.upload_data(str(data), key_prefix=f"{name}/train") if trainer.sagemaker_session \
        else None
    made = HyperparameterTuner(
        model_trainer=trainer, objective_metric_name="loss", objective_type="Minimize", strategy="Bayesian",
        hyperparameter_ranges={"rate": ContinuousParameter(0.01, 1), "units": IntegerParameter(1, 9)},
        metric_definitions=[{"Name": "loss", "Regex": "loss=(.*?);"}], max_jobs=3, max_parallel_jobs=2,
        base_tuning_job_name="f" + name[-12:].strip("-"))
    made.tune(inputs={"train": uri}, wait=True)
    job = made.latest_tuning_job
    job.refresh()
    assert job.hyper_parameter_tuning_job_status == "Completed", job.failure_reason
    assert job.training_job_status_counters.completed == 3, job.training_job_status_counters
    assert made.best_training_job() == job.best_training_job.training_job_name
    assert len(made.analytics().dataframe()) == 3


{"model_trainer": model_trainer, "tuner": tuner}[case]()
print(f"{case} passed")
