// TLS with OpenSSL driven on the socket itself: a waiting session holds no buffers.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"

using SSL = struct ssl_st;
using SSL_CTX = struct ssl_ctx_st;
using SSL_SESSION = struct ssl_session_st;

namespace callgate::net {

struct TlsFree {
  void operator()(SSL* session) const;
  void operator()(SSL_CTX* context) const;
  void operator()(SSL_SESSION* ticket) const;
};
using TlsSession = std::unique_ptr<SSL, TlsFree>;
using TlsTicket = std::unique_ptr<SSL_SESSION, TlsFree>;
using TlsContext = std::unique_ptr<SSL_CTX, TlsFree>;

Result<TlsContext> make_server_tls(const std::string& certificate_file,
                                   const std::string& key_file);
// Another owner of the same context.
TlsContext share(const TlsContext& context);
// Verifies against `ca_file`, or the system's certificates when it is empty.
Result<TlsContext> make_client_tls(const std::string& ca_file, bool insecure);

// Sessions need something to run on: see Stream::start_tls().
TlsSession make_server_session(const TlsContext& context);
// Sends `host` as SNI and checks the certificate for it. Goes on from `ticket`, of an earlier session with the same host, if there
// is one and the server agrees.
Result<TlsSession> make_client_session(const TlsContext& context, const std::string& host,
                                       const TlsTicket& ticket = {});

// The last OpenSSL error in words, or why the certificate was refused.
std::string tls_error_text(const SSL* session);
// What it begins with when the certificate was the reason.
inline constexpr std::string_view kCertificateFault = "certificate refused: ";

}  // namespace callgate::net
