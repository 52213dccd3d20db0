import COpenSSL

/// Owner of one OpenSSL key.
///
/// A class, since OpenSSL's keys are counted references already: it frees once, and the key structs
/// of this module share it. OpenSSL lets many threads use a key that is never changed, and no code
/// here can change it.
@safe
final class EVPKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over what `call` has just returned.
    init(owning pointer: OpaquePointer?, from call: String, _ code: Failure.Code = .library)
        throws(Failure)
    {
        guard let pointer = unsafe pointer else { throw Failure.afterCall(call, code) }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// `digest` is `nil` where the scheme hashes on its own. The result is in the library's form.
    func sign(_ message: [UInt8], digest: String?) throws(Failure) -> [UInt8] {
        let context = try DigestContext()
        guard
            unsafe EVP_DigestSignInit_ex(context.pointer, nil, digest, nil, nil, pointer, nil) == 1
        else { throw Failure.afterCall("EVP_DigestSignInit_ex") }
        let most = Int(unsafe EVP_PKEY_get_size(pointer))
        guard most > 0 else { throw Failure.afterCall("EVP_PKEY_get_size") }
        var done: Int32 = 0
        let signature = unsafe [UInt8](unsafeUninitializedCapacity: most) { room, count in
            var length = most
            done = unsafe EVP_DigestSign(
                context.pointer, room.baseAddress, &length, message, message.count)
            count = done == 1 ? min(length, most) : 0
        }
        guard done == 1 else { throw Failure.afterCall("EVP_DigestSign") }
        return signature
    }

    /// False for bytes that are not a signature of `message` by this key, malformed ones included.
    func isValid(_ signature: [UInt8], for message: [UInt8], digest: String?) -> Bool {
        // A failing check leaves its reason in the queue, where the next call must not find it.
        defer { ERR_clear_error() }
        guard let context = try? DigestContext() else { return false }
        guard
            unsafe EVP_DigestVerifyInit_ex(
                context.pointer, nil, digest, nil, nil, pointer, nil) == 1
        else { return false }
        return unsafe EVP_DigestVerify(
            context.pointer, signature, signature.count, message, message.count) == 1
    }

    /// The same for RSASSA-PSS, with one hash throughout and a salt of its length.
    func isValidPSS(_ signature: [UInt8], for message: [UInt8], digest: String) -> Bool {
        defer { ERR_clear_error() }
        guard let context = try? DigestContext() else { return false }
        // It belongs to the digest context.
        var parameters: OpaquePointer?
        guard
            unsafe EVP_DigestVerifyInit_ex(
                context.pointer, &parameters, digest, nil, nil, pointer, nil) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
        else { return false }
        return unsafe EVP_DigestVerify(
            context.pointer, signature, signature.count, message, message.count) == 1
    }
}

/// One use of OpenSSL's digest context.
@safe
private struct DigestContext: ~Copyable {
    let pointer: OpaquePointer

    init() throws(Failure) {
        guard let pointer = unsafe EVP_MD_CTX_new() else {
            throw Failure.afterCall("EVP_MD_CTX_new")
        }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe EVP_MD_CTX_free(pointer) }
}
