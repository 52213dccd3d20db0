import Identity
import JSON
import Values

/// How the export of each system is read: where its accounts are, and what its members mean.
struct ExportForm: Sendable {
    /// One record on each line, or where the accounts are in one document; CSV otherwise.
    enum Layout: Sendable {
        case lines
        case document([[ElementReader.Step]])
        case table
    }

    let layout: Layout
    let read: @Sendable (inout ForeignAccount) throws(RecordFault) -> Void

    static func of(_ source: ImportSource) -> ExportForm {
        switch source {
        case .csv: csv
        case .auth0: auth0
        case .keycloak: keycloak
        case .cognito: cognito
        case .firebase: firebase
        case .zitadel: zitadel
        case .okta: okta
        case .urd: urd
        }
    }

    /// Lines may also be the elements of one array.
    func reader(of source: RecordSource) throws(CommandFailure) -> any RecordReader {
        switch layout {
        case .table: return CSVReader(source)
        case .document(let paths): return ElementReader(source, paths: paths)
        case .lines:
            let isArray = try source.peek() == UInt8(ascii: "[")
            return isArray ? ElementReader(source, paths: [[.element]]) : LineReader(source)
        }
    }

    /// The hashes in a file of the same form, by the accounts' names.
    func hashes(in path: String) throws(CommandFailure) -> [String: String] {
        let reader = try reader(of: try RecordSource(path))
        var hashes: [String: String] = [:]
        while let record = try reader.next() {
            guard let bytes = try? record.content.get(),
                let json = try? JSON.parse(bytes, limits: .foreign),
                var account = try? ForeignAccount(json, ImportChoices()),
                (try? read(&account)) != nil, let id = account.record["id"]?.string,
                let hash = account.record["passphrase_hash"]?.string
            else {
                throw CommandFailure("\(path) has no hash in line \(record.line)")
            }
            hashes[id] = hash
        }
        return hashes
    }

    /// Our own export has the form of the admin API.
    private static let urd = ExportForm(layout: .lines) { account in
        for name in account.json.object?.keys ?? [] {
            account.set(name, account.take(name))
        }
    }

    private static let csv = ExportForm(layout: .table) { account throws(RecordFault) in
        for name in [
            "email", "phone", "first_name", "last_name", "external_id", "passphrase_hash",
            "totp_secret",
        ] {
            account.set(name, account.take(name))
        }
        for name in ["email_verified", "phone_verified", "enabled"] {
            guard let value = account.take(name) else { continue }
            guard let flag = value.flag else {
                throw RecordFault(
                    reason: "invalid_field", field: name,
                    detail: "\(name) must be true or false.")
            }
            account.set(name, flag)
        }
        let email = account.json["email"]
        account.set("id", account.take("id") ?? email ?? account.json["phone"])
        account.setLanguage(account.take("language"), as: "language")
        account.setCreated(account.take("created_at"), as: "created_at")
        let roles = account.take("roles")?.string?.split(separator: ";").map(String.init) ?? []
        account.setRoles(roles, as: "roles")
    }

    /// The lines of an export of users, and of the export of password hashes that Auth0's support makes.
    private static let auth0 = ExportForm(layout: .lines) { account in
        let oid = account.take("_id")?["$oid"]?.string.map { JSON.string("auth0|\($0)") }
        account.set("id", account.take("user_id") ?? oid)
        account.set("email", account.take("email"))
        account.set("email_verified", account.take("email_verified"))
        account.set("phone", account.take("phone_number"))
        account.set("phone_verified", account.take("phone_verified"))
        account.setName(
            first: account.take("given_name"), last: account.take("family_name"),
            whole: account.take("name"))
        account.setCreated(account.take("created_at"), as: "created_at")
        account.set("enabled", account.take("blocked")?.bool == true ? false : nil)
        let custom = account.take("custom_password_hash")
        account.set(
            "passphrase_hash",
            account.take("passwordHash") ?? account.take("password_hash")
                ?? custom?["hash"]?["value"])
        for factor in account.take("mfa_factors")?.array ?? [] {
            if let secret = factor["totp"]?["secret"]?.string {
                account.setTOTP(Base32.decode(secret))
            } else {
                account.leaveOut("mfa_factors")
            }
        }
        for identity in account.take("identities")?.array ?? []
        where identity["provider"] != "auth0" {
            account.addIdentity(
                identity["connection"]?.string ?? identity["provider"]?.string,
                identity["user_id"]?.string ?? identity["user_id"]?.integer.map { "\($0)" })
        }
        account.ignore(
            "tenant", "connection", "_tmp_is_unique", "version", "updated_at", "last_login",
            "last_ip", "logins_count", "password_set_date", "last_password_reset")
    }

    private static let cognito = ExportForm(
        layout: .document([[.member("Users"), .element], [.element]])
    ) { account in
        var attributes: [String: JSON] = [:]
        for attribute in account.take("Attributes")?.array ?? [] {
            if let name = attribute["Name"]?.string { attributes[name] = attribute["Value"] }
        }
        let userName = account.take("Username")
        account.set("id", attributes.removeValue(forKey: "sub") ?? userName)
        for (name, own) in [
            ("email", "email"), ("phone_number", "phone"), ("given_name", "first_name"),
            ("family_name", "last_name"),
        ] { account.set(own, attributes.removeValue(forKey: name)) }
        account.set("email_verified", attributes.removeValue(forKey: "email_verified")?.flag)
        account.set(
            "phone_verified", attributes.removeValue(forKey: "phone_number_verified")?.flag)
        account.setName(first: nil, last: nil, whole: attributes.removeValue(forKey: "name"))
        account.setLanguage(attributes.removeValue(forKey: "locale"), as: "locale")
        account.setCreated(account.take("UserCreateDate"), as: "UserCreateDate")
        account.set("enabled", account.take("Enabled"))
        let links = attributes.removeValue(forKey: "identities")?.string ?? "[]"
        for link in (try? JSON.parse(Array(links.utf8), limits: .foreign))?.array ?? [] {
            account.addIdentity(link["providerName"]?.string, link["userId"]?.string)
        }
        for name in attributes.keys.sorted() { account.leaveOut(name) }
        account.ignore("UserLastModifiedDate", "UserStatus")
    }

    private static let okta = ExportForm(layout: .lines) { account throws(RecordFault) in
        let profile = account.take("profile") ?? [:]
        account.set("id", account.take("id"))
        account.set("email", profile["email"] ?? profile["login"])
        account.set("phone", profile["mobilePhone"])
        account.setName(
            first: profile["firstName"], last: profile["lastName"],
            whole: profile["displayName"])
        account.setLanguage(profile["locale"], as: "locale")
        account.setCreated(account.take("created"), as: "created")
        let status = account.take("status")?.string ?? ""
        account.set("enabled", ["SUSPENDED", "DEPROVISIONED"].contains(status) ? false : nil)
        let credentials = account.take("credentials")
        let isVerified = credentials?["emails"]?.array?.contains {
            $0["value"] == profile["email"] && $0["status"] == "VERIFIED"
        }
        account.set("email_verified", .bool(isVerified ?? false))
        if let hash = credentials?["password"]?["hash"] {
            account.set("passphrase_hash", .string(try PasswordRecords.okta(hash)))
        }
        let taken: Set = [
            "email", "login", "mobilePhone", "firstName", "lastName", "displayName", "locale",
        ]
        for (name, value) in profile.object ?? [:] where !taken.contains(name) && !value.isVoid {
            account.leaveOut("profile.\(name)")
        }
        account.ignore(
            "_links", "activated", "statusChanged", "lastLogin", "lastUpdated", "passwordChanged",
            "type")
    }
}
