internal import Cryptography
internal import EventSourcing
internal import ForeignHashes
internal import Identity
internal import JSON
internal import Mail
internal import PhoneNumbers
internal import ReadModels
internal import SecurityKeys
internal import Values

/// An account as another system exported it, read for this realm.
struct AccountRecord {
    let account: ImportedAccount
    /// Parts that are not taken in any realm.
    let leftOut: [String]

    /// Why a record makes no account.
    struct Refusal: Error {
        let reason: String
        var field: String?
        let detail: String

        var json: JSON {
            var members: JSONObject = [
                "status": "refused", "reason": .string(reason), "detail": .string(detail),
            ]
            members["field"] = field.map { .string($0) }
            return .object(members)
        }
    }

    init(
        _ json: JSON, from source: ImportSource, in reading: Reading
    ) throws(Refusal) {
        do throws(SchemaViolation) {
            try AccountRecordSchema.record.check(json)
        } catch {
            throw Refusal(error)
        }
        let id = json["id"]?.string ?? ""
        let name = reading.account(id, from: source)
        var leftOut: [String] = []
        let person = try Self.person(json, id, &leftOut)
        let isMailed = person.email != nil
        account = ImportedAccount(
            account: name, addresses: reading.mint.addresses(of: person), person: person,
            isConfirmed: json[isMailed ? "email_verified" : "phone_verified"]?.bool ?? false,
            isDisabled: json["enabled"]?.bool == false,
            origin: AccountImport(
                source: source, foreignID: id,
                createdAt: json["created_at"]?.string.flatMap { Timestamp(rfc3339: $0) }),
            hash: try Self.hash(json["passphrase_hash"]?.string),
            roles: GivenRoles(json["roles"]) ?? GivenRoles(),
            identities: reading.identities(json["identities"]?.array ?? [], of: name, &leftOut),
            passkeys: try reading.passkeys(json["passkeys"]?.array ?? [], of: name),
            totp: json["totp_secret"]?.string.flatMap { Base32.decode($0) }.map {
                ImportedAccount.TOTP(
                    totp: reading.part("totp", of: name), secret: Base64URL.encode($0))
            })
        self.leftOut = leftOut
    }

    /// A number beside a mail address has to be verified as that is: by either of them its person signs in.
    private static func person(
        _ json: JSON, _ id: String, _ leftOut: inout [String]
    ) throws(Refusal) -> Person {
        var person = Person(
            firstName: json["first_name"]?.string, lastName: json["last_name"]?.string,
            language: json["language"]?.string, externalID: json["external_id"]?.string ?? id)
        if json["external_id"] == nil, (try? AccountView.number.check(.string(id))) == nil {
            person.externalID = nil
        }
        if let email = json["email"]?.string {
            guard let address = try? MailAddress(email) else {
                throw Refusal(
                    reason: "invalid_field", field: "email", detail: "It is no mail address here.")
            }
            person.email = address.text
        }
        if let phone = json["phone"]?.string {
            let isVerified = json["phone_verified"]?.bool ?? false
            let number = (try? PhoneNumber(phone)).flatMap { $0.kind.takesMessages ? $0 : nil }
            let isWelcome = person.email == nil || json["email_verified"]?.bool ?? false
            if let number, isVerified, isWelcome {
                person.phone = number.text
            } else {
                leftOut.append("phone")
            }
        }
        guard person.address != nil else {
            throw Refusal(
                reason: "no_address",
                detail: "There is neither a mail address nor a verified mobile phone number.")
        }
        return person
    }

    private static func hash(_ text: String?) throws(Refusal) -> String? {
        guard let text else { return nil }
        do throws(ForeignHash.Fault) {
            return try ForeignHash(text).text
        } catch {
            let detail =
                switch error {
                case .unknownScheme: "The scheme of the hash is not known."
                case .malformed: "The hash is not in the form of its scheme."
                case .tooExpensive: "To verify the hash takes more time or memory than is granted."
                case .library: "The hash cannot be verified."
                }
            throw Refusal(
                reason: "hash_\(error.rawValue)", field: "passphrase_hash", detail: detail)
        }
    }

