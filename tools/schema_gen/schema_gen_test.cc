#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emit.h"
#include "model.h"

namespace sabia::schema_gen {
namespace {

using testing::HasSubstr;
using testing::Not;

json::object Document(std::string_view shapes) {
  return *ParseJsonObject(
      R"({"service":"my-service","operations":{"Act":{"http":"POST /","input":"In"}},"shapes":{
      "Text":{"type":"string"},"Count":{"type":"integer"},)" +
      std::string(shapes) + "}}");
}

std::string Header(std::string_view shapes) {
  const auto service = MakeService(Document(shapes), {"Act"});
  return service ? EmitHeader(*service) : service.error().message;
}

TEST(SchemaGen, NamesAreSnakeCase) {
  EXPECT_EQ(SnakeCase("TrainingJobName"), "training_job_name");
  EXPECT_EQ(SnakeCase("S3Uri"), "s3_uri");
  EXPECT_EQ(SnakeCase("VolumeSizeInGB"), "volume_size_in_gb");
  EXPECT_EQ(SnakeCase("KMSKeyId"), "kms_key_id");
  EXPECT_EQ(SnakeCase("logGroupName"), "log_group_name");
  EXPECT_EQ(SnakeCase("Default"), "default_");
  EXPECT_EQ(SnakeCase("Inline"), "inline_");
}

TEST(SchemaGen, ActionsAreReadByLine) {
  const auto actions = ReadActions("# note\nlogs B # why\n\nlogs A\ns3 C\n");
  ASSERT_TRUE(actions);
  EXPECT_EQ(actions->at("logs"), (std::set<std::string>{"A", "B"}));
  EXPECT_EQ(actions->at("s3"), std::set<std::string>{"C"});
  EXPECT_FALSE(ReadActions("logs\n"));
  EXPECT_FALSE(ReadActions("logs A B\n"));
}

TEST(SchemaGen, StructuresComeAfterWhatTheyContain) {
  const std::string header = Header(
      R"("In":{"type":"structure","members":{"Parts":"PartList","Count":"Count","Names":"NameMap"}},
         "PartList":{"type":"list","member":"Part"},
         "NameMap":{"type":"map","key":"Text","value":"Text"},
         "Part":{"type":"structure","members":{"PartName":{"shape":"Text"}}},
         "Unused":{"type":"structure","members":{}})");
  EXPECT_THAT(header, HasSubstr("namespace sabia::wire::my_service {"));
  EXPECT_THAT(header, HasSubstr("std::optional<std::vector<Part>> parts;"));
  EXPECT_THAT(header, HasSubstr("std::optional<std::map<std::string, std::string>> names;"));
  EXPECT_THAT(header, HasSubstr("std::optional<std::int32_t> count;"));
  EXPECT_LT(header.find("struct Part {"), header.find("struct In {"));
  EXPECT_THAT(header, Not(HasSubstr("Unused")));
}

TEST(SchemaGen, StreamsStayOutside) {
  const std::string header = Header(
      R"("In":{"type":"structure","members":{"Body":{"shape":"Bytes","streaming":true},"A":"Text"}},
         "Bytes":{"type":"blob"})");
  EXPECT_THAT(header, Not(HasSubstr("body")));
}

TEST(SchemaGen, RecursionIsDeclaredForward) {
  std::string header = Header(R"("In":{"type":"structure","members":{"Next":"InList"}},
                                 "InList":{"type":"list","member":"In"})");
  EXPECT_THAT(header, HasSubstr("struct In;\n"));
  EXPECT_THAT(header, HasSubstr("std::optional<std::vector<In>> next;"));
  header = Header(R"("In":{"type":"structure","members":{"Next":"In"}})");
  EXPECT_THAT(header, HasSubstr("std::optional<Box<In>> next;"));
}

TEST(SchemaGen, MissingPartsAreNamed) {
  EXPECT_EQ(Header(R"("In":{"type":"structure","members":{"A":"Gone"}})"), "no shape 'Gone'");
  const auto service = MakeService(Document(R"("In":{"type":"structure"})"), {"Missing"});
  ASSERT_FALSE(service);
  EXPECT_EQ(service.error().message, "'my-service' has no action 'Missing'");
}

TEST(SchemaGen, SourcesReadAndWriteEveryField) {
  const auto service =
      MakeService(Document(R"("In":{"type":"structure","members":{"A":"Text"}})"), {"Act"});
  const std::string source = EmitSource(*service);
  EXPECT_THAT(source, HasSubstr("codec::Read(in, \"A\", out.a);"));
  EXPECT_THAT(source, HasSubstr("codec::Write(out, \"A\", a);"));
}

}  // namespace
}  // namespace sabia::schema_gen
