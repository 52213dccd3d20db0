#pragma once

// libfido2's verifier, which the tests ask for a second opinion.
//
// Why not the one that decides: it knows neither ES512, Ed448 and PSS, nor the formats of Apple and
// Android, nor chains of certificates, nor what the browser says. What it does know it must agree
// about.

#include <fido.h>
#include <fido/eddsa.h>
#include <fido/es256.h>
#include <fido/es384.h>
#include <fido/rs256.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shim_fido_bytes {
    const uint8_t *start;
    size_t count;
};

// A registration; `certificate` is empty for self attestation, and `format` NULL for none at all.
// The caller frees what comes back with fido_cred_free.
static inline fido_cred_t *shim_fido_register(
    int algorithm, const char *party, struct shim_fido_bytes data, struct shim_fido_bytes hash,
    const char *format, struct shim_fido_bytes certificate, struct shim_fido_bytes signature) {
    fido_cred_t *credential = fido_cred_new();
    if (credential == NULL)
        return NULL;
    bool done = fido_cred_set_type(credential, algorithm) == FIDO_OK
        && fido_cred_set_rp(credential, party, NULL) == FIDO_OK
        && fido_cred_set_authdata_raw(credential, data.start, data.count) == FIDO_OK
        && fido_cred_set_clientdata_hash(credential, hash.start, hash.count) == FIDO_OK;
    if (done && format != NULL) {
        done = fido_cred_set_fmt(credential, format) == FIDO_OK
            && fido_cred_set_sig(credential, signature.start, signature.count) == FIDO_OK;
        if (done && certificate.count > 0)
            done = fido_cred_set_x509(credential, certificate.start, certificate.count) == FIDO_OK
                && fido_cred_verify(credential) == FIDO_OK;
        else if (done)
            done = fido_cred_verify_self(credential) == FIDO_OK;
    }
    if (!done)
        fido_cred_free(&credential);
    return credential;
}

static inline void shim_fido_free(fido_cred_t *credential) { fido_cred_free(&credential); }

// The key that was registered, as the verifier wants it; its type follows from the algorithm.
static inline void *shim_fido_key(const fido_cred_t *credential, int algorithm) {
    const uint8_t *start = fido_cred_pubkey_ptr(credential);
    size_t count = fido_cred_pubkey_len(credential);
    if (algorithm == COSE_ES256) {
        es256_pk_t *key = es256_pk_new();
        if (key != NULL && es256_pk_from_ptr(key, start, count) != FIDO_OK)
            es256_pk_free(&key);
        return key;
    }
    if (algorithm == COSE_ES384) {
        es384_pk_t *key = es384_pk_new();
        if (key != NULL && es384_pk_from_ptr(key, start, count) != FIDO_OK)
            es384_pk_free(&key);
        return key;
    }
    if (algorithm == COSE_RS256) {
        rs256_pk_t *key = rs256_pk_new();
        if (key != NULL && rs256_pk_from_ptr(key, start, count) != FIDO_OK)
            rs256_pk_free(&key);
        return key;
    }
    eddsa_pk_t *key = eddsa_pk_new();
    if (key != NULL && eddsa_pk_from_ptr(key, start, count) != FIDO_OK)
        eddsa_pk_free(&key);
    return key;
}

static inline void shim_fido_free_key(void *key, int algorithm) {
    es256_pk_t *es256 = (es256_pk_t *)key;
    es384_pk_t *es384 = (es384_pk_t *)key;
    rs256_pk_t *rs256 = (rs256_pk_t *)key;
    eddsa_pk_t *eddsa = (eddsa_pk_t *)key;
    if (algorithm == COSE_ES256)
        es256_pk_free(&es256);
    else if (algorithm == COSE_ES384)
        es384_pk_free(&es384);
    else if (algorithm == COSE_RS256)
        rs256_pk_free(&rs256);
    else
        eddsa_pk_free(&eddsa);
}

// Whether the key of that registration made this use of it.
static inline bool shim_fido_is_valid(
    const fido_cred_t *credential, int algorithm, const char *party, struct shim_fido_bytes data,
    struct shim_fido_bytes hash, struct shim_fido_bytes signature) {
    void *key = shim_fido_key(credential, algorithm);
    fido_assert_t *assertion = fido_assert_new();
    bool valid = key != NULL && assertion != NULL
        && fido_assert_set_count(assertion, 1) == FIDO_OK
        && fido_assert_set_rp(assertion, party) == FIDO_OK
        && fido_assert_set_authdata_raw(assertion, 0, data.start, data.count) == FIDO_OK
        && fido_assert_set_clientdata_hash(assertion, hash.start, hash.count) == FIDO_OK
        && fido_assert_set_sig(assertion, 0, signature.start, signature.count) == FIDO_OK
        && fido_assert_verify(assertion, 0, algorithm, key) == FIDO_OK;
    fido_assert_free(&assertion);
    if (key != NULL)
        shim_fido_free_key(key, algorithm);
    return valid;
}
