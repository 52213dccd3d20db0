import JSON
import Values

extension ExportForm {
    /// What Zitadel's admin API exports: organisations with their people.
    static let zitadel = ExportForm(
        layout: .document([
            [.member("orgs"), .element, .member("humanUsers"), .element],
            [.member("dataOrgs"), .member("orgs"), .element, .member("humanUsers"), .element],
        ])
    ) { account throws(RecordFault) in
        account.set("id", account.take("userId"))
        guard let user = account.take("user")?.object else {
            throw RecordFault(
                reason: "missing_field", field: "user", detail: "user is required.")
        }
        let (profile, email, phone) = (user["profile"], user["email"], user["phone"])
        account.set("email", email?["email"])
        account.set("email_verified", email?["isEmailVerified"])
        account.set("phone", phone?["phone"])
        account.set("phone_verified", phone?["isPhoneVerified"])
        account.setName(
            first: profile?["firstName"], last: profile?["lastName"],
            whole: profile?["displayName"])
        account.setLanguage(profile?["preferredLanguage"], as: "preferredLanguage")
        account.set("passphrase_hash", user["hashedPassword"]?["value"])
        if let secret = user["otpCode"]?.string, !secret.isEmpty {
            account.setTOTP(Base32.decode(secret))
        }
        for link in user["idps"]?.array ?? [] {
            account.addIdentity(link["configId"]?.string, link["externalUserId"]?.string)
        }
        let taken: Set = [
            "profile", "email", "phone", "hashedPassword", "otpCode", "idps",
            "requestPasswordlessRegistration",
        ]
        for (name, value) in user
        where !taken.contains(name) && !value.isVoid && value != false {
            account.leaveOut("user.\(name)")
        }
        let names: Set = ["firstName", "lastName", "displayName", "preferredLanguage"]
        for (name, value) in profile?.object ?? [:]
        where !names.contains(name) && !value.isVoid {
            account.leaveOut("profile.\(name)")
        }
    }
}
