import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let owner = UUID(high: 70, low: 1)
private let ownersMailbox = UUID(high: 70, low: 2)
private let token = UUID(high: 70, low: 3)
private let appSession = UUID(high: 70, low: 4)
private let webCode = UUID(high: 70, low: 5)
private let mailed = UUID(high: 70, low: 6)
private let now = madeAt.adding(seconds: 60)
private let derived = DerivedPassphrase(rounds: 650_000, hash: "scrypt")
private let onboarded: [OwnerEvent] = [
    .appointed(owner, token: token), .onboarded(installation: installation),
]

private func request(_ secret: UInt8 = 1) throws -> OwnerRequest {
    OwnerRequest(
        target: .installation(installation, try digest(secret)), session: appSession, code: webCode,
        now: now)
}

private func account(_ scenario: Scenario) -> Scenario {
    scenario.given(
        AccountEvent.registered(
            mailbox: ownersMailbox, isConfirmed: true, origin: .administrator,
            person: Person(email: "c@example.org")), in: owner)
}

private func givenOwner(
    _ events: [OwnerEvent] = onboarded, client: ClientEvent...
) async throws -> Scenario {
    var scenario = account(try await givenInstallation())
    for event in client { scenario = scenario.given(event, in: installation) }
    for event in events { scenario = scenario.given(event, in: Owner.stream) }
    return scenario.given(
        PassphraseEvent.derived(derived, account: owner, mail: mailed, at: madeAt),
        in: Passphrase.stream(of: owner))
}

private let certified = ClientEvent.certified(.appAttest, at: madeAt, attestation: nil)

@Suite struct `Appointing an owner` {
    private let appoint = AppointOwner(account: owner, token: token)

