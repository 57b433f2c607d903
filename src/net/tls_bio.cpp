#include "net/tls_bio.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "base/check.h"

namespace callgate::net {
namespace {

Descriptor& descriptor_of(BIO* bio) { return *static_cast<Descriptor*>(BIO_get_data(bio)); }

int read_some(BIO* bio, char* buffer, int size) {
  Descriptor& descriptor = descriptor_of(bio);
  BIO_clear_retry_flags(bio);
  if (!descriptor.readable()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const auto got =
      static_cast<int>(::recv(descriptor.fd(), buffer, static_cast<std::size_t>(size), 0));
  const bool again = got < 0 && is_again(errno);
  if (again || (got > 0 && got < size)) descriptor.drained();
  if (again || (got < 0 && errno == EINTR)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return got;
}

int write_some(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = static_cast<int>(
      ::send(descriptor_of(bio).fd(), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL));
  if (sent < 0 && (is_again(errno) || errno == EINTR)) BIO_set_retry_write(bio);
  return sent;
}

long control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    case BIO_CTRL_FLUSH:
      return 1;
    default:
      return 0;
  }
}

struct FreeMethod {
  void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};

std::unique_ptr<BIO_METHOD, FreeMethod> make_method() {
  std::unique_ptr<BIO_METHOD, FreeMethod> method(
      BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "descriptor"));
  CALLGATE_CHECK(method != nullptr);
  BIO_meth_set_read(method.get(), read_some);
  BIO_meth_set_write(method.get(), write_some);
  BIO_meth_set_ctrl(method.get(), control);
  return method;
}

}  // namespace

void run_on(SSL& session, Descriptor& descriptor) {
  static const auto method = make_method();
  BIO* const bio = BIO_new(method.get());
  CALLGATE_CHECK(bio != nullptr);
  BIO_set_data(bio, &descriptor);
  BIO_set_init(bio, 1);
  SSL_set_bio(&session, bio, bio);
}

}  // namespace callgate::net
