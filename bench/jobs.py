"""An engine with an embedded store, and jobs that run one line of shell, for the benchmarks of input data."""
import pathlib
import shutil
import tempfile

from engine import Engine


def s3_channel(name, uri, **more):
    return {"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}, **more}


def create_script_job(engine, job, mode, script, channels):
    engine.client("sagemaker").create_training_job(**engine.request(
        job, AlgorithmSpecification={"TrainingImage": "sabia/python:3", "TrainingInputMode": mode,
                                     "ContainerEntrypoint": ["/bin/sh", "-c", 'eval "$SCRIPT"'],
                                     "ContainerArguments": ["train"]},
        Environment={"SCRIPT": script}, InputDataConfig=channels))


class Embedded:
    def __init__(self, release, work, name, log_level):
        self.home = pathlib.Path(tempfile.mkdtemp(dir=work, prefix=f"{name}-"))
        self.engine = Engine(pathlib.Path(release) / "src/cli/sabia", self.home / "sabia", "--log-level", log_level).start()
        self.s3 = self.engine.client("s3")
        self.engine.bucket()
        self.jobs = 0

    def stop(self):
        self.engine.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def new_job(self, prefix):
        self.jobs += 1
        return f"{prefix}-{self.jobs}"
