#include "base/encoding.h"
#include "wire/protocol_json.h"
#include "wire/protocol_rest.h"
#include "wire/scalar_text.h"

namespace sabia::wire {
namespace {

class Decoder {
 public:
  Decoder(const Call& call, const RequestParts& request) : call_(call), request_(request) {}

  AwsResult<json::object> Decode() {
    const Shape* input = call_.operation.input;
    if (input == nullptr) return json::object();
    RETURN_IF_ERROR(DecodeBody(*input));
    for (const Member& member : input->members) RETURN_IF_ERROR(DecodeBound(member));
    return std::move(out_);
  }

 private:
  static tl::unexpected<AwsError> Bad(const Member& member, const AwsError& error) {
    return Refuse(error.code, 400, "{}: {}", member.WireName(), error.message);
  }

  AwsResult<void> DecodeBound(const Member& member) {
    switch (member.location) {
      case Location::kUri: {
        const auto label = request_.labels.find(member.WireName());
        return label == request_.labels.end() ? AwsResult<void>() : Put(member, label->second);
      }
      case Location::kQuery:
        return DecodeQueryMember(member);
      case Location::kHeader: {
        const auto value = request_.headers.Find(member.WireName());
        return value ? PutHeader(member, *value) : AwsResult<void>();
      }
      case Location::kHeaders:
        return DecodeHeaders(member);
      case Location::kBody:
      case Location::kStatusCode:
        break;
    }
    return {};
  }

  AwsResult<void> Put(const Member& member, std::string_view text) {
    auto value = ScalarFromText(member, text);
    if (!value) return Bad(member, value.error());
    out_.insert_or_assign(member.name, std::move(*value));
    return {};
  }

  AwsResult<void> DecodeQueryMember(const Member& member) {
    if (member.shape->kind != ShapeKind::kList) {
      const auto value = request_.query.Find(member.WireName());
      return value ? Put(member, *value) : AwsResult<void>();
    }
    json::array items;
    for (const auto& [name, text] : request_.query.all()) {
      if (name != member.WireName()) continue;
      auto value = ScalarFromText(*member.shape->element, text);
      if (!value) return Bad(member, value.error());
      items.push_back(std::move(*value));
    }
    if (!items.empty()) out_.emplace(member.name, std::move(items));
    return {};
  }

  // An empty header says nothing, unless an empty text is what it says.
  AwsResult<void> PutHeader(const Member& member, std::string_view text) {
    if (text.empty() && member.shape->kind != ShapeKind::kString) return {};
    if (member.shape->kind == ShapeKind::kList) return PutHeaderList(member, text);
    if (!member.json_value) return Put(member, text);
    auto decoded = Base64Decode(text);
    if (!decoded) return Bad(member, ToAwsError(decoded.error()));
    return Put(member, *decoded);
  }

  AwsResult<void> PutHeaderList(const Member& member, std::string_view text) {
    json::array items;
    while (true) {
      const auto comma = text.find(',');
      std::string_view item = text.substr(0, comma);
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
      auto value = ScalarFromText(*member.shape->element, item);
      if (!value) return Bad(member, value.error());
      items.push_back(std::move(*value));
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 1);
    }
    out_.emplace(member.name, std::move(items));
    return {};
  }

  AwsResult<void> DecodeHeaders(const Member& member) {
    json::object entries;
    for (const auto& [name, text] : request_.headers.fields()) {
      const std::size_t prefix = member.location_name.size();
      if (name.size() <= prefix ||
          !EqualsIgnoreCase(name.substr(0, prefix), member.location_name)) {
        continue;
      }
      const std::string key = ToLower(name.substr(prefix));
      auto value = ScalarFromText(*member.shape->map_value, text);
      if (!value) return Bad(member, value.error());
      if (!entries.emplace(key, std::move(*value))
               .second) {  // a repeated header is one list of values
        json::string& known = entries.at(key).get_string();
        known += ",";
        known += text;
      }
    }
    if (!entries.empty()) out_.emplace(member.name, std::move(entries));
    return {};
  }

  AwsResult<void> DecodeBody(const Shape& input) {
    if (!input.payload.empty()) return DecodePayload(*input.FindMember(input.payload));
    ASSIGN_OR_RETURN(out_, DecodeJson(request_.body));
    for (const Member& member :
         input.members) {  // what is bound elsewhere cannot come in the body, too
      if (member.location == Location::kBody || !out_.contains(member.name)) continue;
      return Refuse("SerializationException", 400, "{} does not belong in the body", member.name);
    }
    return {};
  }

  AwsResult<void> DecodePayload(const Member& payload) {
    if (payload.streaming || payload.shape->streaming || request_.body.empty()) return {};
    if (payload.shape->kind == ShapeKind::kBlob) {
      out_.emplace(payload.name, Base64Encode(request_.body));
      return {};
    }
    if (payload.shape->kind != ShapeKind::kStructure) return Put(payload, request_.body);
    ASSIGN_OR_RETURN(json::object content, DecodeJson(request_.body));
    out_.emplace(payload.name, std::move(content));
    return {};
  }

  const Call& call_;
  const RequestParts& request_;
  json::object out_;
};

}  // namespace

AwsResult<json::object> DecodeRest(const Call& call, const RequestParts& request) {
  return Decoder(call, request).Decode();
}

}  // namespace sabia::wire
