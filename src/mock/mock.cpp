#include "mock/mock.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "client/protocol.h"
#include "compress/content_encoder.h"
#include "dial/upstream_call.h"
#include "json/writer.h"
#include "net/loop.h"
#include "net/server.h"
#include "script/reply/qwen_web_reply.h"
#include "script/reply/reply_encoder.h"
#include "script/scripted_model.h"
#include "turn/loop_choice.h"

namespace callgate::server {
namespace {

constexpr std::string_view kChats = "/api/v2/chats";

net::Headers to_headers(std::span<const std::pair<std::string, std::string>> pairs) {
  net::Headers headers;
  for (const auto& [name, value] : pairs) headers.add(name, value);
  return headers;
}

std::optional<compress::Format> format_of(std::optional<script::Fault> coding) {
  using compress::Format;
  using script::Fault;
  constexpr std::pair<Fault, Format> kFormats[] = {{Fault::gzip, Format::gzip},
                                                   {Fault::deflate, Format::deflate},
                                                   {Fault::bare_deflate, Format::bare_deflate},
                                                   {Fault::br, Format::br},
                                                   {Fault::zstd, Format::zstd}};
  for (const auto& [fault, format] : kFormats) {
    if (coding == fault) return format;
  }
  return std::nullopt;
}

// The body of an answer, in the coding that a fault asks for.
class BodyCoding {
 public:
  explicit BodyCoding(std::optional<script::Fault> fault) : format_(format_of(fault)) {
    if (format_) encoder_ = compress::ContentEncoder::make(*format_);
  }

  net::Headers add_to(net::Headers headers) const {
    if (format_) headers.add("content-encoding", compress::coding_name(*format_));
    return headers;
  }
  // Valid until the next call.
  std::string_view encode(std::string_view bytes) {
    if (!encoder_ || bytes.empty()) return bytes;
    encoded_.clear();
    encoder_->push(bytes, encoded_);
    return encoded_;
  }
  std::string end() {
    std::string rest;
    if (encoder_) encoder_->finish(rest);
    return rest;
  }

 private:
  std::optional<compress::Format> format_;
  std::unique_ptr<compress::ContentEncoder> encoder_;
  std::string encoded_;
};

class MockServer {
 public:
  MockServer(net::Loop& loop, script::Script script, ScriptedChats& chats)
      : loop_(loop),
        model_(std::move(script)),
        chats_(chats),
        server_(loop, {}, [this](net::Exchange& e) { return answer(e); }) {}

  net::HttpServer& server() { return server_; }

 private:
  net::Task<> answer(net::Exchange& exchange) {
    const std::string_view path = exchange.head().path;
    if (exchange.head().method == "GET" && path.ends_with("/models"))
      co_return co_await list_models(exchange);
    if (path.find(kChats) != std::string_view::npos) co_return co_await answer_chats(exchange);
    if (const Endpoint* asked = find_catalog(path)) {
      co_return co_await answer_catalog(exchange, *asked);
    }
    const script::ReplyFormat* format = nullptr;
    for (const script::ReplyFormat* each : script::reply_formats()) {
      if (exchange.head().method == "POST" && each->serves(path)) format = each;
    }
    if (format == nullptr) {
      const Error unknown{.code = ErrorCode::not_found,
                          .message = "the mock has no " + std::string(path) +
                                     "; it answers POST .../chat/completions and the paths of the "
                                     "other wire formats, and GET .../models"};
      co_return co_await refuse(exchange, unknown);
    }
    const std::string target(exchange.head().target);
    auto body = co_await exchange.body();
    if (!body) co_return co_await refuse(exchange, body.error());
    const Protocol& spoken = format->protocol == nullptr ? protocol_ : *format->protocol;
    auto request = read_request(*format, spoken, target, *body);
    if (!request) co_return co_await refuse(exchange, request.error(), &spoken);
    script::ReplyOptions options;
    options.wire = format->name;
    options.form = request->form;
    options.call_text = call_text(format->call_dialect);
    if (format->name == "qwen_web") {
      auto posted = chats_.post(*body);
      if (!posted) co_return co_await refuse_message(exchange, posted.error());
      *request = std::move(posted->request);
      options.place = std::move(posted->place);
    }
    exchange.drop_body();
    script::Reply reply = model_.reply(*request, options);
    co_await perform(exchange, reply, options.place);
    if (!options.place.empty()) chats_.end(options.place);
  }

  static Result<Request> read_request(const script::ReplyFormat& format, const Protocol& protocol,
                                      std::string_view target, std::string_view body) {
    if (format.decode != nullptr) return format.decode(target, body);
    const std::size_t question = std::min(target.find('?'), target.size());
    auto request = protocol.decode({.body = body,
                                    .path = target.substr(0, question),
                                    .query = target.substr(std::min(question + 1, target.size()))});
    if (!request || format.name != "openai_chat") return request;
    if (auto checked = check_tool_choice(*request, {}); !checked) {
      return tl::unexpected(checked.error());
    }
    return request;
  }

  // POST .../chats/new, GET .../chats and GET .../chats/ID.
  net::Task<> answer_chats(net::Exchange& exchange) {
    const std::string_view path = exchange.head().path;
    const std::string_view rest = path.substr(path.find(kChats) + kChats.size());
    const bool is_get = exchange.head().method == "GET";
    std::optional<std::string> body;
    if (is_get && rest.empty()) body = chats_.list();
    if (is_get && rest.size() > 1) body = chats_.print(rest.substr(1));
    if (!is_get && rest == "/new") {
      const auto asked = co_await exchange.body();
      if (!asked) co_return co_await refuse(exchange, asked.error());
      body = chats_.start();
    }
    if (!body) body = script::qwen_web_error_body("Not_Found", "there is no " + std::string(path));
    co_await exchange.respond(200, "application/json", *body);
  }

