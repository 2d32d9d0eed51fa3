#include "api/tuning_job_fields.h"

#include <array>

namespace sabia::api {
namespace {

constexpr Treatment kHonoured = Treatment::kHonoured;
constexpr Treatment kImmaterial = Treatment::kImmaterial;

constexpr std::string_view kRangeName =
    "hyperparameter that is varied; at most 30, none of them "
    "static";
constexpr std::string_view kBound = "inclusive; text that reads as a number";
constexpr std::string_view kScaling = "default Auto (tuning.md)";

// In the order of the service model.
constexpr std::array kFields = {
    FieldRule{"HyperParameterTuningJobName", kHonoured,
              "unique within account and region; begins the names of the training jobs"},
    FieldRule{"HyperParameterTuningJobConfig.Strategy", kHonoured,
              "Bayesian, Random, Hyperband, Grid (tuning.md)"},
    FieldRule{"HyperParameterTuningJobConfig.StrategyConfig.HyperbandStrategyConfig.MinResource",
              kHonoured, "with Hyperband only; default 1"},
    FieldRule{
        "HyperParameterTuningJobConfig.StrategyConfig.HyperbandStrategyConfig.MaxResource",
        kHonoured,
        "with Hyperband only, at most 20000; default: the static epochs, numepochs, n-epochs, "
        "n_epochs or num_epochs"},
    FieldRule{"HyperParameterTuningJobConfig.HyperParameterTuningJobObjective.Type", kHonoured,
              "Maximize or Minimize"},
    FieldRule{"HyperParameterTuningJobConfig.HyperParameterTuningJobObjective.MetricName",
              kHonoured, "one of the metric definitions, given or implied by the image"},
    FieldRule{"HyperParameterTuningJobConfig.ResourceLimits.MaxNumberOfTrainingJobs", kHonoured,
              "at most 750; may be left out with Grid, Autotune or MaxRuntimeInSeconds"},
    FieldRule{"HyperParameterTuningJobConfig.ResourceLimits.MaxParallelTrainingJobs", kHonoured,
              "at most 100"},
    FieldRule{"HyperParameterTuningJobConfig.ResourceLimits.MaxRuntimeInSeconds", kHonoured,
              "from creation; trials that run are stopped then"},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.IntegerParameterRanges[].Name",
              kHonoured, kRangeName},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.IntegerParameterRanges[].MinValue",
              kHonoured, kBound},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.IntegerParameterRanges[].MaxValue",
              kHonoured, kBound},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.IntegerParameterRanges[].ScalingType",
              kHonoured, kScaling},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.ContinuousParameterRanges[].Name",
              kHonoured, kRangeName},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.ContinuousParameterRanges[].MinValue",
              kHonoured, kBound},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.ContinuousParameterRanges[].MaxValue",
              kHonoured, kBound},
    FieldRule{
        "HyperParameterTuningJobConfig.ParameterRanges.ContinuousParameterRanges[].ScalingType",
        kHonoured, kScaling},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.CategoricalParameterRanges[].Name",
              kHonoured, kRangeName},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.CategoricalParameterRanges[].Values[]",
              kHonoured, "byte for byte"},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.AutoParameters[].Name", kHonoured,
              "with Autotune only: gets a range, or its hint as a constant"},
    FieldRule{"HyperParameterTuningJobConfig.ParameterRanges.AutoParameters[].ValueHint", kHonoured,
              "what the range is made around"},
    FieldRule{"HyperParameterTuningJobConfig.TrainingJobEarlyStoppingType", kHonoured,
              "Off (default) or Auto; Off with Hyperband and with several definitions"},
    FieldRule{
        "HyperParameterTuningJobConfig.TuningJobCompletionCriteria.TargetObjectiveMetricValue",
        kHonoured, "the search ends when a trial is at least as good"},
    FieldRule{"HyperParameterTuningJobConfig.TuningJobCompletionCriteria.BestObjectiveNotImproving"
              ".MaxNumberOfTrainingJobsNotImproving",
              kHonoured,
              "the search ends after so many trials that did not improve the best by 1 %"},
    FieldRule{"HyperParameterTuningJobConfig.TuningJobCompletionCriteria.ConvergenceDetected"
              ".CompleteOnConvergence",
              kHonoured, "the search ends when it has converged (tuning.md)"},
    FieldRule{"HyperParameterTuningJobConfig.RandomSeed", kHonoured,
              "the same seed and results give the same suggestions"},
    FieldRule{"WarmStartConfig.ParentHyperParameterTuningJobs[].HyperParameterTuningJobName",
              kHonoured, "ended tuning jobs whose trials are learned from"},
    FieldRule{"WarmStartConfig.WarmStartType", kHonoured,
              "IdenticalDataAndAlgorithm or TransferLearning (tuning.md)"},
    FieldRule{"Tags[].Key", kHonoured, "as AddTags; the training jobs get the same tags"},
    FieldRule{"Tags[].Value", kHonoured, "as AddTags"},
    FieldRule{"Autotune.Mode", kHonoured, "fills in what was left out (see below)"},
};

