#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace callgate::net {

namespace {

// ALPN's list form: each name after its length.
constexpr std::string_view kHttp11 = "\x08http/1.1";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Clients that offer only other protocols are let in without one: they may still speak HTTP/1.1.
int select_http11(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                  const unsigned char* offered, unsigned int offered_size, void*) {
  unsigned char* found = nullptr;
  const int result =
      SSL_select_next_proto(&found, chosen_size, bytes_of(kHttp11),
                            static_cast<unsigned>(kHttp11.size()), offered, offered_size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

TlsContext make_context(const SSL_METHOD* method) {
  TlsContext context(SSL_CTX_new(method));
  if (!context) return context;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // One read for a record's head and body, and for the records that came with it.
  SSL_CTX_set_read_ahead(context.get(), 1);
  return context;
}

// Where distributions keep the certificates that they trust.
constexpr const char* kBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",              // openSUSE
    "/etc/ssl/cert.pem",
};

// OpenSSL looks where the system that it was built on has them, which is another one for a portable binary.
void trust_system(SSL_CTX* context) {
  SSL_CTX_set_default_verify_paths(context);
  const bool chosen = std::getenv(X509_get_default_cert_file_env()) != nullptr ||
                      std::getenv(X509_get_default_cert_dir_env()) != nullptr;
  std::error_code ignored;
  if (chosen || std::filesystem::exists(X509_get_default_cert_file(), ignored) ||
      std::filesystem::exists(X509_get_default_cert_dir(), ignored)) {
    return;
  }
  for (const char* bundle : kBundles) {
    if (!std::filesystem::exists(bundle, ignored)) continue;
    if (SSL_CTX_load_verify_locations(context, bundle, nullptr) == 1) return;
    ERR_clear_error();
  }
}

tl::unexpected<Error> tls_failure(std::string what) {
  return fail(ErrorCode::unavailable, std::move(what) + ": " + tls_error_text(nullptr));
}

}  // namespace

void TlsFree::operator()(SSL* session) const { SSL_free(session); }
void TlsFree::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
void TlsFree::operator()(SSL_SESSION* ticket) const { SSL_SESSION_free(ticket); }

Result<TlsContext> make_server_tls(const std::string& certificate_file,
                                   const std::string& key_file) {
  ERR_clear_error();
  TlsContext context = make_context(TLS_server_method());
  if (!context) return tls_failure("TLS");
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
    return tls_failure("certificate " + certificate_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return tls_failure("key " + key_file);
  }
  SSL_CTX_set_alpn_select_cb(context.get(), select_http11, nullptr);
  return context;
}

TlsContext share(const TlsContext& context) {
  if (context) SSL_CTX_up_ref(context.get());
  return TlsContext(context.get());
}

Result<TlsContext> make_client_tls(const std::string& ca_file, bool insecure) {
  ERR_clear_error();
  TlsContext context = make_context(TLS_client_method());
  if (!context) return tls_failure("TLS");
  if (ca_file.empty()) {
    trust_system(context.get());
  } else if (SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr) != 1) {
    return tls_failure("CA file " + ca_file);
  }
  SSL_CTX_set_verify(context.get(), insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), bytes_of(kHttp11), static_cast<unsigned>(kHttp11.size()));
  return context;
}

TlsSession make_server_session(const TlsContext& context) {
  TlsSession session(SSL_new(context.get()));
  if (!session) return session;
  SSL_set_accept_state(session.get());
  return session;
}

Result<TlsSession> make_client_session(const TlsContext& context, const std::string& host,
                                       const TlsTicket& ticket) {
  ERR_clear_error();
  TlsSession session(SSL_new(context.get()));
  if (!session) return tls_failure("TLS session");
  SSL_set_connect_state(session.get());
  if (ticket) SSL_set_session(session.get(), ticket.get());
  X509_VERIFY_PARAM* verify = SSL_get0_param(session.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str()) == 1) return session;
  X509_VERIFY_PARAM_set_hostflags(verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set1_host(session.get(), host.c_str()) != 1 ||
      SSL_set_tlsext_host_name(session.get(), host.c_str()) != 1) {
    return tls_failure("TLS host name " + host);
  }
  return session;
}

std::string tls_error_text(const SSL* session) {
  if (session != nullptr) {
    const long verdict = SSL_get_verify_result(session);
    if (verdict != X509_V_OK) {
      return std::string(kCertificateFault) + X509_verify_cert_error_string(verdict);
    }
  }
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "the peer closed the connection" : reason;
}

}  // namespace callgate::net
