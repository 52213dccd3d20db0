import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let identity = UUID(high: 90, low: 1)
private let place = UUID(high: 90, low: 2)
private let movedPasskey = UUID(high: 90, low: 3)
private let movedTOTP = UUID(high: 90, low: 4)
private let second = UUID(high: 90, low: 5)
private let mailbox2 = UUID(high: 90, low: 6)
private let origin = AccountImport(source: .keycloak, foreignID: "f:1", createdAt: noon)
private let corporate = Provider(
    slug: "corporate", name: "Corporate", issuer: "https://login.example.org", clientID: "urd",
    secret: "s", scope: ["email"])
private let movedKey = CredentialRecord(
    id: [1, 2, 3], publicKey: [4], counter: 7, isBackupEligible: true, isBackedUp: true,
    isUserVerified: true, model: .zero, transports: ["internal"], format: "none",
    attestation: "none", isTrusted: false)

private func imported(
    _ id: UUID = account, _ mailbox: UUID = mailbox,
    change: (inout ImportedAccount) -> Void = { _ in }
) -> ImportedAccount {
    var account = ImportedAccount(
        account: id, addresses: Addresses(mailbox: mailbox), person: ann, isConfirmed: true,
        origin: origin)
    change(&account)
    return account
}

private func outcomes(
    _ accounts: [ImportedAccount], _ scenario: Scenario, isTrial: Bool = false
) async throws -> [ImportOutcome] {
    let command = ImportAccounts(accounts: accounts, isTrial: isTrial, now: noon)
    return try command.settle(try await scenario.facts(of: command)).outcome
}

private func importing(_ accounts: ImportedAccount..., isTrial: Bool = false) -> ImportAccounts {
    ImportAccounts(accounts: accounts, isTrial: isTrial, now: noon)
}

private var bare: Decision {
    var decision = Decision(
        AccountEvent.registered(
            mailbox: mailbox, isConfirmed: true, origin: .administrator, person: ann), in: account)
    decision.append(MailboxEvent.assigned(account), in: mailbox)
    decision.append(AccountEvent.imported(origin), in: account)
    return decision
}

@Suite struct `Importing accounts` {
    @Test func `an imported account has what came with it, and no mail tells of it`() async throws {
        let settings: JSONObject = [
            "roles": ["https://api.example.org": ["editor": []]],
            "webauthn_rp_id": "example.org",
        ]
        let realm = givenRealm().given(RealmEvent.settingsChanged(settings), in: Realm.stream)
            .given(ProviderEvent.configured(corporate), in: Providers.stream)
        let whole = imported { account in
            account.hash = "$2b$…"
            account.isDisabled = true
            account.roles = GivenRoles(["https://api.example.org": ["editor", "unknown"]])
            account.identities = [
                .init(identity: identity, place: place, provider: "corporate", subject: "1"),
                .init(identity: second, place: movedTOTP, provider: "other", subject: "1"),
            ]
            account.passkeys = [
                .init(passkey: movedPasskey, relyingParty: "example.org", key: movedKey),
                .init(passkey: second, relyingParty: "evil.example", key: movedKey),
            ]
            account.totp = .init(totp: movedTOTP, secret: "AAAA")
        }
        var expected = bare
        expected.append(
            AccountEvent.rolesChanged(GivenRoles(["https://api.example.org": ["editor"]])),
            in: account)
        expected.append(
            ProviderIdentityEvent.linked(account, provider: "corporate", subject: "1", mail: nil),
            in: identity)
        expected.append(AccountIdentityEvent.chosen(identity, account: account), in: place)
        expected.append(
            PasskeyEvent.enrolled(
                EnrolledPasskey(
                    account: account, client: nil, relyingParty: "example.org", key: movedKey,
                    enrolledAt: noon, mail: nil)), in: movedPasskey)
        expected.take(Passkey.claim(movedKey.id), for: movedPasskey)
        expected.append(
            PassphraseEvent.imported(hash: "$2b$…", account: account, at: noon),
            in: Passphrase.stream(of: account))
        expected.append(
            TwoFactorEvent.offered(
                OfferedTOTP(id: movedTOTP, account: account, secret: "AAAA", expiresAt: noon)),
            in: TwoFactor.stream(of: account))
        expected.append(
            TwoFactorEvent.confirmed(
                ConfirmedTOTP(account: account, step: -1, at: noon, recoveryCodes: [], mail: nil)),
            in: TwoFactor.stream(of: account))
        expected.append(AccountEvent.disabled(), in: account)
        try await realm.when(importing(whole)).then(expected)
        let parts = try await outcomes([whole], realm)
        #expect(parts == [.imported(leftOut: [.role, .identity, .passkey])])
    }

    @Test func `an account that is there is unchanged, and one that was deleted stays deleted`()
        async throws
    {
        let there = givenRealm().given(bare)
        try await there.when(importing(imported())).thenNothing()
        #expect(try await outcomes([imported()], there) == [.unchanged])
        let gone = there.given(AccountEvent.deleted(subjects: []), in: account)
        try await gone.when(importing(imported())).thenNothing()
        #expect(try await outcomes([imported()], gone) == [.refused(.deleted)])
    }

    @Test func `an account that is refused holds up no other`() async throws {
        let nameless = imported(second, mailbox2) { $0.person.firstName = "" }
        let both = [nameless, imported(), imported(second, mailbox)]
        try await givenRealm().when(
            ImportAccounts(accounts: both, now: noon)
        ).then(bare)
        let answers = try await outcomes(both, givenRealm())
        #expect(answers.count == 3)
        guard case .refused(.invalid(let fault)) = answers[0] else {
            Issue.record("\(answers[0])")
            return
        }
        #expect(fault.field == "first_name")
        #expect(Array(answers.dropFirst()) == [.imported(leftOut: []), .refused(.addressTaken)])
        // Another account's address.
        let held = givenRealm().given(MailboxEvent.assigned(second), in: mailbox)
        #expect(try await outcomes([imported()], held) == [.refused(.addressTaken)])
    }

    @Test func `a trial tells the outcomes and changes nothing`() async throws {
        try await givenRealm().when(importing(imported(), isTrial: true)).thenNothing()
        #expect(
            try await outcomes([imported()], givenRealm(), isTrial: true)
                == [.imported(leftOut: [])])
    }

    @Test func `two passkeys of one credential are not imported together`() async throws {
        let settings: JSONObject = ["webauthn_rp_id": "example.org"]
        let realm = givenRealm().given(RealmEvent.settingsChanged(settings), in: Realm.stream)
        func holder(_ id: UUID, _ mailbox: UUID) -> ImportedAccount {
            imported(id, mailbox) {
                $0.passkeys = [.init(passkey: id, relyingParty: "example.org", key: movedKey)]
            }
        }
        #expect(
            try await outcomes([holder(account, mailbox), holder(second, mailbox2)], realm)
                == [.imported(leftOut: []), .refused(.passkeyTaken)])
        #expect(importing().rejection(takenClaim: "passkey") == .passkeyTaken)
    }

    @Test func `accounts are imported in open realms alone`() async throws {
        try await given().when(importing(imported())).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(importing(imported())).thenRejected(.realmDisabled)
    }
}
