import COpenSSL

extension ES256.PrivateKey {
    /// What this key and another one's public key agree on (NIST SP 800-56A section 5.7.1.2): the
    /// x-coordinate of their common point, 32 bytes. It is no key yet: derive one from it.
    ///
    /// That the other key is on the curve was seen when it came in, and P-256 has no other points.
    public func agreement(with other: ES256.PublicKey) throws(Failure) -> SecretBytes {
        let peer = try EVPKey(point: [0x04] + other.x + other.y, on: "prime256v1")
        return try unsafe SecretBytes(count: ES256.coordinateLength) { (room) throws(Failure) in
            var length = room.count
            let done = unsafe shim_agree(
                key.pointer, peer.pointer,
                room.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
            guard done == 1, length == ES256.coordinateLength else {
                throw Failure.afterCall("EVP_PKEY_derive", .refused)
            }
        }
    }
}
