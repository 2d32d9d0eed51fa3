#include "wire/certificate.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>

#include "base/check.h"

namespace sabia::wire {
namespace {

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioPtr = std::unique_ptr<BIO, BioDeleter>;

tl::unexpected<Error> FailOpenSsl(ErrorCode code, std::string_view what) {
  const unsigned long number = ERR_get_error();
  ERR_clear_error();
  char text[256] = "unknown error";
  if (number != 0) ERR_error_string_n(number, text, sizeof text);
  return Fail(code, "{}: {}", what, text);
}

bool IsAddress(const std::string& name) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    text.append(IsAddress(name) ? "IP:" : "DNS:").append(name);
  }
  return text;
}

bool AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  if (extension == nullptr) return false;
  const int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added == 1;
}

bool AddExtensions(X509* certificate, X509* issuer, const CertificateRequest& request) {
  const bool authority = request.names.empty();
  if (!AddExtension(certificate, issuer, NID_subject_key_identifier, "hash") ||
      !AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always")) {
    return false;
  }
  if (authority) {
    return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           AddExtension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
         AddExtension(certificate, issuer, NID_ext_key_usage, "serverAuth") &&
         AddExtension(certificate, issuer, NID_subject_alt_name, AlternativeNames(request.names));
}

void SetSerial(X509* certificate, env::Random& random) {
  unsigned char bytes[16];
  random.Fill(bytes);
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x3f) | 0x40);  // positive, and never short
  BIGNUM* number = BN_bin2bn(bytes, sizeof bytes, nullptr);
  CHECK(number != nullptr);
  CHECK(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr);
  BN_free(number);
}

std::time_t UnixSeconds(WallTime time) {
  return static_cast<std::time_t>(ToUnixMillis(time) / 1000);
}

bool SetSubject(X509* certificate, const std::string& common_name) {
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto add = [name](const char* field, const std::string& value) {
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(value.data()),
                                      static_cast<int>(value.size()), -1, 0) == 1;
  };
  return add("O", "Sabia") && add("CN", common_name);
}

}  // namespace

Result<KeyPair> IssueCertificate(const CertificateRequest& request, const KeyPair* issuer,
                                 env::Random& random) {
  ERR_clear_error();
  KeyPair pair;
  pair.key.reset(EVP_EC_gen("P-256"));
  pair.certificate.reset(X509_new());
  X509* certificate = pair.certificate.get();
  if (!pair.key || certificate == nullptr)
    return FailOpenSsl(ErrorCode::kInternal, "failed to make a key");
  X509* issuer_certificate = issuer != nullptr ? issuer->certificate.get() : certificate;
  EVP_PKEY* issuer_key = issuer != nullptr ? issuer->key.get() : pair.key.get();
  SetSerial(certificate, random);
  const bool filled =
      X509_set_version(certificate, X509_VERSION_3) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(certificate), UnixSeconds(request.from)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(certificate), UnixSeconds(request.until)) != nullptr &&
      SetSubject(certificate, request.common_name) &&
      X509_set_pubkey(certificate, pair.key.get()) == 1 &&
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer_certificate)) == 1 &&
      AddExtensions(certificate, issuer_certificate, request) &&
      X509_sign(certificate, issuer_key, EVP_sha256()) > 0;
  if (!filled) return FailOpenSsl(ErrorCode::kInternal, "failed to make a certificate");
  return pair;
}

std::string ToPem(const X509& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  CHECK(bio != nullptr && PEM_write_bio_X509(bio.get(), &certificate) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string ToPem(const EVP_PKEY& key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  CHECK(bio != nullptr &&
        PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<KeyPair> ParseKeyPair(const std::string& certificate_pem, const std::string& key_pem) {
  ERR_clear_error();
  const BioPtr certificate(
      BIO_new_mem_buf(certificate_pem.data(), static_cast<int>(certificate_pem.size())));
  const BioPtr key(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
  KeyPair pair;
  pair.certificate.reset(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
  if (!pair.certificate) return FailOpenSsl(ErrorCode::kInvalidArgument, "not a certificate");
  pair.key.reset(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
  if (!pair.key) return FailOpenSsl(ErrorCode::kInvalidArgument, "not a private key");
  if (X509_check_private_key(pair.certificate.get(), pair.key.get()) != 1) {
    return FailOpenSsl(ErrorCode::kInvalidArgument, "the key is of another certificate");
  }
  return pair;
}

WallTime ExpiryOf(const X509& certificate) {
  std::tm parts{};
  CHECK(ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) == 1);
  return FromUnixSeconds(static_cast<double>(::timegm(&parts)));
}

bool IsIssuedBy(const X509& certificate, const KeyPair& issuer) {
  X509* mutable_certificate =
      const_cast<X509*>(&certificate);  // X509_verify takes no const before OpenSSL 3.2
  const bool genuine = X509_verify(mutable_certificate, issuer.key.get()) == 1 &&
                       X509_NAME_cmp(X509_get_issuer_name(&certificate),
                                     X509_get_subject_name(issuer.certificate.get())) == 0;
  ERR_clear_error();
  return genuine;
}

bool HasNames(const X509& certificate, const std::vector<std::string>& names) {
  X509* mutable_certificate = const_cast<X509*>(&certificate);  // as above
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    if (IsAddress(name)) return X509_check_ip_asc(mutable_certificate, name.c_str(), 0) == 1;
    // A wildcard stands for some host below it.
    const std::string host = name.starts_with("*.") ? "any" + name.substr(1) : name;
    return X509_check_host(mutable_certificate, host.data(), host.size(), 0, nullptr) == 1;
  });
}

}  // namespace sabia::wire
