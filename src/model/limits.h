// Every quota that a rule of ours reads, once. Limits that the service schema itself carries
// (lengths, patterns, list sizes) are checked by wire/schema.h and are not repeated here.
//
// Source of each value: "model" is the SageMaker, CloudWatch or CloudWatch Logs service model;
// "guide" is the quota page of the service; "ours" is a choice of this engine, with the reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace sabia::model {

// Training jobs.
inline constexpr int kInstancesPerJobMax =
    100;  // ours: AWS's default quotas are 20 to 100 per type
inline constexpr Seconds kMaxRuntimeDefault{86'400};   // model: StoppingCondition, one day
inline constexpr Seconds kMaxRuntimeMax{28 * 86'400};  // model: StoppingCondition, 28 days
inline constexpr std::int64_t kVolumeGiBMax =
    16'384;  // guide: volume of a training instance, 16 TiB
inline constexpr std::size_t kFailureReasonCharsMax = 1'024;  // model: FailureReason
inline constexpr Seconds kSpotNotice{120};                    // guide: EC2 spot interruption notice
inline constexpr Millis kShowWaitingAfter{
    1'000};  // ours: jobs placed sooner never say that they wait
inline constexpr std::size_t kNotesPerJobMax = 50;  // ours: a record must stay small

// Tags: model, TagList. ListTags never returns fewer than 50 a page.
inline constexpr std::size_t kTagsPerResourceMax = 50;
inline constexpr std::size_t kTagsPageDefault = 50;

// List calls: model, MaxResults 1..100; 10 is what the documented calls default to.
inline constexpr std::size_t kListPageDefault = 10;
inline constexpr std::size_t kListPageMax = 100;

// CloudWatch Logs: guide, "CloudWatch Logs quotas" and PutLogEvents.
inline constexpr std::size_t kPutLogBatchBytesMax = 1'048'576;
inline constexpr std::size_t kPutLogEventOverheadBytes = 26;  // counted on top of each message
inline constexpr std::size_t kPutLogEventBytesMax = 262'144;
inline constexpr Seconds kPutLogBatchSpanMax{24 * 3600};
inline constexpr Seconds kPutLogFutureMax{2 * 3600};
inline constexpr Seconds kPutLogPastMax{14 * 86'400};
inline constexpr std::size_t kLogStreamsPageMax = 50;       // model: DescribeLimit
inline constexpr std::size_t kLogStreamsSortMax = 100'000;  // ours: bounds an order the store lacks
inline constexpr std::size_t kLogEventsPageMax = 10'000;    // model: EventsLimit
inline constexpr std::size_t kLogPageBytesMax = 1'048'576;  // guide: GetLogEvents, 1 MB
inline constexpr std::size_t kFilterStreamsMax = 1'000;     // ours: streams looked up in one call
inline constexpr std::size_t kFilterScanBytesMax = 16u
                                                   << 20;  // ours: bounds one FilterLogEvents call

// CloudWatch: guide, PutMetricData, GetMetricStatistics, GetMetricData, ListMetrics.
inline constexpr std::size_t kMetricDatumsPerPutMax = 1'000;
inline constexpr std::size_t kMetricValuesPerDatumMax = 150;
inline constexpr std::size_t kMetricDimensionsMax = 30;
inline constexpr std::size_t kStatisticsDatapointsMax = 1'440;
inline constexpr std::size_t kMetricQueriesMax = 500;
inline constexpr std::size_t kMetricDataDatapointsMax = 100'800;
inline constexpr std::size_t kListMetricsPageMax = 500;
inline constexpr Seconds kMetricFutureMax{2 * 3600};
inline constexpr Seconds kMetricPastMax{14 * 86'400};

// Temporary credentials: model, DurationSeconds of AssumeRole and GetSessionToken.
inline constexpr Seconds kAssumeRoleDurationDefault{3'600};
inline constexpr Seconds kSessionTokenDurationDefault{43'200};

}  // namespace sabia::model
