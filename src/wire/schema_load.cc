// From a distilled document to a ServiceSchema: one pass over the JSON, all strings copied into one
// pool.
#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "wire/schema.h"

namespace sabia::wire {
namespace {

template <typename T, std::size_t N>
using Names = std::array<std::pair<std::string_view, T>, N>;

constexpr Names<ShapeKind, 12> kKinds{{{"structure", ShapeKind::kStructure},
                                       {"list", ShapeKind::kList},
                                       {"map", ShapeKind::kMap},
                                       {"string", ShapeKind::kString},
                                       {"integer", ShapeKind::kInteger},
                                       {"long", ShapeKind::kLong},
                                       {"float", ShapeKind::kFloat},
                                       {"double", ShapeKind::kDouble},
                                       {"boolean", ShapeKind::kBoolean},
                                       {"timestamp", ShapeKind::kTimestamp},
                                       {"blob", ShapeKind::kBlob},
                                       {"character", ShapeKind::kString}}};
constexpr Names<Location, 5> kLocations{{{"header", Location::kHeader},
                                         {"headers", Location::kHeaders},
                                         {"uri", Location::kUri},
                                         {"querystring", Location::kQuery},
                                         {"statusCode", Location::kStatusCode}}};
constexpr Names<TimestampFormat, 3> kFormats{{{"iso8601", TimestampFormat::kIso8601},
                                              {"rfc822", TimestampFormat::kRfc822},
                                              {"unixTimestamp", TimestampFormat::kUnix}}};
constexpr Names<Protocol, 5> kProtocols{{{"json-1.0", Protocol::kJson10},
                                         {"json-1.1", Protocol::kJson11},
                                         {"query", Protocol::kQuery},
                                         {"rest-json", Protocol::kRestJson},
                                         {"rest-xml", Protocol::kRestXml}}};

template <typename T, std::size_t N>
std::optional<T> Lookup(const Names<T, N>& names, std::string_view name) {
  for (const auto& [known, value] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

class Loader {
 public:
  Loader(const json::object& document, std::size_t size) : document_(document) {
    schema_->text.reserve(size);  // never grows: views into it stay valid
  }

  Result<std::unique_ptr<ServiceSchema>> Load() {
    const auto* metadata = FindObject(document_, "metadata");
    const auto* operations = FindObject(document_, "operations");
    const auto* shapes = FindObject(document_, "shapes");
    if (metadata == nullptr || operations == nullptr || shapes == nullptr) {
      return Fail(ErrorCode::kCorrupt, "metadata, operations or shapes are missing");
    }
    schema_->name = Keep(document_, "service");
    RETURN_IF_ERROR(LoadMetadata(*metadata));
    RETURN_IF_ERROR(LoadShapes(*shapes));
    RETURN_IF_ERROR(LoadOperations(*operations));
    return std::move(schema_);
  }

 private:
  std::string_view Keep(std::string_view s) {
    std::string& pool = schema_->text;
    CHECK(pool.size() + s.size() <= pool.capacity());
    const std::size_t start = pool.size();
    pool.append(s);
    return {pool.data() + start, s.size()};
  }
  std::string_view Keep(const json::object& object, std::string_view key) {
    const auto found = FindString(object, key);
    return found ? Keep(*found) : std::string_view();
  }
  Shape* FindShape(std::string_view name) {
    return const_cast<Shape*>(schema_->FindShape(name));  // ours until Load returns
  }

  Status LoadMetadata(const json::object& metadata) {
    schema_->api_version = Keep(metadata, "apiVersion");
    schema_->signing_name = Keep(metadata, "signingName");
    schema_->target_prefix = Keep(metadata, "targetPrefix");
    schema_->xml_namespace = Keep(metadata, "xmlNamespace");
    schema_->query_compatible = GetBool(metadata, "queryCompatible");
    const auto* protocols = FindArray(metadata, "protocols");
    if (protocols == nullptr) return Fail(ErrorCode::kCorrupt, "protocols are missing");
    for (const auto& name : *protocols) {
      const auto protocol =
          name.is_string() ? Lookup(kProtocols, View(name.get_string())) : std::nullopt;
      if (!protocol) return Fail(ErrorCode::kCorrupt, "unknown protocol {}", json::serialize(name));
      schema_->protocols.push_back(*protocol);
    }
    return {};
  }

  // Shapes refer to each other, so all of them exist before the first member is read; the vectors
  // are sized once, for spans and pointers into them must stay valid.
  Status LoadShapes(const json::object& shapes) {
    std::size_t members = 0;
    std::size_t strings = 0;
    for (const auto& entry : shapes) {
      const auto* shape = entry.value().if_object();
      if (shape == nullptr) return Fail(ErrorCode::kCorrupt, "a shape is not an object");
      if (const auto* own = FindObject(*shape, "members")) members += own->size();
      if (const auto* values = FindArray(*shape, "enum")) strings += values->size();
      members += 3;
      schema_->shapes.emplace_back();
      schema_->shapes.back().name = Keep(entry.key());
    }
    schema_->members.reserve(members);
    schema_->strings.reserve(strings);
    std::ranges::sort(schema_->shapes, {}, &Shape::name);
    for (const auto& entry : shapes) {
      auto loaded = LoadShape(*FindShape(entry.key()), entry.value().get_object());
      if (!loaded)
        return Wrap(loaded.error(), fmt::format("bad shape '{}'", std::string_view(entry.key())));
    }
    return {};
  }

  Status LoadShape(Shape& shape, const json::object& from) {
    const auto kind = Lookup(kKinds, GetString(from, "type"));
    if (!kind) return Fail(ErrorCode::kCorrupt, "unknown type '{}'", GetString(from, "type"));
    shape.kind = *kind;
    shape.is_union = GetBool(from, "union");
    shape.sensitive = GetBool(from, "sensitive");
    shape.flattened = GetBool(from, "flattened");
    shape.streaming = GetBool(from, "streaming");
    shape.event_stream = GetBool(from, "eventstream");
    shape.min = FindDouble(from, "min");
    shape.max = FindDouble(from, "max");
    shape.payload = Keep(from, "payload");
    shape.timestamp_format =
        Lookup(kFormats, GetString(from, "timestampFormat")).value_or(TimestampFormat::kDefault);
    if (from.contains("pattern")) {
      shape.pattern = &schema_->patterns.emplace_back(Keep(from, "pattern"));
    }
    LoadEnum(shape, from);
    if (const auto* exception = FindObject(from, "exception")) {
      shape.is_exception = true;
      shape.error_code = Keep(*exception, "code");
      shape.error_status = static_cast<unsigned>(GetInt(*exception, "status", 400));
    }
    return LoadParts(shape, from);
  }

  void LoadEnum(Shape& shape, const json::object& from) {
    const auto* values = FindArray(from, "enum");
    if (values == nullptr) return;
    const std::size_t start = schema_->strings.size();
    for (const auto& value : *values) {
      if (value.is_string()) schema_->strings.push_back(Keep(View(value.get_string())));
    }
    shape.enum_values = std::span(schema_->strings).subspan(start);
  }

  Status LoadParts(Shape& shape, const json::object& from) {
    const std::size_t start = schema_->members.size();
    if (const auto* members = FindObject(from, "members")) {
      for (const auto& entry : *members) {
        ASSIGN_OR_RETURN(Member member, LoadMember(entry.key(), entry.value()));
        schema_->members.push_back(member);
      }
    }
    const auto own = std::span(schema_->members).subspan(start);
    shape.members = own;
    if (const auto* required = FindArray(from, "required")) {
      for (Member& member : own) {
        member.required = std::ranges::any_of(*required, [&](const json::value& name) {
          return name.is_string() && View(name.get_string()) == member.name;
        });
      }
    }
    constexpr std::array<std::pair<std::string_view, const Member * Shape::*>, 3> kParts{
        {{"member", &Shape::element}, {"key", &Shape::map_key}, {"value", &Shape::map_value}}};
    for (const auto& [key, slot] : kParts) {
      const json::value* part = from.if_contains(key);
      if (part == nullptr) continue;
      ASSIGN_OR_RETURN(Member member, LoadMember("", *part));
      schema_->members.push_back(member);
      shape.*slot = &schema_->members.back();
    }
    return CheckParts(shape);
  }

  static Status CheckParts(const Shape& shape) {
    if (shape.kind == ShapeKind::kList && shape.element == nullptr) {
      return Fail(ErrorCode::kCorrupt, "a list without an element");
    }
    if (shape.kind == ShapeKind::kMap && (shape.map_key == nullptr || shape.map_value == nullptr)) {
      return Fail(ErrorCode::kCorrupt, "a map without a key or a value");
    }
    if (!shape.payload.empty() && shape.FindMember(shape.payload) == nullptr) {
      return Fail(ErrorCode::kCorrupt, "no payload member '{}'", shape.payload);
    }
    return {};
  }

  Result<Member> LoadMember(std::string_view name, const json::value& from) {
    Member member;
    member.name = Keep(name);
    const json::object* facts = from.if_object();
    const std::string target = facts != nullptr   ? GetString(*facts, "shape")
                               : from.is_string() ? std::string(View(from.get_string()))
                                                  : std::string();
    member.shape = schema_->FindShape(target);
    if (member.shape == nullptr) return Fail(ErrorCode::kCorrupt, "no shape '{}'", target);
    if (facts == nullptr) return member;
    if (const auto where = FindString(*facts, "location")) {
      const auto location = Lookup(kLocations, *where);
      if (!location) return Fail(ErrorCode::kCorrupt, "unknown location '{}'", *where);
      member.location = *location;
    }
    member.location_name = Keep(*facts, "locationName");
    member.timestamp_format =
        Lookup(kFormats, GetString(*facts, "timestampFormat")).value_or(TimestampFormat::kDefault);
    member.idempotency_token = GetBool(*facts, "idempotencyToken");
    member.flattened = GetBool(*facts, "flattened");
    member.streaming = GetBool(*facts, "streaming");
    member.json_value = GetBool(*facts, "jsonvalue");
    return member;
  }

  Status LoadOperations(const json::object& operations) {
    for (const auto& entry : operations) {
      const auto* from = entry.value().if_object();
      if (from == nullptr) return Fail(ErrorCode::kCorrupt, "an operation is not an object");
      Operation& operation = schema_->operations.emplace_back();
      operation.name = Keep(entry.key());
      const std::string_view http = Keep(*from, "http");
      const auto blank = http.find(' ');
      if (blank == std::string_view::npos) {
        return Fail(ErrorCode::kCorrupt, "operation '{}' without method and URI", operation.name);
      }
      operation.http_method = http.substr(0, blank);
      operation.request_uri = http.substr(blank + 1);
      operation.success_status = static_cast<unsigned>(GetInt(*from, "status", 200));
      operation.result_wrapper = Keep(*from, "resultWrapper");
      operation.input = schema_->FindShape(GetString(*from, "input"));
      operation.output = schema_->FindShape(GetString(*from, "output"));
      if (const auto* errors = FindArray(*from, "errors")) {
        for (const auto& error : *errors) {
          const Shape* shape =
              error.is_string() ? schema_->FindShape(View(error.get_string())) : nullptr;
          if (shape != nullptr) operation.errors.push_back(shape);
        }
      }
    }
    std::ranges::sort(schema_->operations, {}, &Operation::name);
    return {};
  }

  const json::object& document_;
  std::unique_ptr<ServiceSchema> schema_ = std::make_unique<ServiceSchema>();
};

}  // namespace

Result<std::unique_ptr<ServiceSchema>> LoadServiceSchema(std::string_view document) {
  json::monotonic_resource memory(256
                                  << 10);  // the parsed text lives only until the schema is built
  boost::system::error_code ec;
  const json::value parsed = json::parse(document, ec, &memory);
  if (ec) return Fail(ErrorCode::kCorrupt, "failed to parse a service schema: {}", ec.message());
  if (!parsed.is_object()) return Fail(ErrorCode::kCorrupt, "a service schema is not an object");
  auto schema = Loader(parsed.get_object(), document.size()).Load();
  if (!schema) return Wrap(schema.error(), "failed to load a service schema");
  return schema;
}

}  // namespace sabia::wire
