#include "net/resolver.h"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstring>

#include "net/reactor.h"

namespace callgate::net {

namespace ip = boost::asio::ip;

struct Lookup::Resolver {
  ip::basic_resolver<ip::tcp, Reactor::Executor> resolver;
};

Lookup::Lookup(Loop& loop, std::string host)
    : signal_(loop),
      host_(std::move(host)),
      resolver_(new Resolver{
          ip::basic_resolver<ip::tcp, Reactor::Executor>(loop.reactor().context().get_executor())}),
      answer_(fail(ErrorCode::upstream_failed, "resolve " + host_ + ": cancelled")) {}

Lookup::~Lookup() = default;

std::shared_ptr<Lookup> Lookup::start(Loop& loop, const std::string& host, std::uint16_t port) {
  std::shared_ptr<Lookup> lookup(new Lookup(loop, host));
  using Answers = ip::basic_resolver<ip::tcp, Reactor::Executor>::results_type;
  lookup->resolver_->resolver.async_resolve(
      host, std::to_string(port), ip::resolver_base::numeric_service,
      [lookup](const boost::system::error_code& error, const Answers& found) {
        if (error) {
          lookup->answer_ =
              fail(ErrorCode::upstream_failed, "resolve " + lookup->host_ + ": " + error.message());
        } else {
          std::vector<Address> addresses;
          for (const auto& entry : found) {
            const ip::tcp::endpoint endpoint = entry.endpoint();
            Address address;
            std::memcpy(&address.storage, endpoint.data(), endpoint.size());
            address.size = static_cast<socklen_t>(endpoint.size());
            addresses.push_back(address);
          }
          lookup->answer_ = std::move(addresses);
        }
        lookup->signal_.notify();
      });
  return lookup;
}

Task<Result<std::vector<Address>>> Lookup::wait(Millis timeout) {
  if (!co_await signal_.wait(timeout)) {
    co_return fail(ErrorCode::timed_out, "resolve " + host_ + ": no answer in time");
  }
  co_return std::move(answer_);
}

void Lookup::cancel() {
  resolver_->resolver.cancel();
  signal_.notify();
}

}  // namespace callgate::net
