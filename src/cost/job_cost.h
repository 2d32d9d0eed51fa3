// What a training job cost, or costs so far, and where the money went.
//
// Billable time is what model::BillableTime counts: from the first preparation of each attempt on a
// ready instance to its end; gaps between attempts cost nothing. On-demand cost is that of the same
// billable time at on-demand rates, so that the saving is that of the purchase option alone; work
// that an interruption made the job repeat is in both.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "cost/price_book.h"
#include "model/training_job.h"

namespace sabia::cost {

struct InstanceCost {
  std::string instance_type;
  int count = 0;
  Price price;
};

struct AttemptCost {
  int number = 0;
  bool spot = false;
  Millis billable{0};
  std::string end_reason;  // "" while it runs
  Money billed;
};

struct JobCost {
  std::string price_region;
  std::vector<InstanceCost> instances;
  std::vector<AttemptCost> attempts;
  Seconds training{0};  // per instance, as DescribeTrainingJob tells it
  Seconds billable{0};
  Money billed;
  Money on_demand;
  Money saved() const { return on_demand - billed; }
  double saving_percent() const;
  bool final = false;  // the job has ended; nothing is added any more
  // What makes the figures less exact: a region without prices, a type without a spot price.
  std::vector<std::string> notes;
};

// kNotFound: the book has no price for an instance type of the job.
Result<JobCost> CostOfJob(const PriceBook& book, const model::TrainingJob& job, WallTime now);

}  // namespace sabia::cost
