#pragma once

// What Swift needs of libcrypto, and in front of it what Swift cannot call by itself: deprecated functions, whose
// use the compiler warns of, variadic functions, lists of parameters, which keep what they are given, and a provider,
// which is a table of C functions.
//
// Why deprecated functions at all: SHA256_CTX is a plain struct, so a
// hash needs no allocation and a prepared HMAC key is two structs that are copied. Measured with
// 300 bytes: three times as fast as EVP with a context for each hash, and a quarter faster than
// with one that is kept, which would need a lock or a home in each thread; HMAC of 32 bytes is half
// as fast again as with EVP_MD_CTX_copy_ex. The algorithm behind both is the same assembly. A public key
// is taken in in a tenth of the time: EVP_PKEY_fromdata makes its curve anew.

#include <openssl/bn.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

static inline void shim_sha256_start(SHA256_CTX *state) { SHA256_Init(state); }

static inline void shim_sha256_update(SHA256_CTX *state, const void *bytes, size_t count) {
    SHA256_Update(state, bytes, count);
}

static inline void shim_sha256_finish(SHA256_CTX *state, uint8_t *digest) {
    SHA256_Final(digest, state);
}

static inline void shim_sha256(const void *bytes, size_t count, uint8_t *digest) {
    SHA256_CTX state;
    SHA256_Init(&state);
    SHA256_Update(&state, bytes, count);
    SHA256_Final(digest, &state);
}

// RFC 2104 over two prepared states: `inner` has absorbed key ^ ipad, `outer` key ^ opad.
static inline void shim_hmac_sha256(
    const SHA256_CTX *inner, const SHA256_CTX *outer, const void *bytes, size_t count,
    uint8_t *tag) {
    SHA256_CTX state = *inner;
    SHA256_Update(&state, bytes, count);
    SHA256_Final(tag, &state);
    state = *outer;
    SHA256_Update(&state, tag, SHA256_DIGEST_LENGTH);
    SHA256_Final(tag, &state);
}

// A public key on `curve`, which is P-256. NULL where `point`, which is 0x04, x, y, is not on it.
static inline EC_KEY *shim_p256_key(const EC_GROUP *curve, const uint8_t *point, size_t count) {
    EC_KEY *key = curve == NULL ? NULL : EC_KEY_new();
    if (key != NULL && EC_KEY_set_group(key, curve) == 1
        && EC_KEY_oct2key(key, point, count, NULL) == 1)
        return key;
    EC_KEY_free(key);
    return NULL;
}

static inline void shim_p256_key_free(EC_KEY *key) { EC_KEY_free(key); }

// The same pair as `key` is; NULL where it has none.
static inline EC_KEY *shim_p256_pair(EVP_PKEY *key) { return EVP_PKEY_get1_EC_KEY(key); }

// `signature` has room for r and s, 32 bytes each.
static inline int shim_p256_sign(
    EC_KEY *key, const uint8_t *digest, int digest_count, uint8_t *signature) {
    ECDSA_SIG *made = ECDSA_do_sign(digest, digest_count, key);
    int done = made != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(made), signature, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(made), signature + 32, 32) == 32;
    ECDSA_SIG_free(made);
    return done;
}

// `signature` is DER.
static inline int shim_p256_is_valid(
    EC_KEY *key, const uint8_t *digest, int digest_count, const uint8_t *signature, int count) {
    return ECDSA_verify(0, digest, digest_count, signature, count, key);
}

// `signature` is r and s, 32 bytes each.
static inline int shim_p256_is_valid_joined(
    EC_KEY *key, const uint8_t *digest, int digest_count, const uint8_t *signature) {
    ECDSA_SIG *read = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature, 32, NULL);
    BIGNUM *s = BN_bin2bn(signature + 32, 32, NULL);
    int valid = 0;
    if (read != NULL && ECDSA_SIG_set0(read, r, s) == 1) {
        valid = ECDSA_do_verify(digest, digest_count, read, key);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(read);
    return valid;
}

#pragma clang diagnostic pop

// Variadic.
static inline EVP_PKEY *shim_generate_p256(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

static inline EVP_PKEY *shim_generate_rsa(size_t bits) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

// Public keys of their numbers. In C, because a list of parameters keeps pointers to their names, which Swift passes
// as texts that end with the call.
static inline EVP_PKEY *shim_public_key(const char *type, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (context != NULL && EVP_PKEY_fromdata_init(context) == 1)
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
    EVP_PKEY_CTX_free(context);
    return key;
}

// `point` is 0x04, x, y.
static inline EVP_PKEY *shim_ec_public_key(const char *group, const uint8_t *point, size_t count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
        OSSL_PARAM_construct_end(),
    };
    return shim_public_key("EC", parameters);
}

