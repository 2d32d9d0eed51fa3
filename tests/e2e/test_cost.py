"""Money: the ledger, Cost Explorer through boto3 and the AWS CLI, sums that survive kill -9."""
import datetime
import decimal
import json
import os
import shutil
import subprocess
import time

import pytest
from botocore.exceptions import ClientError

D = decimal.Decimal


def period(granularity="DAILY", days=1):
    """From some days ago to the end of today; a test that runs over midnight asks for two days."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    end = min(today + datetime.timedelta(days=1), (today.replace(day=1) + datetime.timedelta(days=32)).replace(day=1))
    return {"TimePeriod": {"Start": str(today - datetime.timedelta(days=days)), "End": str(end)},
            "Granularity": granularity}


def total(answer, metric="UnblendedCost"):
    """Over all periods and groups, exactly."""
    out = D(0)
    for result in answer["ResultsByTime"]:
        for amounts in [g["Metrics"] for g in result["Groups"]] or [result["Total"]]:
            out += D(amounts[metric]["Amount"])
    return out


def cost(engine, job):
    return json.loads(engine.sabia("cost", job, "--json").stdout)


def by_tag(engine, key, value, **more):
    return engine.client("ce").get_cost_and_usage(
        **period(), Metrics=["UnblendedCost", "UsageQuantity"], Filter={"Tags": {"Key": key, "Values": [value]}}, **more)


COUNTER = """
import os, time
path = '/opt/ml/checkpoints/count'
start = int(open(path).read()) if os.path.exists(path) else 0
print('start at', start, flush=True)
for count in range(start + 1, 41):
    with open(path + '.tmp', 'w') as f: f.write(str(count))
    os.replace(path + '.tmp', path)
    print('count', count, flush=True)
    time.sleep(0.02 if start else 0.1)
