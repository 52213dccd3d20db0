import Identity
import JSON
import Values

/// An account of an export on its way into the form that the admin API takes.
struct ForeignAccount {
    /// The record of the export.
    let json: JSON
    let choices: ImportChoices
    /// In the form of `POST …/accounts/import`.
    private(set) var record: JSONObject = [:]
    /// What the record has and is not taken, by its name there.
    private(set) var leftOut: [String] = []
    private var used: Set<String> = []

    init(_ json: JSON, _ choices: ImportChoices) throws(RecordFault) {
        guard json.object != nil else {
            throw RecordFault(reason: "malformed", detail: "The record is no object.")
        }
        self.json = json
        self.choices = choices
    }

    /// A member of the record, which counts as looked at.
    mutating func take(_ name: String) -> JSON? {
        used.insert(name)
        guard let value = json[name], !value.isNull else { return nil }
        return value
    }

    /// Members that say nothing of the person or the account.
    mutating func ignore(_ names: String...) { used.formUnion(names) }

    mutating func leaveOut(_ name: String) { leftOut.append(name) }

    /// Members that were not looked at are left out by their names.
    mutating func finish() {
        for (name, value) in json.object ?? [:] where !used.contains(name) && !value.isVoid {
            leftOut.append(name)
        }
        if record["passphrase_hash"] == nil, let id = record["id"]?.string {
            set("passphrase_hash", choices.hashes[id].map { .string($0) })
        }
        if choices.leavesPassphrases, record["passphrase_hash"] != nil {
            record["passphrase_hash"] = nil
            leftOut.append("passphrase")
        }
        if choices.isVerified {
            if record["email"] != nil { record["email_verified"] = true }
            if record["phone"] != nil { record["phone_verified"] = true }
        }
    }

    // MARK: - Members of the record

    mutating func set(_ name: String, _ value: JSON?) {
        guard let value, !value.isVoid else { return }
        record[name] = value
    }

    mutating func setName(first: JSON?, last: JSON?, whole: JSON? = nil) {
        set("first_name", first)
        set("last_name", last)
        guard record["first_name"] == nil, record["last_name"] == nil, let whole = whole?.string
        else { return }
        let words = whole.split(separator: " ")
        guard words.count > 1, let last = words.last else {
            return set("first_name", .string(whole))
        }
        set("first_name", .string(words.dropLast().joined(separator: " ")))
        set("last_name", .string(String(last)))
    }

    /// A language tag; what is none is left out.
    mutating func setLanguage(_ value: JSON?, as name: String) {
        guard let tag = value?.string.map({ $0.replacing("_", with: "-") }), !tag.isEmpty else {
            return
        }
        guard (2...35).contains(tag.utf8.count), tag.utf8.allSatisfy(Self.isTag) else {
            return leaveOut(name)
        }
        set("language", .string(tag))
    }

    private static func isTag(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// A time in RFC 3339, or in milliseconds since 1970.
    mutating func setCreated(_ value: JSON?, as name: String) {
        guard let value else { return }
        let text = value.string
        let time =
            text.flatMap { Timestamp(rfc3339: $0) }
            ?? (value.integer ?? text.flatMap { Int64($0) }).flatMap { milliseconds in
                (0...253_402_300_799_000).contains(milliseconds)
                    ? Timestamp(seconds: milliseconds / 1000) : nil
            }
        guard let time else { return leaveOut(name) }
        set("created_at", .string(time.description))
    }

    /// Roles without an audience of their own: they are those of the audience that the operator names.
    mutating func setRoles(_ names: [String], as name: String) {
        guard !names.isEmpty else { return }
        guard let audience = choices.audience else {
            leftOut += Array(repeating: name, count: names.count)
            return
        }
        var roles = record["roles"]?.object ?? [:]
        let known = roles[audience]?.array?.compactMap(\.string) ?? []
        roles[audience] = .array(Set(known + names).sorted().map { .string($0) })
        record["roles"] = .object(roles)
    }

    /// An identity at a provider, where the operator says which of the realm's it is.
    mutating func addIdentity(_ provider: String?, _ subject: String?) {
        guard let provider, let subject, !subject.isEmpty else { return }
        guard let own = choices.providers[provider] else {
            return leaveOut("identity:\(provider)")
        }
        record["identities"] = .array(
            (record["identities"]?.array ?? [])
                + [["provider": .string(own), "subject": .string(subject)]])
    }

    /// A passkey; without the domain that it belongs to it is of no use.
    mutating func addPasskey(_ members: JSONObject) {
        guard let domain = choices.relyingParty else { return leaveOut("passkey") }
        var members = members
        members["relying_party"] = .string(domain)
        record["passkeys"] = .array((record["passkeys"]?.array ?? []) + [.object(members)])
    }

    /// The secret of an authenticator app, whose codes have six digits and half a minute.
    mutating func setTOTP(_ bytes: [UInt8]?) {
        guard let bytes, (10...128).contains(bytes.count) else { return leaveOut("totp") }
        set("totp_secret", .string(Base32.encode(bytes)))
    }
}

/// What the operator says of an export beside the file.
struct ImportChoices: Sendable {
    var audience: String?
    /// The clients of a Keycloak export whose roles are those of the audience.
    var clients: Set<String> = []
    /// The realm's providers by the names that they have in the export.
    var providers: [String: String] = [:]
    var relyingParty: String?
    /// Of Firebase's variant of scrypt.
    var firebase: FirebaseParameters?
    /// Hashes that stand in a file of their own, by the accounts' names.
    var hashes: [String: String] = [:]
    /// All addresses count as verified.
    var isVerified = false
    var leavesPassphrases = false
}

extension JSON {
    /// Whether the value says nothing at all.
    var isVoid: Bool {
        switch self {
        case .null: true
        case .string(let text): text.isEmpty
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        case .bool, .integer: false
        }
    }

    /// True or false, also as texts.
    var flag: JSON? {
        switch self {
        case .bool: self
        case .string(let text) where ["true", "yes", "1"].contains(text.lowercased()): true
        case .string(let text) where ["false", "no", "0"].contains(text.lowercased()): false
        case .string, .null, .integer, .array, .object: nil
        }
    }
}
