#ifndef FRESHET_CTLS_SHIM_H
#define FRESHET_CTLS_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// OpenSSL's macros with arguments and its 64-bit options, which Swift cannot import.

// The groups of the key exchange, of which earlier versions of OpenSSL do not know the first. OpenSSL 3 accepts groups over finite fields
// (RFC 7919) with TLS 1.3 unless told otherwise: a share of 8,192 bits costs its sender nothing, and the server a power with an exponent
// of that length (CVE-2002-20001, https://dheatattack.gitlab.io). 0 on failure.
static inline int freshet_tls_set_groups(SSL_CTX *context) {
    if (SSL_CTX_set1_groups_list(context, "X25519MLKEM768:X25519:P-256:P-384")
        || SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384")
        // A provider that is restricted to FIPS 140 may lack X25519.
        || SSL_CTX_set1_groups_list(context, "P-256:P-384")) {
        ERR_clear_error();
        return 1;
    }
    return 0;
}

// Settings that every context of a server has: https://docs.openssl.org/3.0/man3/SSL_CTX_set_options/. 0 on failure.
static inline int freshet_tls_configure(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
                                     | SSL_OP_PRIORITIZE_CHACHA);
    // An idle connection keeps no record buffers; the chain is the file's alone; a write takes all of its bytes.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_security_level(context, 2);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        && SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") && freshet_tls_set_groups(context)
        && SSL_CTX_set_session_id_context(context, (const unsigned char *)"freshet", 7);
}

static inline int freshet_tls_add_chain(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

typedef int (*freshet_tls_select)(SSL *session, int *alert, void *argument);

static inline void freshet_tls_on_server_name(SSL_CTX *context, freshet_tls_select select, void *argument) {
    SSL_CTX_set_tlsext_servername_callback(context, select);
    SSL_CTX_set_tlsext_servername_arg(context, argument);
}

static inline void freshet_bio_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void freshet_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

// The names of a certificate, of which the caller frees the list; NULL for none, or if they cannot be read.
static inline GENERAL_NAMES *freshet_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline void freshet_free_names(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

static inline int freshet_name_count(const GENERAL_NAMES *names) { return names ? sk_GENERAL_NAME_num(names) : 0; }

// The bytes of a name if it is a text of this kind, as long as the list lives: 1; otherwise 0.
static inline int freshet_name(const GENERAL_NAMES *names, int index, int kind, const unsigned char **bytes, int *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (!name || name->type != kind || (kind != GEN_URI && kind != GEN_EMAIL && kind != GEN_DNS)) return 0;
    *bytes = ASN1_STRING_get0_data(name->d.ia5);
    *count = ASN1_STRING_length(name->d.ia5);
    return 1;
}

// The sum of the SHA-256 digests of the certificates that a context trusts, bit by bit and so in any order: 1; otherwise 0.
static inline int freshet_tls_authority_digest(SSL_CTX *context, unsigned char digest[32]) {
    const STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
    for (int byte = 0; byte < 32; byte++) digest[byte] = 0;
    for (int index = 0; index < sk_X509_OBJECT_num(objects); index++) {
        const X509 *certificate = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, index));
        unsigned char one[EVP_MAX_MD_SIZE];
        if (!certificate) continue;
        if (X509_digest(certificate, EVP_sha256(), one, NULL) != 1) return 0;
        for (int byte = 0; byte < 32; byte++) digest[byte] ^= one[byte];
    }
    return 1;
}

static inline int freshet_error_reason(unsigned long error) { return ERR_GET_REASON(error); }

#endif