static inline EVP_PKEY *shim_rsa_public_key(
    const uint8_t *modulus, int modulus_count, const uint8_t *exponent, int exponent_count) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = NULL;
    BIGNUM *n = BN_bin2bn(modulus, modulus_count, NULL);
    BIGNUM *e = BN_bin2bn(exponent, exponent_count, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (n != NULL && e != NULL && builder != NULL
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    if (parameters != NULL)
        key = shim_public_key("RSA", parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(e);
    BN_free(n);
    return key;
}

// RSAES-OAEP with SHA-256 throughout. A macro sets each of the parameters.
static inline int shim_oaep(
    EVP_PKEY *key, int encrypting, const uint8_t *bytes, size_t count, uint8_t *room, size_t *room_count) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    int done = context != NULL
        && (encrypting ? EVP_PKEY_encrypt_init(context) : EVP_PKEY_decrypt_init(context)) == 1
        && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
        && EVP_PKEY_CTX_set_rsa_oaep_md_name(context, "SHA256", NULL) == 1
        && EVP_PKEY_CTX_set_rsa_mgf1_md_name(context, "SHA256", NULL) == 1
        && (encrypting ? EVP_PKEY_encrypt(context, room, room_count, bytes, count)
                       : EVP_PKEY_decrypt(context, room, room_count, bytes, count))
            == 1;
    EVP_PKEY_CTX_free(context);
    return done;
}

// The x-coordinate of the point that two keys agree on.
static inline int shim_agree(EVP_PKEY *own, EVP_PKEY *other, uint8_t *room, size_t *room_count) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    int done = context != NULL && EVP_PKEY_derive_init(context) == 1
        && EVP_PKEY_derive_set_peer(context, other) == 1
        && EVP_PKEY_derive(context, room, room_count) == 1;
    EVP_PKEY_CTX_free(context);
    return done;
}

// OpenSSL's own default provider, with the decoders and keys of elliptic curves alone. OpenSSL 3.0 looks at
// every decoder that it has, for each key anew: three quarters of what a certificate costs. In C, because OpenSSL
// calls a provider by a table of functions that are all cast to one type, and holds it until the process ends.
struct shim_curves {
    OSSL_PROVIDER *provider;
    OSSL_ALGORITHM decoders[4];
    OSSL_ALGORITHM keys[2];
};

static inline struct shim_curves *shim_curves(void) {
    static struct shim_curves curves;
    return &curves;
}

static inline int shim_is_curve(const char *names) {
    return strcmp(names, "EC") == 0 || strncmp(names, "EC:", 3) == 0;
}

static inline const OSSL_ALGORITHM *shim_curve_query(void *provider, int operation, int *uncached) {
    (void)provider;
    const OSSL_ALGORITHM *all
        = OSSL_PROVIDER_query_operation(shim_curves()->provider, operation, uncached);
    *uncached = 0;
    if (operation == OSSL_OP_DECODER)
        return shim_curves()->decoders;
    return operation == OSSL_OP_KEYMGMT ? shim_curves()->keys : all;
}

static inline void shim_curve_teardown(void *provider) { (void)provider; }

static inline int shim_curve_start(
    const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core, const OSSL_DISPATCH **functions,
    void **provider) {
    static const OSSL_DISPATCH own[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))shim_curve_query},
        {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))shim_curve_teardown},
        {0, NULL},
    };
    (void)handle;
    (void)core;
    *functions = own;
    *provider = OSSL_PROVIDER_get0_provider_ctx(shim_curves()->provider);
    return *provider != NULL;
}

static inline int shim_curve_choose(
    int operation, const char *structure, OSSL_ALGORITHM *room, int most) {
    int uncached = 0;
    int count = 0;
    const OSSL_ALGORITHM *all
        = OSSL_PROVIDER_query_operation(shim_curves()->provider, operation, &uncached);
    for (; all != NULL && all->algorithm_names != NULL && count < most; all++)
        if (shim_is_curve(all->algorithm_names)
            && (structure == NULL || strstr(all->property_definition, structure) != NULL))
            room[count++] = *all;
    return count;
}

// To be called once. NULL where the library's own context has no default provider, because an operator chose
// another one: then that choice holds here too.
static inline OSSL_LIB_CTX *shim_curve_context(void) {
    OSSL_LIB_CTX *whole;
    OSSL_LIB_CTX *context;
    if (OSSL_PROVIDER_available(NULL, "default") != 1)
        return NULL;
    whole = OSSL_LIB_CTX_new();
    context = OSSL_LIB_CTX_new();
    if (whole != NULL && context != NULL)
        shim_curves()->provider = OSSL_PROVIDER_load(whole, "default");
    if (shim_curves()->provider != NULL
        && shim_curve_choose(
               OSSL_OP_DECODER, "structure=SubjectPublicKeyInfo", shim_curves()->decoders, 3)
            > 0
        && shim_curve_choose(OSSL_OP_KEYMGMT, NULL, shim_curves()->keys, 1) == 1
        && OSSL_PROVIDER_add_builtin(context, "curves", shim_curve_start) == 1
        && OSSL_PROVIDER_load(context, "curves") != NULL)
        return context;
    ERR_clear_error();
    OSSL_LIB_CTX_free(context);
    OSSL_LIB_CTX_free(whole);
    return NULL;
}
