import COpenSSL

extension ES256.PrivateKey {
    /// A certificate in which this key calls itself an authority of that name: for places that bring
    /// their own roots, such as a developer's machine.
    public func selfSignedAuthority(named name: String, days: Int = 365) throws(Failure) -> [UInt8]
    {
        precondition(name.utf8.count <= 64 && !name.utf8.contains(0), "A name is short")
        precondition((1...36_500).contains(days), "A certificate ends")
        var room = [UInt8](repeating: 0, count: 1024)
        let length = unsafe shim_self_signed(key.pointer, name, days, &room)
        guard length > 0 else { throw Failure.afterCall("X509_sign") }
        return Array(room.prefix(Int(length)))
    }
}
