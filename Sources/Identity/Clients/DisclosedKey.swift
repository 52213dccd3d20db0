public import JSON
internal import Values

/// Private keys where public ones belong, or none: what is written into settings and metadata stays readable in the log,
/// for ever.
public enum DisclosedKey {
    /// The members of a JWK that only its owner may know (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1).
    static let secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Whether a value is a private key, or has one anywhere in it: as PEM, as DER in base 64, or as a JWK.
    public static func isFound(in value: JSON) -> Bool {
        switch value {
        case .null, .bool, .integer: false
        case .string(let text): isArmoured(text) || isEncoded(text)
        case .array(let elements): elements.contains(where: isFound(in:))
        case .object(let members):
            members["kty"] != nil && isSecret(members)
                || members.contains { isFound(in: .string($0.key)) || isFound(in: $0.value) }
        }
    }

    /// Of a JWK: whether it has what only its owner may know.
    static func isSecret(_ members: JSONObject) -> Bool {
        secretMembers.contains { members[$0] != nil }
    }

    /// The fault of a field whose value has one in it. It names the element of a list.
    static func fault(in field: String, _ value: JSON) -> FieldFault? {
        guard isFound(in: value) else { return nil }
        return FieldFault(
            field, .privateKey, at: value.array?.firstIndex(where: isFound(in:)))
    }

    /// The label of any PEM form (RFC 7468, OpenSSH, OpenPGP) says so.
    private static func isArmoured(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.contains(Array("-----BEGIN ".utf8))
            && bytes.contains(Array("PRIVATE KEY".utf8))
    }

    /// A text may say before a colon what the key is for, and a wrong label may stand around it.
    private static func isEncoded(_ text: String) -> Bool {
        guard text.utf8.count >= shortest else { return false }
        let lines = text.utf8.split { $0 == 0x0A || $0 == 0x0D }
        let body = lines.filter { !$0.starts(with: "-----".utf8) }.joined()
            .filter { $0 != 0x20 && $0 != 0x09 }
        return body.split(separator: UInt8(ascii: ":")).contains { part in
            guard part.count >= shortest else { return false }
            let digits = String(decoding: part, as: UTF8.self)
            return (Base64.decode(digits) ?? Base64URL.decode(digits)).map(isPrivate) == true
        }
    }

    /// SEC 1 on P-256 without anything beside the key has 39 bytes, in 52 digits. Coordinates of public keys on that
    /// curve are shorter.
    private static let shortest = 52

    /// PKCS #8, PKCS #1, SEC 1, DSA and PKCS #12 begin with the number of a version, which no certificate and no public
    /// key does; encrypted PKCS #8 has an octet string behind its algorithm.
    private static func isPrivate(_ der: [UInt8]) -> Bool {
        guard let whole = Element(der[...]), whole.tag == 0x30,
            let first = Element(whole.content)
        else { return false }
        switch first.tag {
        case 0x02: return first.content.count == 1
        case 0x30: return Element(whole.content[first.content.endIndex...])?.tag == 0x04
        default: return false
        }
    }

    /// One element of DER: its tag and what is in it.
    private struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>

        init?(_ bytes: ArraySlice<UInt8>) {
            guard let tag = bytes.first, let short = bytes.dropFirst().first else { return nil }
            let wide = short < 0x80 ? 0 : Int(short & 0x7F)
            let start = bytes.startIndex + 2 + wide
            guard wide <= 3, start <= bytes.endIndex else { return nil }
            let length =
                wide == 0
                ? Int(short)
                : bytes[(start - wide)..<start].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.endIndex - start else { return nil }
            self.tag = tag
            content = bytes[start..<(start + length)]
        }
    }
}