    @Test func `gives an account a token, until it has taken the realm over`() async throws {
        let there = account(givenRealm())
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
            token: token, passphrase: derived, mail: mailed, request: try request(secret))
    }

    private func appointed(_ client: ClientEvent...) async throws -> Scenario {
        var scenario = account(try await givenInstallation())
            .given(OwnerEvent.appointed(owner, token: token), in: Owner.stream)
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario
    }

    @Test func `sets his passphrase and lets the app in`() async throws {
        let verdict = try await appointed().when(onboard())
        let decision = try verdict.result.get()
        #expect(
            decision.events.map(\.name) == [
                "owner.onboarded", "passphrase.derived", "client.adopted", "session_code.issued",
            ])
        let trusted = try await appointed(certified).when(onboard()).result.get()
        #expect(trusted.events.map(\.name).last == "session.opened")
    }

    @Test func `looks at the app before the token`() async throws {
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
            request: try request(secret))
    }

    private func names(
        _ command: SignInOwner, _ scenario: Scenario
    ) async throws -> [String] {
        try await scenario.when(command).result.get().events.map(\.name)
    }

    @Test func `gives everything to a certified app alone`() async throws {
        #expect(
            try await names(signIn(), givenOwner(client: certified)) == [
                "client.adopted", "session.opened",
            ])
        #expect(
            try await names(signIn(), givenOwner()) == ["client.adopted", "session_code.issued"])
    }

    @Test func `puts every refusal on record`() async throws {
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

    @Test func `asks for a mailed code where he wants it`() async throws {
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
                "mailed_code.redeemed", "client.adopted", "session_code.issued",
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

@Suite struct `An installation's session` {
    private func terms(_ client: UUID = installation) -> SessionTerms {
        SessionTerms(
            account: owner, stamp: 0, client: client, clientID: "x", app: nil, scope: ["*"],
            resources: [], factors: [.passphrase], openedAt: madeAt,
            expiresAt: madeAt.adding(seconds: 86_400), isOffline: true, method: .flagship)
    }

    private func opened(_ client: ClientEvent...) async throws -> Scenario {
        var scenario = account(try await givenInstallation(certified))
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario.given(SessionEvent.opened(terms()), in: appSession)
    }

    private func refresh(
        _ token: UUID? = appSession, secret: UInt8 = 1, at now: Timestamp = now
    ) throws -> RefreshInstallation {
        RefreshInstallation(
            token: token, installation: installation, secret: try digest(secret), now: now)
    }

    @Test func `is refreshed without another token`() async throws {
        try await opened().when(refresh())
            .then(
                Decision(
                    SessionEvent.refreshed(generation: 0, at: now), in: appSession, of: owner))
        try await opened().when(refresh(secret: 2)).thenRejected(.wrongSecret)
        try await opened(.deleted).when(refresh()).thenRejected(.unknownInstallation)
        try await opened().when(refresh(nil)).thenRejected(.invalidRefreshToken)
        try await opened().when(refresh(webCode)).thenRejected(.invalidRefreshToken)
        try await opened().given(SessionEvent.ended(.revoked), in: appSession).when(refresh())
            .thenRejected(.invalidRefreshToken)
        try await opened(.adopted(atOnboarding: false))
            .when(refresh(at: madeAt.adding(seconds: 86_400)))
            .thenRejected(.invalidRefreshToken)
        try await opened().given(AccountEvent.stampRotated(mail: nil), in: owner).when(refresh())
            .thenRejected(.invalidRefreshToken)
        try await account(try await givenInstallation()).given(
            SessionEvent.opened(terms(client)), in: appSession
        ).when(refresh()).thenRejected(.invalidRefreshToken)
        try await given().when(refresh()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(refresh()).thenRejected(.realmDisabled)
    }

    @Test func `opens web views by codes`() async throws {
        let issue = IssueSessionCode(code: webCode, session: appSession, now: now)
        let issued = SessionCodeEvent.issued(
            SessionCodeTerms(
                account: owner, stamp: 0, installation: installation, factors: [.passphrase],
                expiresAt: now.adding(seconds: SessionCode.lifetime)))
        try await opened().when(issue).then(issued, in: webCode)
        for over in [
            try await opened(.deleted), try await opened(.disabled),
            try await opened().given(SessionEvent.ended(.revoked), in: appSession),
            try await opened().given(AccountEvent.stampRotated(mail: nil), in: owner),
            try await givenInstallation(),
        ] {
            try await over.when(issue).thenRejected(.notAllowed)
        }
        // Somebody lost the certificate on the way.
        try await account(try await givenInstallation()).given(
            SessionEvent.opened(terms()), in: appSession
        ).when(issue).thenRejected(.notAllowed)
        try await given().when(issue).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(issue).thenRejected(.realmDisabled)
    }

    @Test func `code opens one browser session`() async throws {
        let browser = UUID(high: 70, low: 9)
        let command = SignInBrowser(
            SessionCodeProof(code: webCode), by: .sessionCode, session: browser,
            digest: try digest(5), now: now)
        let issued = SessionCodeEvent.issued(
            SessionCodeTerms(
                account: owner, stamp: 0, installation: installation, factors: [.passphrase],
                expiresAt: now.adding(seconds: 60)))
        let there = try await opened().given(issued, in: webCode)
        func names(_ scenario: Scenario) async throws -> [String] {
            try await scenario.when(command).result.get().events.map(\.name)
        }
        #expect(try await names(there) == ["session_code.used", "browser.opened"])
        let refused = ["browser.refused"]
        #expect(
            try await names(there.given(SessionCodeEvent.used(browser: browser), in: webCode))
                == refused)
        #expect(try await names(opened()) == refused)
        #expect(try await names(there.given(ClientEvent.deleted, in: installation)) == refused)
        #expect(
            try await names(there.given(AccountEvent.stampRotated(mail: nil), in: owner))
                == refused)
    }
}

@Suite struct `A code of the flagship profile` {
    private let browser = UUID(high: 71, low: 1)

    private func code(_ scope: [String] = ["*"], challenge: UInt8? = 7) throws -> AuthorizationCode
    {
        AuthorizationCode(
            id: appSession, client: installation, account: owner, browser: browser,
            redirect: try digest(6), challenge: try challenge.map { try digest($0) },
            scope: scope, authenticatedAt: madeAt, factors: [.passphrase],
            expiresAt: now.adding(seconds: 300))
    }

    private func redeem(
        _ code: AuthorizationCode, verifier: UInt8? = 7, secret: UInt8 = 1,
        at time: Timestamp = now
    ) throws -> RedeemInstallationCode {
        RedeemInstallationCode(
            code: code, verifier: try verifier.map { try digest($0) },
            installation: installation, secret: try digest(secret), now: time)
    }

    private func there(_ client: ClientEvent...) async throws -> Scenario {
        var scenario = try await givenOwner()
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario.given(
            BrowserSessionEvent.opened(
                BrowserTerms(
                    account: owner, stamp: 0, method: .sessionCode, factors: [.passphrase],
                    digest: try digest(5), openedAt: madeAt,
                    expiresAt: madeAt.adding(seconds: 300))), in: browser)
    }

    private func names(
        _ command: RedeemInstallationCode, _ scenario: Scenario
    ) async throws -> [String] {
        try await scenario.when(command).result.get().events.map(\.name)
    }

    @Test func `opens a session once, and ends it when it comes again`() async throws {
        #expect(
            try await names(redeem(code()), there(certified)) == [
                "client.adopted", "session.opened",
            ])
        // What is not everything needs no certificate, and a challenge only where there was one.
        #expect(
            try await names(redeem(code(["files"], challenge: nil), verifier: 1), there()).last
                == "session.opened")
        let opened = SessionEvent.opened(
            SessionTerms(
                account: owner, stamp: 0, client: installation, clientID: "x", app: nil,
                scope: ["*"], resources: [], factors: [], openedAt: madeAt,
                expiresAt: now.adding(seconds: 60), isOffline: true, method: .flagship))
        let again = try await there(certified).given(opened, in: appSession)
        #expect(try await names(redeem(code()), again) == ["session.ended"])
        try await again.given(SessionEvent.ended(.reuse), in: appSession).when(redeem(code()))
            .thenRejected(.invalidCode)
    }

    @Test func `is refused to whoever is not certified, or shows something else`() async throws {
        try await there().when(redeem(code())).thenRejected(.invalidCode)
        try await there(certified).when(redeem(code(), verifier: 8)).thenRejected(.wrongVerifier)
        try await there(certified).when(redeem(code(), verifier: nil))
            .thenRejected(.wrongVerifier)
        try await there(certified).when(redeem(code(challenge: nil)))
            .thenRejected(.wrongVerifier)
        try await there(certified).when(redeem(code(), secret: 2)).thenRejected(.wrongSecret)
        try await there(.deleted).when(redeem(code())).thenRejected(.unknownInstallation)
        var other = try code()
        other.client = owner
        try await there(certified).when(redeem(other)).thenRejected(.invalidCode)
        try await there(certified).when(redeem(code(), at: now.adding(seconds: 300)))
            .thenRejected(.invalidCode)
        try await there(certified).given(BrowserSessionEvent.ended(.signedOut), in: browser)
            .when(redeem(code())).thenRejected(.invalidCode)
        try await there(certified).given(AccountEvent.stampRotated(mail: nil), in: owner)
            .when(redeem(code())).thenRejected(.invalidCode)
        try await given().when(redeem(code())).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(redeem(code())).thenRejected(.realmDisabled)
    }
}

