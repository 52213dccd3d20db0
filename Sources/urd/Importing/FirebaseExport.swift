import JSON
import Values

extension ExportForm {
    /// What `firebase auth:export` writes.
    static let firebase = ExportForm(
        layout: .document([[.member("users"), .element]])
    ) { account throws(RecordFault) in
        account.set("id", account.take("localId"))
        account.set("email", account.take("email"))
        account.set("email_verified", account.take("emailVerified"))
        // Firebase knows a number by the code that it sent there.
        if let phone = account.take("phoneNumber") {
            account.set("phone", phone)
            account.set("phone_verified", true)
        }
        account.setName(first: nil, last: nil, whole: account.take("displayName"))
        account.setCreated(account.take("createdAt"), as: "createdAt")
        account.set("enabled", account.take("disabled")?.bool == true ? false : nil)
        let (hash, salt) = (account.take("passwordHash"), account.take("salt"))
        if let hash = hash?.string, !hash.isEmpty {
            guard let parameters = account.choices.firebase else {
                throw RecordFault(
                    reason: "no_parameters", field: "passwordHash",
                    detail: "The hash needs --hash-parameters, the project's hash parameters.")
            }
            account.set(
                "passphrase_hash",
                .string(try PasswordRecords.firebase(hash, salt?.string ?? "", parameters)))
        }
        for provider in account.take("providerUserInfo")?.array ?? []
        where provider["providerId"] != "password" && provider["providerId"] != "phone" {
            account.addIdentity(provider["providerId"]?.string, provider["rawId"]?.string)
        }
        account.ignore("lastSignedInAt", "lastRefreshAt", "passwordUpdatedAt", "validSince")
    }
}

/// The parameters of a project's hashes, as Firebase's console shows them.
struct FirebaseParameters: Sendable, Equatable {
    let signerKey: String
    let saltSeparator: String
    let rounds: Int
    let memoryCost: Int

    /// From the text that the console shows: `base64_signer_key: …,` and so on.
    init(_ text: String) throws(CommandFailure) {
        let words = text.split { " \n\r\t,{}\"':".contains($0) }.map(
            String.init)
        func value(_ name: String) -> String? {
            words.firstIndex(of: name).flatMap { place in
                place + 1 < words.count ? words[place + 1] : nil
            }
        }
        guard let key = value("base64_signer_key"), let separator = value("base64_salt_separator"),
            let rounds = value("rounds").flatMap({ Int($0) }),
            let memory = value("mem_cost").flatMap({ Int($0) }),
            PasswordRecords.bytes(key) != nil, PasswordRecords.bytes(separator) != nil
        else {
            throw CommandFailure(
                "the hash parameters are not those of a Firebase project",
                remedy:
                    "The file holds base64_signer_key, base64_salt_separator, rounds and mem_cost, as the console shows them."
            )
        }
        (signerKey, saltSeparator, self.rounds, memoryCost) = (key, separator, rounds, memory)
    }
}
