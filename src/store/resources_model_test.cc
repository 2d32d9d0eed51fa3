// Goal: commits and lists behave as a sorted map would, whatever the mixture of filters, orders and
// page sizes. Method: random commits go to the store and to a std::map; random listings are read to
// their end, page by page.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "env/random.h"
#include "store/testing/state.h"

namespace sabia::store {
namespace {

constexpr const char* kStatuses[] = {"InProgress", "Completed", "Failed"};
constexpr const char* kParents[] = {"", "tuning-1", "tuning-2"};

class ModelTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  std::int64_t Time() { return 1000 + static_cast<std::int64_t>(random_.Below(40)); }
  std::string Name() {
    return fmt::format("{}-{}", random_.Below(2) ? "Job" : "run", random_.Below(60));
  }

  void Step() {
    std::vector<Change> changes;
    std::map<std::string, Resource> after = model_;
    bool good = true;
    for (std::uint64_t n = 1 + random_.Below(3); n > 0; --n)
      changes.push_back(RandomChange(after, good));
    const Status done = state_.resources().Commit(changes);
    ASSERT_EQ(done.has_value(), good);
    if (good) model_ = after;
  }

  Change RandomChange(std::map<std::string, Resource>& after, bool& good) {
    Change change;
    Resource& r = change.resource;
    r = {.name = Name(),
         .status = kStatuses[random_.Below(3)],
         .created = FromUnixMillis(Time()),
         .modified = FromUnixMillis(Time()),
         .live = random_.Below(2) == 0,
         .parent = kParents[random_.Below(3)],
         .revision = 1,
         .document = random_.Hex(8)};
    const auto stored = after.find(r.name);
    const bool exists = stored != after.end();
    if (exists && random_.Below(10) != 0) r.revision = stored->second.revision;
    const bool current = exists && stored->second.revision == r.revision;
    change.op = static_cast<Change::Op>(exists ? (random_.Below(8) == 0 ? 0 : 1 + random_.Below(2))
                                               : (random_.Below(8) == 0 ? 1 : 0));
    switch (change.op) {
      case Change::Op::kInsert:
        good = good && !exists;
        r.revision = 1;
        if (good) after[r.name] = r;
        break;
      case Change::Op::kUpdate:
        good = good && current;
        if (good) {
          Resource next = r;
          next.created = stored->second.created;
          next.modified = std::max(r.modified, stored->second.modified);
          ++next.revision;
          after[r.name] = next;
        }
        break;
      default:
        good = good && current;
        if (good) after.erase(r.name);
    }
    return change;
  }

  ListQuery RandomQuery() {
    ListQuery q;
    q.sort_by = static_cast<ListQuery::SortBy>(random_.Below(4));
    q.ascending = random_.Below(2) == 0;
    q.limit = 1 + random_.Below(20);
    const auto maybe = [&] { return random_.Below(4) == 0; };
    if (maybe()) q.status = kStatuses[random_.Below(3)];
    if (maybe()) q.parent = kParents[random_.Below(3)];
    if (maybe()) q.name_contains = random_.Below(2) ? "JOB-1" : "n-2";
    if (maybe()) q.created_after = FromUnixMillis(Time());
    if (maybe()) q.created_before = FromUnixMillis(Time());
    if (maybe()) q.modified_after = FromUnixMillis(Time());
    if (maybe()) q.modified_before = FromUnixMillis(Time());
    if (maybe()) {
      q.filter = [](const Resource& r) { return r.document[0] < '8'; };
      q.filter_identity = "low";
    }
    return q;
  }

  static std::string Describe(const ListQuery& q) {
    const auto time = [](const std::optional<WallTime>& t) { return t ? ToUnixMillis(*t) : -1; };
    return fmt::format(
        "sort {} ascending {} limit {} status {} parent {} name '{}' created {}..{} modified "
        "{}..{} filter {}",
        static_cast<int>(q.sort_by), q.ascending, q.limit, q.status.value_or("-"),
        q.parent.value_or("-"), q.name_contains, time(q.created_after), time(q.created_before),
        time(q.modified_after), time(q.modified_before), q.filter_identity);
  }

  static bool Matches(const ListQuery& q, const Resource& r) {
    const auto lower = [](std::string s) {
      for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return s;
    };
    return (!q.status || *q.status == r.status) && (!q.parent || *q.parent == r.parent) &&
           lower(r.name).find(lower(q.name_contains)) != std::string::npos &&
           (!q.created_after || r.created > *q.created_after) &&
           (!q.created_before || r.created < *q.created_before) &&
           (!q.modified_after || r.modified > *q.modified_after) &&
           (!q.modified_before || r.modified < *q.modified_before) && (!q.filter || q.filter(r));
  }

  static std::tuple<std::string, WallTime> SortKey(const ListQuery& q, const Resource& r) {
    switch (q.sort_by) {
      case ListQuery::SortBy::kName:
        return {r.name, {}};
      case ListQuery::SortBy::kCreationTime:
        return {"", r.created};
      case ListQuery::SortBy::kStatus:
        return {r.status, r.created};
      case ListQuery::SortBy::kModifiedTime:
        return {"", r.modified};
    }
    return {};
  }

  void CheckList(ListQuery q) {
    std::map<std::string, Resource> listed;
    std::optional<Resource> previous;
    do {
      const Page page = state_.resources().List(q).value();
      ASSERT_LE(page.rows.size(), q.limit);
      for (const Resource& r : page.rows) {
        if (previous) {
          const auto a = SortKey(q, *previous);
          const auto b = SortKey(q, r);
          ASSERT_TRUE(q.ascending ? a <= b : a >= b);
        }
        previous = r;
        ASSERT_TRUE(listed.emplace(r.name, r).second) << r.name << " came twice";
      }
      q.token = page.next_token;
      if (!q.token.empty()) {
        ASSERT_EQ(page.rows.size(), q.limit);  // this few rows are never cut short
      }
    } while (!q.token.empty());
    std::erase_if(listed, [&](const auto& entry) { return !Same(entry.second); });
    std::size_t expected = 0;
    for (const auto& [name, r] : model_) expected += Matches(q, r) ? 1 : 0;
    ASSERT_EQ(listed.size(), expected) << Describe(q);
    for (const auto& [name, r] : listed) ASSERT_TRUE(Matches(q, r));
  }

  bool Same(const Resource& r) const {
    const auto found = model_.find(r.name);
    if (found == model_.end()) return false;
    const Resource& m = found->second;
    return std::tie(r.status, r.created, r.modified, r.live, r.parent, r.revision, r.document) ==
           std::tie(m.status, m.created, m.modified, m.live, m.parent, m.revision, m.document);
  }

  env::SeededRandom random_{GetParam()};
  testing::TemporaryState state_;
  std::map<std::string, Resource> model_;
};

TEST_P(ModelTest, CommitsAndListsMatchTheModel) {
  SCOPED_TRACE(fmt::format("seed {}", GetParam()));
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(Step());
    for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(CheckList(RandomQuery()));
    std::size_t live = 0;
    for (const auto& [name, r] : model_) live += r.live ? 1 : 0;
    ASSERT_EQ(state_.resources().Live(Kind::kTrainingJob).value().size(), live);
    if (round == 15) state_.Reopen();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace sabia::store
