internal import Values

/// Origins as browsers write them into what they sign: they are compared byte by byte, so that one
/// that is spelled otherwise would never be met.
enum OriginRule {
    static func check(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= 300 else { throw .tooLong(limit: 300) }
        let android = "android:apk-key-hash:"
        if text.utf8.starts(with: android.utf8) {
            let hash = String(text.unicodeScalars.dropFirst(android.utf8.count))
            guard let bytes = Base64URL.decode(hash), bytes.count == 32 || bytes.count == 20 else {
                throw .malformed
            }
            return
        }
        guard let uri = AbsoluteURI(text), let host = uri.host else { throw .malformed }
        guard uri.scheme == "https" || uri.scheme == "http" && uri.isLoopback else {
            throw .unsafeScheme
        }
        // Scheme and host, with a port where it is not the usual one, and nothing behind.
        let rest = text.utf8.dropFirst(uri.scheme.utf8.count + 3)
        guard HostName(String(decoding: rest, as: UTF8.self)) != nil, rest.starts(with: host.utf8)
        else { throw .malformed }
    }
}

/// A certificate as people copy it.
public enum CertificateText {
    /// The bytes, where they are at least of the right form: one sequence and nothing behind it.
    public static func der(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 32_768 else { return nil }
        var body: [UInt8] = []
        let lines = text.utf8.split { $0 == 0x0A || $0 == 0x0D }
        for line in lines where !line.starts(with: "-----".utf8) {
            body += line.filter { $0 != 0x20 && $0 != 0x09 }
        }
        guard let der = Base64.decode(String(decoding: body, as: UTF8.self)), der.count > 4,
            der[0] == 0x30, der[1] == 0x82,
            Int(der[2]) << 8 | Int(der[3]) == der.count - 4
        else { return nil }
        return der
    }
}
