import Values

/// Text in the head of a mail, where only ASCII may stand: as it is, or as encoded words (RFC 2047).
enum HeaderText {
    /// The words of a line such as the subject.
    static func words(_ text: String) -> [String] {
        isPlain(text) ? text.split(separator: " ").map(String.init) : encodedWords(text)
    }

    /// The words of a name before an address: atoms, a quoted string, or encoded words.
    static func phrase(_ name: String) -> [String] {
        guard isPlain(name) else { return encodedWords(name) }
        if name.utf8.allSatisfy({ isAtomText($0) || $0 == 0x20 }) {
            return name.split(separator: " ").map(String.init)
        }
        var quoted = "\""
        for character in name.unicodeScalars {
            if character == "\"" || character == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(character)
        }
        return (quoted + "\"").split(separator: " ").map(String.init)
    }

    /// A longer word could not be folded; `=?` would begin an encoded word.
    private static let longestWord = 60

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("=?")
            && text.utf8.split(separator: 0x20).allSatisfy { $0.count <= longestWord }
    }

    /// No word is longer than 62 bytes, so that it fits behind the name of a header. Between two of
    /// them a reader drops the space, so that a space of the text is inside of a word.
    static func encodedWords(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        let escapes = bytes.count { !isPlainInWord($0) && $0 != 0x20 }
        let isQuoted = bytes.count + escapes * 2 <= (bytes.count + 2) / 3 * 4
        let room = 50
        var words: [String] = []
        var chunk: [UInt8] = []
        var size = 0
        for scalar in text.unicodeScalars {
            let piece = Array(String(scalar).utf8)
            let cost =
                isQuoted
                ? piece.reduce(0) { $0 + (isPlainInWord($1) || $1 == 0x20 ? 1 : 3) }
                : (chunk.count + piece.count + 2) / 3 * 4 - size
            if size + cost > room {
                words.append(word(chunk, isQuoted: isQuoted))
                chunk = []
                size = 0
            }
            chunk += piece
            size =
                isQuoted
                ? size
                    + piece.reduce(0) { $0 + (isPlainInWord($1) || $1 == 0x20 ? 1 : 3) }
                : (chunk.count + 2) / 3 * 4
        }
        if !chunk.isEmpty { words.append(word(chunk, isQuoted: isQuoted)) }
        return words
    }

    private static func word(_ bytes: [UInt8], isQuoted: Bool) -> String {
        guard isQuoted else { return "=?utf-8?b?" + Base64.encode(bytes) + "?=" }
        var output = Array("=?utf-8?q?".utf8)
        for byte in bytes {
            switch byte {
            case 0x20: output.append(UInt8(ascii: "_"))
            case _ where isPlainInWord(byte): output.append(byte)
            default: output.append(quoted: byte)
            }
        }
        return String(decoding: output, as: UTF8.self) + "?="
    }

    /// RFC 2047 section 5 (3): the few that may stand in a name.
    private static func isPlainInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x21, 0x2A, 0x2B, 0x2D, 0x2F: true
        default: false
        }
    }
}

extension [UInt8] {
    /// `=` and two hexadecimal digits, capitals as RFC 2045 wants them.
    mutating func append(quoted byte: UInt8) {
        append(UInt8(ascii: "="))
        append(contentsOf: [byte >> 4, byte & 15].map { $0 < 10 ? 0x30 + $0 : 0x37 + $0 })
    }
}
