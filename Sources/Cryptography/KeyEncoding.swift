import COpenSSL

/// Keys as files and databases keep them: PKCS #8 (RFC 5208) for private keys,
/// SubjectPublicKeyInfo (RFC 5280) for public ones, both in DER and without a passphrase.
///
/// One place for all kinds of keys, because OpenSSL decodes them alike; what a kind demands beyond
/// that is checked by its own type. Bytes behind the key are refused: two byte strings for one key
/// would give it two fingerprints.
extension EVPKey {
    /// More than an RSA key of 8192 bits needs; longer input is not looked at.
    private static let maximumLength = 8192

    /// `kind` is OpenSSL's name of the key type. A key of another type is malformed here.
    convenience init(pkcs8 encoded: SecretBytes, kind: String) throws(Failure) {
        guard encoded.count <= EVPKey.maximumLength else {
            throw Failure(.tooLarge, "an encoded private key of \(encoded.count) bytes")
        }
        var consumed = 0
        let information = unsafe encoded.withUnsafeBytes { bytes -> OpaquePointer? in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var position = unsafe start
            let information = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &position, bytes.count)
            if let start = unsafe start, let position = unsafe position {
                unsafe consumed = position - start
            }
            return unsafe information
        }
        guard let information = unsafe information else {
            throw Failure.afterCall("d2i_PKCS8_PRIV_KEY_INFO", .malformed)
        }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
        guard consumed == encoded.count else {
            throw Failure(.malformed, "bytes behind a private key")
        }
        try unsafe self.init(
            owning: EVP_PKCS82PKEY(information), from: "EVP_PKCS82PKEY", .malformed)
        try check(kind)
    }

    convenience init(spki encoded: [UInt8], kind: String) throws(Failure) {
        try self.init(spki: encoded)
        try check(kind)
    }

    /// A public key of any kind.
    convenience init(spki encoded: [UInt8]) throws(Failure) {
        guard encoded.count <= EVPKey.maximumLength else {
            throw Failure(.tooLarge, "an encoded public key of \(encoded.count) bytes")
        }
        var consumed = 0
        let key = unsafe encoded.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            let key = unsafe d2i_PUBKEY(nil, &position, bytes.count)
            if let start = bytes.baseAddress, let position = unsafe position {
                unsafe consumed = position - start
            }
            return unsafe key
        }
        try unsafe self.init(owning: key, from: "d2i_PUBKEY", .malformed)
        guard consumed == encoded.count else {
            throw Failure(.malformed, "bytes behind a public key")
        }
        // Decoders that were tried in vain leave their words behind even when one succeeds.
        ERR_clear_error()
    }

    private func check(_ kind: String) throws(Failure) {
        // Decoders that were tried in vain leave their words behind even when one succeeds.
        ERR_clear_error()
        guard unsafe EVP_PKEY_is_a(pointer, kind) == 1 else {
            throw Failure(.malformed, "not a key of the kind \(kind)")
        }
    }

    /// The private key; it goes straight into memory that is wiped.
    func pkcs8() throws(Failure) -> SecretBytes {
        guard let information = unsafe EVP_PKEY2PKCS8(pointer) else {
            throw Failure.afterCall("EVP_PKEY2PKCS8")
        }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
        let length = Int(unsafe i2d_PKCS8_PRIV_KEY_INFO(information, nil))
        guard length > 0 else { throw Failure.afterCall("i2d_PKCS8_PRIV_KEY_INFO") }
        return try unsafe SecretBytes(count: length) { (room) throws(Failure) in
            var position = unsafe room.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let written = unsafe i2d_PKCS8_PRIV_KEY_INFO(information, &position)
            guard Int(written) == length else {
                throw Failure.afterCall("i2d_PKCS8_PRIV_KEY_INFO")
            }
        }
    }

    func spki() throws(Failure) -> [UInt8] {
        let length = Int(unsafe i2d_PUBKEY(pointer, nil))
        guard length > 0 else { throw Failure.afterCall("i2d_PUBKEY") }
        var written: Int32 = 0
        let encoded = unsafe [UInt8](unsafeUninitializedCapacity: length) { room, count in
            var position = room.baseAddress
            written = unsafe i2d_PUBKEY(pointer, &position)
            count = Int(written) == length ? length : 0
        }
        guard encoded.count == length else { throw Failure.afterCall("i2d_PUBKEY") }
        return encoded
    }

    /// A number that is part of the key, big-endian: padded to `length`, or as short as can be.
    func number(_ name: String, length: Int? = nil) throws(Failure) -> [UInt8] {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, name, &number) == 1,
            let number = unsafe number
        else { throw Failure.afterCall("EVP_PKEY_get_bn_param") }
        defer { unsafe BN_clear_free(number) }
        return try unsafe bigEndian(number, length: length)
    }
}

/// `length` `nil` gives the shortest form.
func bigEndian(_ number: OpaquePointer, length: Int? = nil) throws(Failure) -> [UInt8] {
    let count = unsafe length ?? Int((BN_num_bits(number) + 7) / 8)
    var bytes = [UInt8](repeating: 0, count: count)
    guard unsafe BN_bn2binpad(number, &bytes, Int32(count)) == Int32(count) else {
        throw Failure.afterCall("BN_bn2binpad")
    }
    return bytes
}