  // What Ollama has beside turns: GET .../api/tags, /api/ps and /api/version, and POST .../api/show.
  const Endpoint* find_catalog(std::string_view path) const {
    for (const Endpoint& endpoint : ollama_.endpoints) {
      if (endpoint.kind != Endpoint::Kind::turn && path.ends_with(endpoint.path)) return &endpoint;
    }
    return nullptr;
  }

  net::Task<> answer_catalog(net::Exchange& exchange, const Endpoint& endpoint) {
    const auto asked = co_await exchange.body();
    if (!asked) co_return co_await refuse(exchange, asked.error());
    std::vector<ModelEntry> models;
    for (const std::string& name : model_.script().models) models.push_back({name, "script"});
    std::string body(endpoint.answer);
    int status = 200;
    if (endpoint.kind == Endpoint::Kind::models) body = ollama_.print_models(models);
    if (endpoint.kind == Endpoint::Kind::model) {
      const std::string name = ollama_.named_model({.body = *asked}).value_or("");
      const auto found = std::find_if(models.begin(), models.end(),
                                      [&](const ModelEntry& model) { return model.id == name; });
      const Error unknown{.code = ErrorCode::not_found, .message = "model not found"};
      status = found == models.end() ? 404 : 200;
      body = found == models.end() ? ollama_.error_body(unknown) : ollama_.print_model(*found);
    }
    co_await exchange.respond(status, "application/json", body);
  }

  net::Task<> refuse_message(net::Exchange& exchange, const Error& error) {
    const std::string body = script::qwen_web_error_body(
        error.code == ErrorCode::not_found ? "Not_Found" : "Bad_Request", error.message);
    co_await exchange.respond(200, "application/json", body);
  }

  net::Task<> perform(net::Exchange& exchange, script::Reply& reply,
                      const script::ReplyPlace& place) {
    net::Signal gone(loop_);
    bool left = false;
    exchange.on_client_gone([&] {
      left = true;
      gone.notify();
    });
    BodyCoding coding(reply.coding());
    while (const auto action = reply.next()) {
      if (left) break;
      if (const auto* write = std::get_if<script::Write>(&*action)) {
        if (!exchange.started()) {
          exchange.start(reply.status(), coding.add_to(to_headers(reply.headers())));
        }
        if (!place.empty()) chats_.sent(place, write->bytes);
        if (!co_await exchange.write(coding.encode(write->bytes))) co_return;
      } else if (const auto* wait = std::get_if<script::Wait>(&*action)) {
        co_await gone.wait(net::Millis(wait->milliseconds));
      } else if (const auto* whole = std::get_if<script::Respond>(&*action)) {
        std::string body(coding.encode(whole->body));
        body += coding.end();
        co_await exchange.respond(whole->status, coding.add_to(to_headers(whole->headers)), body);
        co_return;
      } else if (std::holds_alternative<script::Hang>(*action)) {
        co_await gone.wait();
        co_return;
      } else {
        exchange.abort();
        co_return;
      }
    }
    exchange.on_client_gone({});
    const std::string rest = coding.end();
    if (!left && exchange.started()) co_await exchange.end(rest);
  }

  net::Task<> list_models(net::Exchange& exchange) {
    std::string body = "{\"object\":\"list\",\"data\":[";
    for (const std::string& name : model_.script().models) {
      if (body.back() == '}') body += ',';
      json::ObjectWriter model(body);
      model.string("id", name);
      model.string("object", "model");
      model.integer("created", 0);
      model.string("owned_by", "mock");
      model.close();
    }
    body += "]}";
    co_await exchange.respond(200, "application/json", body);
  }

  net::Task<> refuse(net::Exchange& exchange, const Error& error,
                     const Protocol* protocol = nullptr) {
    const Protocol& spoken = protocol == nullptr ? protocol_ : *protocol;
    co_await exchange.respond(spoken.status_of(error), "application/json",
                              spoken.error_body(error));
  }

  net::Loop& loop_;
  const Protocol& protocol_ = *client::find("openai_chat");  // of all that is nobody's
  const Protocol& ollama_ = *client::find("ollama");
  script::ScriptedModel model_;
  ScriptedChats& chats_;
  net::HttpServer server_;
};

}  // namespace

Result<void> run_mock(const MockOptions& options) {
  auto script = load_script(options.script);
  if (!script) return tl::unexpected(script.error());
  auto endpoint = net::parse_endpoint(options.listen);
  if (!endpoint) return tl::unexpected(endpoint.error());
  const std::size_t threads = options.threads > 0 ? static_cast<std::size_t>(options.threads) : 1;
  ScriptedChats chats(100'000);
  net::LoopGroup loops(threads);
  std::vector<std::unique_ptr<MockServer>> servers;
  for (std::size_t i = 0; i < threads; ++i) {
    servers.push_back(std::make_unique<MockServer>(loops[i], *script, chats));
    if (i > 0) {
      if (auto shared = servers[i]->server().listen_like(servers[0]->server()); !shared)
        return shared;
      continue;
    }
    auto bound = servers[0]->server().listen(*endpoint);
    if (!bound) return tl::unexpected(bound.error());
    *endpoint = *bound;
  }
  const auto stop = [&loops] { loops.stop(); };
  loops[0].on_signal(SIGINT, stop);
  loops[0].on_signal(SIGTERM, stop);
  loops.start();
  std::printf("listening on %s%s\n", endpoint->unix_path.empty() ? "http://" : "",
              net::to_text(*endpoint).c_str());
  std::fflush(stdout);
  loops.join();
  return {};
}

}  // namespace callgate::server
