import COpenSSL

/// A public key of its numbers, as OpenSSL's parameters for keys have them.
extension EVPKey {
    /// `point` is 0x04, x, y. Refuses what is not on the curve.
    convenience init(point: [UInt8], on curve: String) throws(Failure) {
        let name = curve.utf8CString
        let key = unsafe name.withUnsafeBufferPointer { name -> OpaquePointer? in
            unsafe point.withUnsafeBytes { point -> OpaquePointer? in
                // They are not const, because the same parameters serve for giving and for taking.
                var parameters = unsafe [
                    OSSL_PARAM_construct_utf8_string(
                        OSSL_PKEY_PARAM_GROUP_NAME,
                        UnsafeMutablePointer(mutating: name.baseAddress),
                        0),
                    OSSL_PARAM_construct_octet_string(
                        OSSL_PKEY_PARAM_PUB_KEY,
                        UnsafeMutableRawPointer(mutating: point.baseAddress),
                        point.count),
                    OSSL_PARAM_construct_end(),
                ]
                return unsafe EVPKey.make("EC", &parameters)
            }
        }
        try unsafe self.init(owning: key, from: "EVP_PKEY_fromdata", .malformed)
    }

    convenience init(modulus: [UInt8], exponent: [UInt8]) throws(Failure) {
        let n = unsafe BN_bin2bn(modulus, Int32(modulus.count), nil)
        let e = unsafe BN_bin2bn(exponent, Int32(exponent.count), nil)
        let builder = unsafe OSSL_PARAM_BLD_new()
        defer {
            unsafe OSSL_PARAM_BLD_free(builder)
            unsafe BN_free(e)
            unsafe BN_free(n)
        }
        guard let n = unsafe n, let e = unsafe e, let builder = unsafe builder,
            unsafe OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1,
            unsafe OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1,
            let parameters = unsafe OSSL_PARAM_BLD_to_param(builder)
        else { throw Failure.afterCall("OSSL_PARAM_BLD_to_param") }
        defer { unsafe OSSL_PARAM_free(parameters) }
        try unsafe self.init(
            owning: EVPKey.make("RSA", parameters), from: "EVP_PKEY_fromdata", .malformed)
    }

    private static func make(
        _ type: String, _ parameters: UnsafeMutablePointer<OSSL_PARAM>
    ) -> OpaquePointer? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &key, shim_public_key_selection, parameters) == 1
        else { return nil }
        return unsafe key
    }
}
