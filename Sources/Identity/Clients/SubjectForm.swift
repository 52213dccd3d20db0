public import Values

/// How tokens name accounts (`sub`): by the account's id, or by a pairwise subject. A client that acts for
/// itself is the subject of its tokens under its own name, so no client may choose a name of either form:
/// a resource server that looks at `sub` would take it for a person.
///
/// Names that Urd makes are the client's stream, and no two streams of a realm have the same id.
public enum SubjectForm {
    /// 24 bytes in base64url.
    private static let pairwiseLength = 32
    private static let digits = 32

    public static func matches(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        if bytes.count == pairwiseLength, bytes.allSatisfy(isBase64URL) { return true }
        // In any case and with hyphens anywhere: others read such ids more leniently than Urd does.
        let rest = bytes.filter { $0 != UInt8(ascii: "-") }
        return rest.count == digits && rest.allSatisfy(isHexDigit)
    }

    /// Whether Urd made the client's name of its stream: those of installations have no hyphens.
    public static func isMade(_ clientID: String, for client: UUID) -> Bool {
        clientID == client.description || clientID == Installation.clientID(of: client)
    }

    /// Whether the client has such a name, or one that no account can have.
    static func isFree(_ clientID: String, for client: UUID) -> Bool {
        isMade(clientID, for: client) || !matches(clientID)
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        TextRule.isLetter(byte) || TextRule.isDigit(byte) || [0x2D, 0x5F].contains(byte)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        TextRule.isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}
