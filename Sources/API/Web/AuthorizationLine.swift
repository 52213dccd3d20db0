/// The header `Authorization`: a scheme in any case, spaces, and the credentials (RFC 9110 section
/// 11.4).
struct AuthorizationLine {
    /// The scheme in lower case.
    let scheme: String
    let text: String

    init?(_ line: String) {
        let bytes = line.utf8
        let space = UInt8(ascii: " ")
        guard let end = bytes.firstIndex(of: space),
            let start = bytes[end...].firstIndex(where: { $0 != space }),
            bytes[..<end].allSatisfy({ $0 < 0x80 })
        else { return nil }
        scheme = line[..<end].lowercased()
        text = String(line[start...])
    }

    /// What is shown by one scheme, nil where it is another.
    static func text(of line: String, by scheme: String) -> String? {
        AuthorizationLine(line).flatMap { $0.scheme == scheme ? $0.text : nil }
    }
}