    /// What the names in a record stand for in the realm.
    struct Reading {
        let mint: TokenMint
        let providers: Providers

        func account(_ id: String, from source: ImportSource) -> UUID {
            name([Array("account".utf8), Array(source.rawValue.utf8), Array(id.utf8)])
        }

        func part(_ kind: String, of account: UUID, _ rest: [UInt8] = []) -> UUID {
            name([Array(kind.utf8), account.bytes, rest])
        }

        private func name(_ parts: [[UInt8]]) -> UUID {
            .v8(mint.derive(.importedAccount, framed([], parts)))
        }

        func identities(
            _ list: [JSON], of account: UUID, _ leftOut: inout [String]
        ) -> [ImportedAccount.Identity] {
            var found: [ImportedAccount.Identity] = []
            for json in list {
                guard let provider = json["provider"]?.string.flatMap({ providers[$0] }),
                    let subject = json["subject"]?.string
                else {
                    leftOut.append(ImportedPart.identity.rawValue)
                    continue
                }
                found.append(
                    ImportedAccount.Identity(
                        identity: mint.identity(subject, at: provider.issuer),
                        place: mint.accountIdentity(account, at: provider.slug),
                        provider: provider.slug, subject: subject))
            }
            return found
        }

        func passkeys(
            _ list: [JSON], of account: UUID
        ) throws(Refusal) -> [ImportedAccount.Passkey] {
            var found: [ImportedAccount.Passkey] = []
            for (index, json) in list.enumerated() {
                guard let id = json["credential_id"]?.string.flatMap({ Base64URL.decode($0) }),
                    let bytes = json["public_key"]?.string.flatMap({ Base64URL.decode($0) }),
                    let key = try? ImportedKey(bytes)
                else {
                    throw Refusal(
                        reason: "invalid_field", field: "passkeys/\(index)",
                        detail: "It is no key that is known, in base64url.")
                }
                found.append(
                    ImportedAccount.Passkey(
                        passkey: part("passkey", of: account, id),
                        relyingParty: json["relying_party"]?.string ?? "",
                        key: CredentialRecord(
                            id: id, publicKey: key.bytes, counter: json["counter"]?.integer ?? 0,
                            isBackupEligible: json["backup_eligible"]?.bool ?? false,
                            isBackedUp: json["backed_up"]?.bool ?? false, isUserVerified: true,
                            model: json["model"]?.string.flatMap { UUID($0) } ?? .zero,
                            transports: json["transports"]?.array?.compactMap(\.string) ?? [],
                            format: "none", attestation: "none", isTrusted: false)))
            }
            return found
        }
    }
}

extension AccountRecord.Refusal {
    init(_ violation: SchemaViolation) {
        let field = violation.field
        switch violation.reason {
        case .missing:
            self.init(reason: "missing_field", field: field, detail: "\(field) is required.")
        case .unknown:
            self.init(
                reason: "unknown_field", field: field,
                detail: "\(AccountRecord.shortened(field)) is no member.")
        case .malformed(let words):
            self.init(
                reason: "invalid_field", field: AccountRecord.shortened(field),
                detail: "\(field.isEmpty ? "It" : AccountRecord.shortened(field)) \(words)."
            )
        }
    }

    init(_ reason: ImportOutcome.Reason) {
        switch reason {
        case .deleted:
            self.init(
                reason: "deleted",
                detail: "The account was imported before, and has been deleted here.")
        case .addressTaken:
            self.init(
                reason: "address_taken",
                detail: "Another account has the mail address or the phone number.")
        case .passkeyTaken:
            self.init(
                reason: "passkey_taken", field: "passkeys",
                detail: "Another account has one of the passkeys.")
        case .invalid(let fault):
            self.init(
                reason: "invalid_field", field: fault.field,
                detail: "\(fault.field) has a value that it cannot have.")
        }
    }
}

extension AccountRecord {
    /// No more than an answer may have of what was sent.
    fileprivate static func shortened(_ text: String) -> String { String(text.prefix(100)) }
}
