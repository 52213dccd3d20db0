public import JSON

/// An issuer whose signed assertions a realm trusts, and its signing keys: written into the
/// setting, or at an address of the issuer's.
public struct TrustedIssuer: Sendable, Equatable {
    public static let mostIssuers = 20

    /// How the subject of a statement names an account of the realm.
    public enum SubjectRule: String, CaseIterable, Sendable {
        /// It is the account's own id.
        case account
        /// Its claim `email` is the account's mail address, and `email_verified` is true.
        case email
    }

    public let jwks: JSON?
    public let jwksURI: String?
    /// Of an issuer of SAML assertions, in PEM: no JWT of it is taken.
    public let certificates: [String]
    public let subject: SubjectRule

    /// Nil where the checked setting has no issuer of this name.
    public init?(_ issuer: String, in setting: JSONObject) {
        guard let value = setting.first(where: { $0.key.utf8.elementsEqual(issuer.utf8) })?.value
        else { return nil }
        jwks = value["jwks"]
        jwksURI = value["jwks_uri"]?.string
        certificates = value["certificates"]?.array?.compactMap(\.string) ?? []
        subject = value["subject"]?.string.flatMap(SubjectRule.init(rawValue:)) ?? .account
    }

    static func check(_ setting: JSON, _ limit: Int) throws(FieldFault.Reason) {
        guard let issuers = setting.object else { throw .wrongType(expected: .object) }
        guard issuers.count <= limit else { throw .tooMany(limit: limit) }
        for (issuer, value) in issuers {
            guard (1...512).contains(issuer.utf8.count) else { throw .malformed }
            guard let members = value.object else { throw .wrongType(expected: .object) }
            guard members.keys.allSatisfy(["jwks", "jwks_uri", "certificates", "subject"].contains)
            else {
                throw .unsupported
            }
            try checkKeys(members)
            if let subject = members["subject"] {
                guard let text = subject.string else { throw .wrongType(expected: .text) }
                guard SubjectRule(rawValue: text) != nil else { throw .unsupported }
            }
        }
    }

    private static func checkCertificates(_ value: JSON) throws(FieldFault.Reason) {
        guard let texts = value.array?.compactMap(\.string), texts.count == value.array?.count
        else { throw .wrongType(expected: .list) }
        guard (1...8).contains(texts.count) else { throw .tooMany(limit: 8) }
        for text in texts {
            guard text.utf8.count <= 16_384, text.hasPrefix("-----BEGIN ") else {
                throw .malformed
            }
        }
    }

    private static func checkKeys(_ members: JSONObject) throws(FieldFault.Reason) {
        if let certificates = members["certificates"] {
            guard members["jwks"] == nil, members["jwks_uri"] == nil else {
                throw .conflicts(with: "certificates")
            }
            return try checkCertificates(certificates)
        }
        switch (members["jwks"], members["jwks_uri"]) {
        case (let keys?, nil): try KeySetRule.check(keys)
        case (nil, let address?):
            guard let text = address.string else { throw .wrongType(expected: .text) }
            try WebAddressRule.check(text, mayBeLoopback: false)
        case (nil, nil): throw .missing
        case (.some, .some): throw .conflicts(with: "jwks_uri")
        }
    }
}
