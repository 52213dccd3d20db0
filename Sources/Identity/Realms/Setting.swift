public import JSON

/// One thing about a realm that can be set: its name, what it may hold, and what holds otherwise.
public struct Setting: Sendable {
    public enum Kind: Equatable, Sendable {
        case flag
        case seconds(lowest: Int64, highest: Int64)
        case count(lowest: Int64, highest: Int64)
        case choice([String])
        /// A name to show, of at most so many characters.
        case label(limit: Int)
        /// `https://…`, or plain http on this machine, without query and fragment.
        case webAddress
        case mailAddress
        case hostName
        /// A host name without a port, and no top domain.
        case domain
        /// Where passkeys may be used: pages and apps.
        case origins(limit: Int)
        /// Where tokens may be good: see `ResourceRule`.
        case resources(limit: Int)
        /// Names of scopes.
        case scopes(limit: Int)
        /// Countries by ISO 3166-1, in capital letters.
        case regions(limit: Int)
        /// A selection of these choices.
        case selection([String])
        /// Apps on phones: see `NativeApp`.
        case apps(limit: Int)
        /// The same, or `official`: see `OfficialApp`.
        case certifiedApps(limit: Int)
        /// X.509, each as PEM or plain base 64.
        case certificates(limit: Int)
        /// The same, each for one format of passkeys' statements: see `AttestationRoot`.
        case attestationRoots(limit: Int)
        /// `#rrggbb`.
        case colour
        /// By kind of mail, language and part; the mail writer knows the valid ones.
        case mailWords
        /// By name: see `TrustedIssuer`.
        case issuers(limit: Int)
        /// By audience: see `RealmRoles`.
        case roles
        /// By policy and dimension: see `RateRule`.
        case rates
    }

    public let name: String
    /// One line for people.
    public let about: String
    public let kind: Kind
    /// The default of the setting. Null: nothing does.
    public let fallback: JSON
    /// Whether the setting is mandatory, so that it can be changed but not unset.
    public let isRequired: Bool
    /// An app may have its own value instead of the realm's.
    public let perApp: Bool

    /// Whether a value may be set; null asks for the default.
    public func check(_ value: JSON) throws(FieldFault.Reason) {
        if value.isNull {
            guard !isRequired else { throw .missing }
            return
        }
        switch kind {
        case .flag:
            guard value.bool != nil else { throw .wrongType(expected: .flag) }
        case .seconds(let lowest, let highest), .count(let lowest, let highest):
            guard let number = value.integer else { throw .wrongType(expected: .number) }
            guard (lowest...highest).contains(number) else {
                throw .outOfRange(lowest: lowest, highest: highest)
            }
        case .choice, .label, .webAddress, .mailAddress, .hostName, .domain, .colour:
            guard let text = value.string else { throw .wrongType(expected: .text) }
            try check(text)
        case .rates: try RateRule.check(value)
        case .issuers(let limit): try TrustedIssuer.check(value, limit)
        case .roles: try RealmRoles.check(value)
        case .mailWords:
            guard value.object != nil else { throw .wrongType(expected: .object) }
            guard value.canonical().count <= 65_536 else { throw .tooLong(limit: 65_536) }
        case .origins(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                try OriginRule.check(text)
            }
        case .resources(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                try ResourceRule.check(text)
            }
        case .scopes(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                guard TextRule.isScopeName(text) else { throw .malformed }
            }
        case .regions(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                guard text.utf8.count == 2, text.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
                else { throw .malformed }
            }
        case .selection(let choices):
            try check(value, choices.count) { text throws(FieldFault.Reason) in
                guard choices.contains(text) else { throw .unsupported }
            }
        case .apps(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                guard NativeApp(text) != nil else { throw .malformed }
            }
        case .certifiedApps(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                guard !NativeApp.certified(text).isEmpty else { throw .malformed }
            }
        case .certificates(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                guard CertificateText.der(text) != nil else { throw .malformed }
            }
        case .attestationRoots(let limit):
            try check(value, limit) { text throws(FieldFault.Reason) in
                guard AttestationRoot(text) != nil else { throw .malformed }
            }
        }
    }

    private func check(
        _ value: JSON, _ limit: Int, _ rule: (String) throws(FieldFault.Reason) -> Void
    ) throws(FieldFault.Reason) {
        guard let elements = value.array else { throw .wrongType(expected: .list) }
        guard elements.count <= limit else { throw .tooMany(limit: limit) }
        guard Set(elements).count == elements.count else { throw .duplicate }
        for element in elements {
            guard let text = element.string else { throw .wrongType(expected: .text) }
            try rule(text)
        }
    }

