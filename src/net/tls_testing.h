// For tests: certificates, made when they are needed.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "net/server.h"

namespace callgate::net {

struct X509Free {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Certificate = std::unique_ptr<X509, X509Free>;
using Key = std::unique_ptr<EVP_PKEY, X509Free>;

inline Key make_key() { return Key(EVP_EC_gen("P-256")); }

inline void add_extension(X509& certificate, int kind, const char* value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `issuer`, or by itself. `names` such as `DNS:localhost,IP:127.0.0.1`; empty: an authority.
inline Certificate make_certificate(EVP_PKEY& key, const char* subject, const char* names,
                                    X509* issuer, EVP_PKEY& issuer_key, long valid_seconds) {
  static long serial = 1;
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), valid_seconds);
  X509_set_pubkey(certificate.get(), &key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(subject), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), issuer == nullptr ? name : X509_get_subject_name(issuer));
  if (*names == '\0') {
    add_extension(*certificate, NID_basic_constraints, "critical,CA:TRUE");
  } else {
    add_extension(*certificate, NID_subject_alt_name, names);
  }
  X509_sign(certificate.get(), &issuer_key, EVP_sha256());
  return certificate;
}

// An authority and certificates signed by it, as files that go with the object.
class Authority {
 public:
  explicit Authority(const char* name = "test authority")
      : key_(make_key()), certificate_(make_certificate(*key_, name, "", nullptr, *key_, 3600)) {
    write(ca_file(), [&](std::FILE* file) { PEM_write_X509(file, certificate_.get()); });
  }
  ~Authority() {
    for (const std::string& file : files_) std::remove(file.c_str());
  }

  std::string ca_file() const { return prefix_ + "ca.pem"; }

  TlsFiles issue(const std::string& label, const char* names, long valid_seconds = 3600) {
    const Key key = make_key();
    const Certificate certificate =
        make_certificate(*key, label.c_str(), names, certificate_.get(), *key_, valid_seconds);
    const TlsFiles files{prefix_ + label + ".pem", prefix_ + label + ".key"};
    write(files.certificate, [&](std::FILE* file) { PEM_write_X509(file, certificate.get()); });
    write(files.key, [&](std::FILE* file) {
      PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return files;
  }

 private:
  template <class Write>
  void write(const std::string& path, Write into) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    into(file);
    std::fclose(file);
    files_.push_back(path);
  }

  std::string prefix_ = testing::TempDir() + "callgate_tls_" + std::to_string(::getpid()) + "_" +
                        std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "_";
  Key key_;
  Certificate certificate_;
  std::vector<std::string> files_;
};

}  // namespace callgate::net
