/// Rules over text that people or other programs will see.
enum TextRule {
    /// A name to show: not blank, bounded, and nothing in it that moves or hides other text. What joins
    /// letters and pictures may stand between them, but is no name by itself. Its
    /// length is counted as JSON Schema counts, in code points.
    static func label(_ text: String, limit: Int) throws(FieldFault.Reason) {
        guard text.unicodeScalars.count <= limit else { throw .tooLong(limit: limit) }
        guard text.unicodeScalars.allSatisfy({ !isDisruptive($0.value) }),
            text.unicodeScalars.contains(where: isVisible)
        else { throw .malformed }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        // The empty pattern of Braille is a letter, and looks like a space.
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
            && scalar.value != 0x2800
    }

    /// Control characters, spaces without a width, line separators and the marks that turn the direction
    /// of writing.
    private static func isDisruptive(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0...0x1F, 0x7F...0x9F, 0x61C, 0x180E, 0x200B, 0x200E...0x200F, 0x2028...0x202E,
            0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB:
            true
        default: false
        }
    }

    /// A scope name (RFC 6749 section 3.3): printable ASCII without space, quote and backslash.
    static func isScopeName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    /// A client id: the unreserved characters of a URI, so that it needs no escaping anywhere.
    static func clientID(_ text: String) throws(FieldFault.Reason) {
        guard !text.isEmpty else { throw .missing }
        guard text.utf8.count <= 128 else { throw .tooLong(limit: 128) }
        guard text.utf8.allSatisfy(isUnreserved) else { throw .malformed }
    }

    /// A mail address in its plain form. Only delivery shows whether it exists.
    static func mailAddress(_ text: String) throws(FieldFault.Reason) {
        guard text.utf8.count <= 254 else { throw .tooLong(limit: 254) }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let local = parts.first, let domain = parts.last,
            (1...64).contains(local.utf8.count), local.utf8.allSatisfy(isMailAtom),
            HostName(String(domain)) != nil, !domain.utf8.contains(0x3A)
        else { throw .malformed }
    }

    /// A phone number in its one form (ITU-T E.164): a plus sign and at most 15 digits. Whether there is such
    /// a number is assigned, only the caller can know.
    static func phoneNumber(_ text: String) throws(FieldFault.Reason) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "+"), (5...15).contains(digits.count),
            digits.allSatisfy(isDigit), digits.first != UInt8(ascii: "0")
        else { throw .malformed }
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
    }

    private static func isMailAtom(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "!#$%&'*+-/=?^_`{|}~.".utf8.contains(byte)
    }
}