    private func check(_ text: String) throws(FieldFault.Reason) {
        switch kind {
        case .choice(let choices):
            guard choices.contains(text) else { throw .unsupported }
        case .label(let limit): try TextRule.label(text, limit: limit)
        case .webAddress: try WebAddressRule.check(text, mayHaveQuery: false)
        case .mailAddress: try TextRule.mailAddress(text)
        case .hostName:
            guard HostName(text) != nil else { throw .malformed }
        case .domain:
            guard PasskeyDomain.isDomain(text) else { throw .malformed }
        case .colour:
            let digits = text.utf8.dropFirst()
            guard text.utf8.first == UInt8(ascii: "#"), digits.count == 6,
                digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
            else { throw .malformed }
        case .flag, .seconds, .count, .origins, .resources, .scopes, .regions, .selection, .apps,
            .certifiedApps, .certificates, .attestationRoots, .rates, .mailWords, .issuers, .roles:
            break
        }
    }

    /// As JSON Schema, for the API's description.
    public var schema: JSON {
        var schema: JSONObject = ["description": .string(about)]
        let type: JSON
        switch kind {
        case .flag: type = "boolean"
        case .seconds(let lowest, let highest), .count(let lowest, let highest):
            type = "integer"
            schema["minimum"] = .integer(lowest)
            schema["maximum"] = .integer(highest)
        case .choice(let choices):
            type = "string"
            schema["enum"] = .array(choices.map { .string($0) } + (isRequired ? [] : [.null]))
        case .label(let limit):
            type = "string"
            schema["minLength"] = 1
            schema["maxLength"] = .integer(Int64(limit))
        case .webAddress:
            type = "string"
            schema["format"] = "uri"
        case .mailAddress:
            type = "string"
            schema["format"] = "email"
        case .hostName, .domain: type = "string"
        case .origins(let limit), .resources(let limit), .scopes(let limit), .apps(let limit),
            .certifiedApps(let limit), .certificates(let limit), .attestationRoots(let limit):
            type = "array"
            schema["items"] = ["type": "string"]
            schema["maxItems"] = .integer(Int64(limit))
        case .regions(let limit):
            type = "array"
            schema["items"] = ["type": "string", "pattern": "^[A-Z]{2}$"]
            schema["maxItems"] = .integer(Int64(limit))
        case .selection(let choices):
            type = "array"
            schema["items"] = ["type": "string", "enum": .array(choices.map { .string($0) })]
        case .colour:
            type = "string"
            schema["pattern"] = "^#[0-9a-fA-F]{6}$"
        case .rates, .mailWords, .issuers, .roles: type = "object"
        }
        schema["type"] = isRequired ? type : [type, "null"]
        if !fallback.isNull { schema["default"] = fallback }
        return .object(schema)
    }

    /// What the command line says about it: the values it takes, its default, and what it is.
    public var help: String {
        let values =
            switch kind {
            case .flag: "true or false"
            case .seconds(let lowest, let highest): "\(lowest) to \(highest) seconds"
            case .count(let lowest, let highest): "\(lowest) to \(highest)"
            case .choice(let choices): choices.joined(separator: ", ")
            case .label(let limit): "text, at most \(limit) characters"
            case .webAddress: "https address"
            case .mailAddress: "mail address"
            case .hostName: "host name"
            case .domain: "host name without a port"
            case .origins: "list of origins"
            case .resources: "list of absolute addresses"
            case .scopes: "list of scopes"
            case .regions: "list of countries, such as CH"
            case .selection(let choices): "list of \(choices.joined(separator: ", "))"
            case .apps: "list of ios:TEAMID.bundle and android:package:fingerprint"
            case .certifiedApps:
                "official, or list of ios:TEAMID.bundle and android:package:fingerprint"
            case .certificates: "list of certificates, PEM or base 64"
            case .attestationRoots:
                "list of certificates, PEM or base 64, each as format:certificate"
            case .colour: "colour as #rrggbb"
            case .mailWords: #"JSON, such as {"EmailOtp": {"en": {"subject": "Your code"}}}"#
            case .issuers:
                #"JSON, such as {"https://id.example.org": {"jwks_uri": "https://id.example.org/keys"}}"#
            case .roles:
                #"JSON, such as {"https://api.example.org": {"editor": ["texts:write"]}}"#
            case .rates:
                #"JSON, such as {"oauth-token": {"client": {"amount": 60, "seconds": 60}}}"#
            }
        let usual: String? =
            switch fallback {
            case .bool(let flag): String(flag)
            case .integer(let number): String(number)
            case .string(let text): text
            case .array(let items) where !items.isEmpty:
                items.compactMap(\.string).joined(separator: ", ")
            case .null, .array, .object: nil
            }
        return "\(about) (\(values)\(usual.map { "; default \($0)" } ?? ""))"
    }
}
