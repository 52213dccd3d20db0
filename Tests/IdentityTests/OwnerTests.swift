import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let owner = Owned.owner
private let token = Owned.token
private let mailed = Owned.mail
private let derived = Owned.derived
private let onboarded = Owned.onboarded
private let certified = Owned.certified

@Suite struct `Appointing an owner` {
    private let appoint = AppointOwner(account: owner, token: token)

    @Test func `appointing an owner gives the account a token until it takes the realm over`()
        async throws
    {
        let there = Owned.account(givenRealm())
        let event = OwnerEvent.appointed(owner, token: token)
        try await there.when(appoint).then(event, in: Owner.stream)
        try await there.given(event, in: Owner.stream).when(appoint).then(event, in: Owner.stream)
        try await there.given(
            event, OwnerEvent.onboarded(installation: installation), in: Owner.stream
        ).when(appoint).thenRejected(.onboarded)
        try await givenRealm().when(appoint).thenRejected(.accountNotFound)
        try await given().when(appoint).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(appoint).thenRejected(.realmDisabled)
    }
}

@Suite struct `Onboarding an owner` {
    private func onboard(_ token: UUID = token, secret: UInt8 = 1) throws -> OnboardOwner {
        OnboardOwner(
            token: token, passphrase: derived, mail: mailed, request: try Owned.request(secret))
    }

    private func appointed(_ client: ClientEvent...) async throws -> Scenario {
        var scenario = Owned.account(try await givenInstallation())
            .given(OwnerEvent.appointed(owner, token: token), in: Owner.stream)
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario
    }

    @Test func `onboarding an owner sets the passphrase and admits the app`() async throws {
        let verdict = try await appointed().when(onboard())
        let decision = try verdict.result.get()
        #expect(
            decision.events.map(\.name) == [
                "owner.onboarded", "passphrase.derived", "account.proofs_ended", "client.adopted",
                "owner.device_added", "session_code.issued",
            ])
        let trusted = try await appointed(certified).when(onboard()).result.get()
        #expect(trusted.events.map(\.name).last == "session.opened")
    }

    @Test func `onboarding an owner checks the app before the token`() async throws {
        let other = UUID(high: 1, low: 99)
        try await appointed().when(onboard(other, secret: 2)).thenRejected(.wrongSecret)
        try await appointed(.deleted).when(onboard(other)).thenRejected(.unknownInstallation)
        try await appointed().when(onboard(other)).thenRejected(.invalidRegisterToken)
        try await givenOwner().when(onboard()).thenRejected(.invalidRegisterToken)
        try await appointed().given(AccountEvent.disabled(mail: nil), in: owner).when(onboard())
            .thenRejected(.invalidRegisterToken)
        try await givenInstallation().when(onboard()).thenRejected(.invalidRegisterToken)
        try await given().when(onboard()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(onboard()).thenRejected(.realmDisabled)
        try await givenRealm().when(onboard()).thenRejected(.notOffered)
    }
}

@Suite struct `Signing an owner in` {
    private func signIn(
        _ comparison: PassphraseProof.Comparison = .right(hash: "scrypt"),
        typed: TypedMailedCode? = nil, secret: UInt8 = 1
    ) throws -> SignInOwner {
        SignInOwner(
            comparison: comparison, typed: typed, next: (mailed, try digest(9)),
            request: try Owned.request(secret))
    }

    private func names(
        _ command: SignInOwner, _ scenario: Scenario
    ) async throws -> [String] {
        try await scenario.when(command).result.get().events.map(\.name)
    }

    @Test func `signing an owner in gives all scopes to a certified app alone`() async throws {
        #expect(
            try await names(signIn(), givenOwner(client: certified)) == [
                "client.adopted", "owner.device_added", "session.opened",
            ])
        #expect(
            try await names(signIn(), givenOwner()) == [
                "client.adopted", "owner.device_added", "session_code.issued",
            ])
    }

    @Test func `signing an owner in records every refusal`() async throws {
        let refused = ["session.refused"]
        #expect(try await names(signIn(.nothing), givenOwner()) == refused)
        #expect(
            try await names(signIn(.wrong(hash: "scrypt")), givenOwner())
                == ["passphrase.refused"] + refused)
        // Compared with what is not kept any more.
        #expect(try await names(signIn(.right(hash: "old")), givenOwner()) == refused)
        #expect(try await names(signIn(secret: 2), givenOwner()) == refused)
        #expect(
            try await names(signIn(), givenOwner(client: .deleted)) == refused)
        #expect(
            try await names(signIn(), givenOwner([.appointed(owner, token: token)])) == refused)
        #expect(
            try await names(
                signIn(), givenOwner().given(AccountEvent.disabled(mail: nil), in: owner))
                == refused)
        try await given().when(signIn()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(signIn()).thenRejected(.realmDisabled)
        try await givenRealm().when(signIn()).thenRejected(.notOffered)
    }

    @Test func `signing an owner in asks for a mailed code where it is on`() async throws {
        let there = try await givenOwner(onboarded + [.mailedCodesChanged(isNeeded: true)])
        #expect(try await names(signIn(), there) == ["mailed_code.issued"])
        let issued = MailedCodeEvent.issued(
            IssuedMailedCode(
                id: mailed, purpose: .secondFactor, account: owner, digest: try digest(9),
                issuedAt: madeAt))
        let asked = there.given(issued, in: MailedCode.stream(of: owner, .secondFactor))
        func typed(_ byte: UInt8, _ id: UUID = mailed) throws -> TypedMailedCode {
            TypedMailedCode(id: id, digest: try digest(byte))
        }
        #expect(
            try await names(signIn(typed: typed(9)), asked) == [
                "mailed_code.redeemed", "client.adopted", "owner.device_added",
                "session_code.issued",
            ])
        #expect(
            try await names(signIn(typed: typed(8)), asked) == [
                "mailed_code.refused", "session.refused",
            ])
        #expect(try await names(signIn(typed: typed(9, token)), asked) == ["session.refused"])
        // A client that is none does not use the code up.
        #expect(
            try await names(signIn(typed: typed(9), secret: 2), asked) == ["session.refused"])
    }
}
