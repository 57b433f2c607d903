#include <gtest/gtest.h>

#include <array>

#include "client/protocol.h"

namespace callgate::client {
namespace {

TEST(Protocols, describe_themselves_completely) {
  for (const Protocol* protocol : all()) {
    SCOPED_TRACE(protocol->name);
    EXPECT_EQ(find(protocol->name), protocol);
    EXPECT_FALSE(protocol->endpoints.empty());
    EXPECT_NE(protocol->id_prefix, "");
    EXPECT_NE(protocol->stream_type, "");
    EXPECT_NE(protocol->keep_alive, "");
    EXPECT_NE(protocol->decode, nullptr);
    EXPECT_NE(protocol->make_encoder, nullptr);
    EXPECT_NE(protocol->error_body, nullptr);
    EXPECT_NE(protocol->print_models, nullptr);
    EXPECT_NE(protocol->print_model, nullptr);
  }
}

TEST(Protocols, are_known_by_their_paths) {
  EXPECT_EQ(for_path("/v1/chat/completions").name, "openai_chat");
  EXPECT_EQ(for_path("/v1/models/a/b").name, "openai_chat");
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
}  // namespace callgate::client
