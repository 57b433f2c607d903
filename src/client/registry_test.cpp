#include <gtest/gtest.h>

#include <array>

#include "client/protocol.h"

namespace callgate::client::registry_test {
namespace {

TEST(Protocols, describe_themselves_completely) {
  for (const Protocol* protocol : all()) {
    SCOPED_TRACE(protocol->name);
    EXPECT_EQ(find(protocol->name), protocol);
    EXPECT_FALSE(protocol->endpoints.empty());
    EXPECT_NE(protocol->id_prefix, "");
    EXPECT_NE(protocol->stream_type, "");
    EXPECT_NE(protocol->decode, nullptr);
    EXPECT_NE(protocol->make_encoder, nullptr);
    EXPECT_NE(protocol->error_body, nullptr);
    for (const Endpoint& endpoint : protocol->endpoints) {
      SCOPED_TRACE(endpoint.path);
      switch (endpoint.kind) {
        case Endpoint::Kind::turn:
          break;
        case Endpoint::Kind::models:
          EXPECT_NE(protocol->print_models, nullptr);
          break;
        case Endpoint::Kind::model:
          EXPECT_NE(protocol->print_model, nullptr);
          break;
        case Endpoint::Kind::count_tokens:
          EXPECT_NE(protocol->print_token_count, nullptr);
          break;
        case Endpoint::Kind::fixed:
          EXPECT_NE(endpoint.answer, "");
          break;
      }
    }
  }
}

TEST(Protocols, are_known_by_their_paths) {
  EXPECT_EQ(for_path("/v1/chat/completions").name, "openai_chat");
  EXPECT_EQ(for_path("/v1/models/a/b").name, "openai_chat");
  EXPECT_EQ(for_path("/v1/completions").name, "openai_completions");
  EXPECT_EQ(for_path("/api/chat").name, "ollama");
  EXPECT_EQ(for_path("/api/version").name, "ollama");
  EXPECT_EQ(for_path("/v1beta/models/a/b:streamGenerateContent").name, "gemini");
  EXPECT_EQ(for_path("/v1beta/models").name, "gemini");
  EXPECT_EQ(for_path("/nowhere").name, all().front()->name);
  EXPECT_EQ(for_path("").name, all().front()->name);
  EXPECT_EQ(find("telex"), nullptr);
}

TEST(Protocols, list_models) {
  const Protocol& chat = *find("openai_chat");
  const std::array<ModelEntry, 2> models = {{{"a", "up", 7}, {"b\"", "down", 8}}};
  EXPECT_EQ(chat.print_model(models[0]),
            R"({"id":"a","object":"model","created":7,"owned_by":"up"})");
  EXPECT_EQ(chat.print_models(models),
            R"({"object":"list","data":[{"id":"a","object":"model","created":7,"owned_by":"up"},)"
            R"({"id":"b\"","object":"model","created":8,"owned_by":"down"}]})");
  EXPECT_EQ(chat.print_models({}), R"({"object":"list","data":[]})");
}

}  // namespace
}  // namespace callgate::client::registry_test
