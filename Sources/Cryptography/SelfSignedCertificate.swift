import COpenSSL

extension ES256.PrivateKey {
    /// A certificate in which this key calls itself an authority of that name: for places that bring
    /// their own roots, such as a developer's machine.
    public func selfSignedAuthority(named name: String, days: Int = 365) throws(Failure) -> [UInt8]
    {
        precondition(name.utf8.count <= 64 && !name.utf8.contains(0), "A name is short")
        precondition((1...36_500).contains(days), "A certificate ends")
        guard let certificate = unsafe X509_new() else { throw Failure.afterCall("X509_new") }
        defer { unsafe X509_free(certificate) }
        let subject = unsafe X509_get_subject_name(certificate)
        guard unsafe X509_set_version(certificate, 2) == 1,
            unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
            unsafe X509_time_adj_ex(X509_getm_notAfter(certificate), Int32(days), 0, nil) != nil,
            unsafe X509_set_pubkey(certificate, key.pointer) == 1,
            unsafe X509_NAME_add_entry_by_txt(
                subject, "CN", MBSTRING_FLAG, Array(name.utf8), Int32(name.utf8.count), -1, 0)
                == 1,
            unsafe X509_set_issuer_name(certificate, subject) == 1,
            unsafe Self.makeAuthority(certificate),
            unsafe X509_sign(certificate, key.pointer, EVP_sha256()) > 0
        else { throw Failure.afterCall("X509_sign") }
        let length = Int(unsafe i2d_X509(certificate, nil))
        guard length > 0 else { throw Failure.afterCall("i2d_X509") }
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { room, count in
            var position = room.baseAddress
            count = Int(unsafe i2d_X509(certificate, &position))
        }
    }

    private static func makeAuthority(_ certificate: OpaquePointer) -> Bool {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, certificate, certificate, nil, nil, 0)
        guard
            let constraint = unsafe X509V3_EXT_conf_nid(
                nil, &context, NID_basic_constraints, "critical,CA:TRUE")
        else { return false }
        defer { unsafe X509_EXTENSION_free(constraint) }
        return unsafe X509_add_ext(certificate, constraint, -1) == 1
    }
}
