// Upstreams that report calls themselves: text is text, as it is.
#include "dialect/output.h"

namespace callgate::dialect::native {
namespace {

class NativeParser final : public AuditedParser {
 public:
  explicit NativeParser(const DialectOptions& options)
      : start_(options.start), out_(options.commit, options.max_held_back) {}

  void push(std::string_view text, Channel channel, EventSink& sink) override {
    out_.bind(sink);
    out_.verbatim(start_ == Channel::reasoning ? start_ : channel, text);
  }
  void finish(EventSink& sink) override {
    out_.bind(sink);
    out_.finish();
  }
  const Audit& audit() const override { return out_.audit(); }
  std::size_t held_size() const override { return 0; }

 private:
  Channel start_;
  Output out_;
};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return std::make_unique<NativeParser>(options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "native",
                                 .spec = "the upstream reports calls itself; text passes untouched",
                                 .make = make};

}  // namespace callgate::dialect::native
