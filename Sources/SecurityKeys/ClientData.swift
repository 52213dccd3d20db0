internal import JSON
internal import Values

/// What the browser says about the ceremony, and signs along (section 5.8.1).
struct ClientData {
    static let sizeLimit = 16_384

    let type: String
    let challenge: [UInt8]
    let origin: String
    let crossOrigin: Bool
    let topOrigin: String?

    /// Unknown names are skipped, with any value: browsers add some to remind
    /// others of that.
    init(json bytes: [UInt8]) throws(WebAuthnFailure) {
        guard bytes.count <= ClientData.sizeLimit else {
            throw .credentialMember(.clientDataJSON, .tooLong)
        }
        let members = try ClientData.members(bytes)
        type = try ClientData.text(members, .type)
        let challenge = try ClientData.text(members, .challenge)
        guard let challenge = Base64URL.decode(challenge) else {
            throw .clientDataMember(.challenge, .malformed)
        }
        self.challenge = challenge
        origin = try ClientData.text(members, .origin)
        switch members["crossOrigin"] {
        case nil: crossOrigin = false
        case .bool(let value): crossOrigin = value
        case .null, .integer, .string, .array, .object:
            throw .clientDataMember(.crossOrigin, .wrongType)
        }
        topOrigin =
            members["topOrigin"] == nil ? nil : try ClientData.text(members, .topOrigin)
        try ClientData.checkTokenBinding(members["tokenBinding"])
    }

    private static let known = Set(WebAuthnFailure.ClientDataMember.allCases.map(\.rawValue))

    private static func members(_ bytes: [UInt8]) throws(WebAuthnFailure) -> JSONObject {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var scanner = MemberScanner(bytes: bytes, from: bytes.starts(with: mark) ? mark.count : 0)
        guard let members = scanner.members(named: known) else { throw .clientDataMalformed }
        return members
    }

    private static func text(
        _ members: JSONObject, _ member: WebAuthnFailure.ClientDataMember
    ) throws(WebAuthnFailure) -> String {
        guard let value = members[member.rawValue] else {
            throw .clientDataMember(member, .missing)
        }
        guard let text = value.string else { throw .clientDataMember(member, .wrongType) }
        guard !text.isEmpty else { throw .clientDataMember(member, .empty) }
        return text
    }

    /// Browsers bind no tokens any more; where the member is, it has the shape that Level 1 gave it.
    private static func checkTokenBinding(_ binding: JSON?) throws(WebAuthnFailure) {
        guard let binding else { return }
        guard case .object = binding else { throw .clientDataMember(.tokenBinding, .wrongType) }
        guard let status = binding["status"] else {
            throw .clientDataMember(.tokenBinding, .missing)
        }
        guard let word = status.string, ["present", "supported", "not-supported"].contains(word)
        else { throw .clientDataMember(.tokenBinding, .malformed) }
    }

    func check(
        type wanted: String, challenge issued: [UInt8], for party: RelyingParty
    ) throws(WebAuthnFailure) {
        guard type.utf8.elementsEqual(wanted.utf8) else { throw .otherCeremony }
        guard challenge == issued else { throw .otherChallenge }
        guard party.accepts(origin) else { throw .otherOrigin }
        guard !crossOrigin || party.allowsCrossOrigin else { throw .crossOrigin }
        guard let topOrigin else { return }
        guard crossOrigin, party.allowsCrossOrigin,
            RelyingParty.contains(party.topOrigins, topOrigin)
        else { throw .otherTopOrigin }
    }
}