"""


def test_an_interrupted_job_is_explained_to_the_last_digit(engine, name):
    engine.script(name, COUNTER, EnableManagedSpotTraining=True, Tags=[{"Key": "job", "Value": name}],
                  CheckpointConfig={"S3Uri": f"s3://{engine.bucket()}/{name}/checkpoints"},
                  StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200})
    engine.wait_for_line(name, "count 10")
    engine.sabia("spot", "interrupt", name)
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    report = cost(engine, name)
    assert [line["Kind"] for line in report["Ledger"]] == ["spot", "spot"]
    assert len({line["Instance"] for line in report["Ledger"]}) == 2
    assert sum(D(line["Usd"]) for line in report["Ledger"]) == D(report["TotalUsd"]) > 0
    assert D(report["Totals"]["Spot"]["Usd"]) == D(report["TotalUsd"])
    assert 0 < D(report["Totals"]["Waiting"]["InstanceSeconds"])
    lost = D(report["Totals"]["LostWork"]["InstanceSeconds"])
    assert 0 <= lost < D(report["Totals"]["Spot"]["InstanceSeconds"])
    assert D(report["Otherwise"]["SpotUsd"]) <= D(report["TotalUsd"])
    assert D(report["Otherwise"]["SpotUsd"]) < D(report["Otherwise"]["OnDemandUsd"])
    answer = by_tag(engine, "job", name)
    assert total(answer) == D(report["TotalUsd"])
    hours = D(report["Totals"]["Spot"]["InstanceSeconds"]) / 3600
    assert abs(total(answer, "UsageQuantity") - hours) < D("1e-9")
    groups = by_tag(engine, "job", name, GroupBy=[{"Type": "DIMENSION", "Key": "PURCHASE_TYPE"},
                                                  {"Type": "DIMENSION", "Key": "USAGE_TYPE"}])
    keys = {tuple(g["Keys"]) for r in groups["ResultsByTime"] for g in r["Groups"]}
    assert keys == {("Spot Instances", "USW2-TrSpt:ml.m5.large")}
    text = engine.sabia("cost", name).stdout
    for word in ("lost work", "waiting", "warm pool", "without interruptions", "PRICES OF"):
        assert word in text, text


@pytest.mark.timeout(300)
def test_sums_agree_after_kill_9_while_jobs_end(fresh_engine, name):
    """The daemon dies at moments spread over the end of a job; every instance is billed once, for its attempt."""
    engine = fresh_engine()
    engine.bucket()
    jobs = []
    for moment in range(12):
        job = f"{name}-{moment}"
        engine.script(job, "import time; print('up', flush=True); time.sleep(0.3)",
                      Tags=[{"Key": "batch", "Value": name}],
                      ResourceConfig={"InstanceCount": 2, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1})
        jobs.append(job)
        engine.wait_for_line(job, "up")
        time.sleep(moment * 0.05)
        engine.kill()
        engine.start()
    charged = D(0)
    for job in jobs:
        seen = engine.wait(job)
        assert seen["TrainingJobStatus"] == "Completed", seen
        report = cost(engine, job)
        attempts = sum(D(str(a["BillableSeconds"])) for a in report["Attempts"])
        assert D(report["Totals"]["OnDemand"]["InstanceSeconds"]) == 2 * attempts
        keys = [(line["Instance"], line["Kind"]) for line in report["Ledger"]]
        assert len(keys) == len(set(keys)) == 2 * len(report["Attempts"])
        charged += D(report["TotalUsd"])
    answer = by_tag(engine, "batch", name)
    assert total(answer) == charged > 0
    engine.kill()
    engine.start()
    assert by_tag(engine, "batch", name)["ResultsByTime"] == answer["ResultsByTime"]
    # The ledger outlives its jobs.
    for job in jobs:
        engine.client("sagemaker").delete_training_job(TrainingJobName=job)
    assert total(by_tag(engine, "batch", name)) == charged


def test_a_new_price_list_changes_what_comes_and_nothing_that_was(fresh_engine, name):
    engine = fresh_engine()
    engine.script(f"{name}-a", "print('x')")
    engine.wait(f"{name}-a")
    before = cost(engine, f"{name}-a")
    engine.kill()
    prices = engine.home / "prices"
    prices.mkdir()
    head = "region,instance_type,usd_per_hour,basis,spot_saving_percent\n"
    (prices / "2026-10-01.csv").write_text(head + "us-west-2,ml.m5.large,1000,listed,50\n")
    engine.start()
    after = cost(engine, f"{name}-a")
    assert (after["Ledger"], after["TotalUsd"]) == (before["Ledger"], before["TotalUsd"])
    engine.script(f"{name}-b", "print('x')")
    engine.wait(f"{name}-b")
    line = cost(engine, f"{name}-b")["Ledger"][0]
    assert (line["UsdPerHour"], line["PriceDate"]) == ("1000", "2026-10-01")
    engine.kill()
    (prices / "2026-10-01.csv").write_text(head + "us-west-2,ml.m5.large,cheap,listed,50\n")
    with pytest.raises(RuntimeError, match="2026-10-01.csv.*'cheap' is no price"):
        engine.start()


def test_cost_explorer_lists_values_and_tags(engine, name):
    engine.script(name, "print('x')", Tags=[{"Key": "team-" + name, "Value": "ml"}])
    engine.wait(name)
    ce = engine.client("ce")
    span = {"TimePeriod": period()["TimePeriod"]}
    assert ce.get_tags(**span, SearchString="team-" + name)["Tags"] == ["team-" + name]
    assert ce.get_tags(**span, TagKey="team-" + name)["Tags"][-1] == "ml"
    values = ce.get_dimension_values(**span, Dimension="SERVICE")
    assert [v["Value"] for v in values["DimensionValues"]] == ["Amazon SageMaker"]
    assert values["ReturnSize"] == values["TotalSize"] == 1
    monthly = ce.get_cost_and_usage(**period("MONTHLY", 40), Metrics=["AmortizedCost"],
                                    GroupBy=[{"Type": "DIMENSION", "Key": "REGION"}])
    assert monthly["GroupDefinitions"] == [{"Type": "DIMENSION", "Key": "REGION"}]
    assert any(g["Keys"] == ["us-west-2"] for r in monthly["ResultsByTime"] for g in r["Groups"])


def test_bad_questions_are_refused_in_aws_words(engine):
    ce = engine.client("ce")

    def refusal(**changes):
        with pytest.raises(ClientError) as caught:
            ce.get_cost_and_usage(**{**period(), "Metrics": ["UnblendedCost"], **changes})
        return caught.value.response["Error"]

    day = period()["TimePeriod"]["Start"]
    error = refusal(TimePeriod={"Start": day, "End": day})
    assert (error["Code"], error["Message"]) == (
        "ValidationException", "Start date (and hour) should be before end date (and hour)")
    assert "end date past the beginning of next month" in refusal(TimePeriod={"Start": day, "End": "2099-01-01"})["Message"]
    assert "no date" in refusal(TimePeriod={"Start": "2026-02-30", "End": day})["Message"]
    tags = [{"Type": "TAG", "Key": k} for k in "abc"]
    assert "at most 2" in refusal(GroupBy=tags)["Message"]
    assert "Group Definition dimension is invalid" in refusal(GroupBy=[{"Type": "DIMENSION", "Key": "COLOUR"}])["Message"]
    assert "Metric Price is invalid" in refusal(Metrics=["Price"])["Message"]
    with pytest.raises(ClientError, match="GetCostForecast"):
        ce.get_cost_forecast(**period(), Metric="UNBLENDED_COST")


def test_the_aws_cli_asks_for_costs(engine, name, tmp_path):
    aws = shutil.which("aws")
    assert aws, "the AWS CLI is missing (package awscli)"
    engine.script(name, "print('x')", Tags=[{"Key": "job", "Value": name}])
    engine.wait(name)
    days = period()["TimePeriod"]
    out = subprocess.run(
        [aws, "ce", "get-cost-and-usage", "--time-period", f"Start={days['Start']},End={days['End']}",
         "--granularity", "MONTHLY", "--metrics", "UnblendedCost", "UsageQuantity",
         "--group-by", "Type=DIMENSION,Key=SERVICE", "Type=TAG,Key=job",
         "--filter", json.dumps({"Tags": {"Key": "job", "Values": [name]}}), "--output", "json"],
        env={**engine.environment(), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True, text=True,
        timeout=60)
    assert out.returncode == 0, out.stderr
    groups = [g for r in json.loads(out.stdout)["ResultsByTime"] for g in r["Groups"]]
    assert {tuple(g["Keys"]) for g in groups} == {("Amazon SageMaker", f"job${name}")}
    assert sum(D(g["Metrics"]["UnblendedCost"]["Amount"]) for g in groups) == D(cost(engine, name)["TotalUsd"])


def test_costs_by_day_and_tag(engine, name):
    engine.script(name, "print('x')", Tags=[{"Key": name, "Value": "mine"}])
    engine.wait(name)
    report = json.loads(engine.sabia("cost", "--tag", name, "--days", "2", "--json").stdout)
    mine = [row for row in report["Days"] if row["Tag"] == "mine"]
    assert sum(D(row["TotalUsd"]) for row in mine) == D(cost(engine, name)["TotalUsd"])
    assert sum(D(row["TotalUsd"]) for row in report["Days"]) == D(report["TotalUsd"])
    text = engine.sabia("cost").stdout
    assert "DATE" in text and "total $" in text
    assert engine.sabia("cost", name, "--days", "2", check=False).returncode == 2