@Suite struct `Certifying an installation by mail` {
    private let stream = MailedCode.stream(of: installation, .certification)

    @Test func `has one code mailed`() async throws {
        let request = RequestCertification(
            installation: installation, code: mailed, digest: try digest(9), now: now)
        let issued = MailedCodeEvent.issued(
            IssuedMailedCode(
                id: mailed, purpose: .certification, account: owner, digest: try digest(9),
                issuedAt: now))
        try await givenOwner().when(request).then(issued, in: stream)
        try await givenInstallation().when(request).thenRejected(.noOwner)
        try await flagshipRealm().when(request).thenRejected(.notFound)
        try await given().when(request).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(request).thenRejected(.realmDisabled)
    }

    @Test func `takes it once`() async throws {
        func certify(_ byte: UInt8, _ id: UUID = mailed) throws -> CertifyByMailedCode {
            CertifyByMailedCode(
                installation: installation,
                typed: TypedMailedCode(id: id, digest: try digest(byte)), now: now)
        }
        let asked = try await givenOwner().given(
            MailedCodeEvent.issued(
                IssuedMailedCode(
                    id: mailed, purpose: .certification, account: owner, digest: try digest(9),
                    issuedAt: madeAt)), in: stream)
        var expected = Decision(MailedCodeEvent.redeemed(mailed), in: stream)
        expected.append(
            ClientEvent.certified(.mailedCode, at: now, attestation: nil), in: installation)
        try await asked.when(certify(9)).then(expected)
        try await asked.when(certify(8)).then(MailedCodeEvent.refused(mailed, at: now), in: stream)
        try await asked.when(certify(9, token)).thenRejected(.noCode)
        try await asked.given(MailedCodeEvent.redeemed(mailed), in: stream).when(certify(9))
            .thenRejected(.noCode)
        try await asked.given(ClientEvent.deleted, in: installation).when(certify(9))
            .thenRejected(.notFound)
        try await given().when(certify(9)).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(certify(9)).thenRejected(.realmDisabled)
    }
}
