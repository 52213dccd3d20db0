import JSON
import Values

extension ExportForm {
    /// A realm as Keycloak exports it, whose users stand in an array of it.
    static let keycloak = ExportForm(
        layout: .document([
            [.member("users"), .element], [.element, .member("users"), .element],
        ])
    ) { account throws(RecordFault) in
        account.set("id", account.take("id") ?? account.json["username"])
        account.set("email", account.take("email"))
        account.set("email_verified", account.take("emailVerified"))
        account.setName(first: account.take("firstName"), last: account.take("lastName"))
        account.set("enabled", account.take("enabled"))
        account.setCreated(account.take("createdTimestamp"), as: "createdTimestamp")
        for (name, values) in account.take("attributes")?.object ?? [:] {
            switch name {
            case "phoneNumber": account.set("phone", values[0])
            case "phoneNumberVerified": account.set("phone_verified", values[0]?.flag)
            case "locale": account.setLanguage(values[0], as: "attributes.locale")
            default: account.leaveOut("attributes.\(name)")
            }
        }
        for credential in account.take("credentials")?.array ?? [] {
            try read(credential, into: &account)
        }
        for link in account.take("federatedIdentities")?.array ?? [] {
            account.addIdentity(link["identityProvider"]?.string, link["userId"]?.string)
        }
        account.setRoles(texts(account.take("realmRoles")), as: "realmRoles")
        // Each client has its own: an administrator of one is none of another.
        for (client, roles) in account.take("clientRoles")?.object ?? [:] {
            if account.choices.clients.contains(client) {
                account.setRoles(texts(roles), as: "clientRoles")
            } else {
                for _ in texts(roles) { account.leaveOut("clientRoles.\(client)") }
            }
        }
        account.setRoles(texts(account.take("groups")), as: "groups")
        account.ignore("totp", "notBefore", "disableableCredentialTypes", "access")
    }

    private static func texts(_ json: JSON?) -> [String] {
        json?.array?.compactMap(\.string) ?? []
    }

    /// Its members are JSON within texts.
    private static func read(
        _ credential: JSON, into account: inout ForeignAccount
    ) throws(RecordFault) {
        let data = within(credential["credentialData"]) ?? [:]
        let secret = within(credential["secretData"]) ?? [:]
        switch credential["type"]?.string {
        case "password":
            account.set(
                "passphrase_hash", .string(try PasswordRecords.keycloak(data, secret)))
        case "otp":
            let isOurs =
                data["subType"] == "totp" && data["digits"] == 6 && data["period"] == 30
                && (data["algorithm"] ?? "HmacSHA1") == "HmacSHA1"
            let text = secret["value"]?.string ?? ""
            let bytes =
                secret["secretEncoding"] == "BASE32" ? Base32.decode(text) : Array(text.utf8)
            account.setTOTP(isOurs ? bytes : nil)
        case "webauthn", "webauthn-passwordless":
            var members: JSONObject = [:]
            members["credential_id"] = data["credentialId"].flatMap(unpadded)
            members["public_key"] = data["credentialPublicKey"].flatMap(unpadded)
            members["counter"] = data["counter"]
            members["model"] = data["aaguid"]
            members["transports"] = data["transports"]
            account.addPasskey(members)
        case let type: account.leaveOut("credential:\(type ?? "")")
        }
    }

    private static func within(_ json: JSON?) -> JSON? {
        if json?.object != nil { return json }
        return json?.string.flatMap { try? JSON.parse(Array($0.utf8), limits: .foreign) }
    }

    /// Base 64 of either alphabet, as base64url.
    private static func unpadded(_ json: JSON) -> JSON? {
        json.string.flatMap(PasswordRecords.bytes).map { .string(Base64URL.encode($0)) }
    }
}
