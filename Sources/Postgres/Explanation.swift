internal import CPostgres

/// Why no connection came to be, told so that nothing in it can be a password.
///
/// libpq names host, port, role and database as it understood the address. A password with a character that
/// parts an address ends up in one of those: libpq's words are shown only where each can be what it is
/// called.
enum Explanation {
    private static let named = ["host", "hostaddr", "port", "dbname"]

    static func of(_ message: String, address: String) -> String {
        guard let words = Words(address) else {
            return "its address is not of the form postgresql://role@host:port/database"
        }
        let isMisread = named.contains { name in
            (words.plain[name] ?? "").dropFirst(name == "host" ? 1 : 0).utf8.contains(0x40)
        }
        let port = (words.plain["port"] ?? "").utf8
        guard !isMisread, port.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2C }) else {
            return "its address cannot be understood; in a password / is written %2F, and @ is %40"
        }
        var told = message.split(whereSeparator: \.isNewline).map { line in
            String(line.drop(while: \.isWhitespace))
        }.joined(separator: " ")
        for secret in words.secrets where !secret.isEmpty { told.replace(secret, with: "…") }
        return told
    }

    /// What an address sets, by name.
    private struct Words {
        var plain: [String: String] = [:]
        var secrets: [String] = []

        /// Nil where libpq can't read it. Its complaint quotes the address, and is let go of.
        init?(_ address: String) {
            guard let first = unsafe PQconninfoParse(address, nil) else { return nil }
            defer { unsafe PQconninfoFree(first) }
            var option = unsafe first
            while let keyword = unsafe option.pointee.keyword {
                if let value = unsafe option.pointee.val {
                    let text = unsafe String(cString: value)
                    let isSecret =
                        unsafe option.pointee.dispchar.map { unsafe $0.pointee == 0x2A } ?? false
                    if isSecret { secrets.append(text) }
                    unsafe plain[String(cString: keyword)] = text
                }
                unsafe option = unsafe option.advanced(by: 1)
            }
        }
    }
}