constexpr std::array kDefinition = {
    FieldRule{"DefinitionName", kHonoured, "unique in a tuning job"},
    FieldRule{"TuningObjective.Type", kHonoured, "the same in every definition"},
    FieldRule{"TuningObjective.MetricName", kHonoured,
              "one of the metric definitions, given or implied by the image"},
    FieldRule{"HyperParameterRanges.IntegerParameterRanges[].Name", kHonoured, kRangeName},
    FieldRule{"HyperParameterRanges.IntegerParameterRanges[].MinValue", kHonoured, kBound},
    FieldRule{"HyperParameterRanges.IntegerParameterRanges[].MaxValue", kHonoured, kBound},
    FieldRule{"HyperParameterRanges.IntegerParameterRanges[].ScalingType", kHonoured, kScaling},
    FieldRule{"HyperParameterRanges.ContinuousParameterRanges[].Name", kHonoured, kRangeName},
    FieldRule{"HyperParameterRanges.ContinuousParameterRanges[].MinValue", kHonoured, kBound},
    FieldRule{"HyperParameterRanges.ContinuousParameterRanges[].MaxValue", kHonoured, kBound},
    FieldRule{"HyperParameterRanges.ContinuousParameterRanges[].ScalingType", kHonoured, kScaling},
    FieldRule{"HyperParameterRanges.CategoricalParameterRanges[].Name", kHonoured, kRangeName},
    FieldRule{"HyperParameterRanges.CategoricalParameterRanges[].Values[]", kHonoured,
              "byte for byte"},
    FieldRule{"HyperParameterRanges.AutoParameters[].Name", kHonoured,
              "with Autotune only: gets a range, or its hint as a constant"},
    FieldRule{"HyperParameterRanges.AutoParameters[].ValueHint", kHonoured,
              "what the range is made around"},
    FieldRule{"StaticHyperParameters", kHonoured, "of every training job, byte for byte"},
    FieldRule{"HyperParameterTuningResourceConfig.InstanceType", kHonoured,
              "as ResourceConfig, which must then be absent"},
    FieldRule{"HyperParameterTuningResourceConfig.InstanceCount", kHonoured, "as ResourceConfig"},
    FieldRule{"HyperParameterTuningResourceConfig.VolumeSizeInGB", kHonoured, "as ResourceConfig"},
    FieldRule{"HyperParameterTuningResourceConfig.VolumeKmsKeyId", kImmaterial,
              "kept and echoed, as in ResourceConfig"},
    FieldRule{"HyperParameterTuningResourceConfig.AllocationStrategy", kHonoured,
              "Prioritized: the first of InstanceConfigs that can be had"},
    FieldRule{"HyperParameterTuningResourceConfig.InstanceConfigs[].InstanceType", kHonoured,
              "the first whose hardware is known is used: capacity never runs out here"},
    FieldRule{"HyperParameterTuningResourceConfig.InstanceConfigs[].InstanceCount", kHonoured,
              "of that type"},
    FieldRule{"HyperParameterTuningResourceConfig.InstanceConfigs[].VolumeSizeInGB", kHonoured,
              "of that type"},
};

}  // namespace

std::span<const FieldRule> CreateTuningJobFields() { return kFields; }
std::span<const FieldRule> TuningDefinitionFields() { return kDefinition; }

}  // namespace sabia::api
