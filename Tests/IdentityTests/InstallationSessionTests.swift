import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let owner = Owned.owner
private let token = Owned.token
private let appSession = Owned.session
private let webCode = Owned.code
private let mailed = Owned.mail
private let now = Owned.now
private let derived = Owned.derived
private let certified = Owned.certified

@Suite struct `An owner's mailed codes` {
    private let stream = MailedCode.stream(of: owner, .secondFactor)

    @Test func `an owner's mailed codes are turned on after one was shown`() async throws {
        let request = RequestMailedCode(code: mailed, digest: try digest(9), now: now)
        let issued = MailedCodeEvent.issued(
            IssuedMailedCode(
                id: mailed, purpose: .secondFactor, account: owner, digest: try digest(9),
                issuedAt: now))
        try await givenOwner().when(request).then(issued, in: stream)
        try await givenRealm().when(request).thenRejected(.noOwner)
        try await given().when(request).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(request).thenRejected(.realmDisabled)
        func want(_ byte: UInt8?, _ id: UUID = mailed) throws -> ChangeMailedCodes {
            ChangeMailedCodes(
                typed: try byte.map { TypedMailedCode(id: id, digest: try digest($0)) }, now: now)
        }
        let asked = try await givenOwner().given(issued, in: stream)
        var wanted = Decision(MailedCodeEvent.redeemed(mailed), in: stream)
        wanted.append(OwnerEvent.mailedCodesChanged(isNeeded: true), in: Owner.stream)
        try await asked.when(want(9)).then(wanted)
        try await asked.when(want(8)).then(MailedCodeEvent.refused(mailed, at: now), in: stream)
        try await asked.when(want(9, token)).thenNothing()
        try await asked.when(want(nil)).thenNothing()
        try await asked.given(OwnerEvent.mailedCodesChanged(isNeeded: true), in: Owner.stream)
            .when(want(nil))
            .then(OwnerEvent.mailedCodesChanged(isNeeded: false), in: Owner.stream)
        try await givenRealm().when(want(9)).thenRejected(.noOwner)
        try await given().when(want(9)).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(want(9)).thenRejected(.realmDisabled)
    }

    @Test func `an owner's mailed codes and passphrase are changed without admitting an app`()
        async throws
    {
        func change(_ target: OwnerTarget) throws -> SignInOwner {
            var request = try Owned.request()
            request.target = target
            return SignInOwner(
                comparison: .right(hash: "scrypt"), next: (mailed, try digest(9)),
                request: request)
        }
        let next = DerivedPassphrase(rounds: 100_000, hash: "other")
        var expected = Decision(
            PassphraseEvent.derived(next, account: owner, mail: mailed, at: now),
            in: Passphrase.stream(of: owner))
        expected.append(AccountEvent.proofsEnded, in: owner)
        try await givenOwner().when(change(.newPassphrase(next, mail: mailed))).then(expected)
        try await givenOwner().when(change(.newPassphrase(nil, mail: mailed))).thenNothing()
        try await givenOwner().when(change(.nobody)).thenNothing()
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
        var scenario = Owned.account(try await givenInstallation(certified))
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario.given(SessionEvent.opened(terms()), in: appSession)
    }

    private func refresh(
        _ token: UUID? = appSession, secret: UInt8 = 1, at now: Timestamp = now
    ) throws -> RefreshInstallation {
        RefreshInstallation(
            token: token, installation: installation, secret: try digest(secret), now: now)
    }

    @Test func `an installation's session is refreshed with the same refresh token`() async throws {
        try await opened().when(refresh())
            .then(
                Decision(
                    SessionEvent.refreshed(generation: 0, at: now), in: appSession, of: owner))
        try await opened().when(refresh(secret: 2)).thenRejected(.wrongSecret)
        try await opened(.deleted).when(refresh()).thenRejected(.unknownInstallation)
        try await opened().when(refresh(nil)).thenRejected(.invalidRefreshToken)
        try await opened().when(refresh(webCode)).thenRejected(.invalidRefreshToken)
        try await opened().given(SessionEvent.ended(.revoked), in: appSession).when(refresh())
            .thenRejected(.sessionOver)
        try await opened(.adopted(atOnboarding: false))
            .when(refresh(at: madeAt.adding(seconds: 86_400)))
            .thenRejected(.sessionOver)
        try await opened().given(AccountEvent.stampRotated(mail: nil), in: owner).when(refresh())
            .thenRejected(.sessionOver)
        try await Owned.account(try await givenInstallation()).given(
            SessionEvent.opened(terms(client)), in: appSession
        ).when(refresh()).thenRejected(.invalidRefreshToken)
        try await given().when(refresh()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(refresh()).thenRejected(.realmDisabled)
    }

    @Test func `an installation's session opens web views by session codes`() async throws {
        let issue = IssueSessionCode(code: webCode, session: appSession, now: now)
        let issued = SessionCodeEvent.issued(
            SessionCodeTerms(
                account: owner, stamp: 0,
                opener: Opener(installation: installation, session: appSession),
                factors: [.passphrase],
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
        try await Owned.account(try await givenInstallation()).given(
            SessionEvent.opened(terms()), in: appSession
        ).when(issue).thenRejected(.notAllowed)
        try await given().when(issue).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(issue).thenRejected(.realmDisabled)
    }

    @Test func `an installation's session code opens one browser session`() async throws {
        let browser = UUID(high: 70, low: 9)
        let command = SignInBrowser(
            SessionCodeProof(code: webCode), by: .sessionCode, session: browser,
            digest: try digest(5), now: now)
        let issued = SessionCodeEvent.issued(
            SessionCodeTerms(
                account: owner, stamp: 0,
                opener: Opener(installation: installation, session: appSession),
                factors: [.passphrase],
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

    @Test func `an installation's session code for a web app opens a session there alone`()
        async throws
    {
        let (drive, notes) = (UUID(high: 70, low: 20), UUID(high: 70, low: 21))
        var terms = SessionCodeTerms(
            account: owner, stamp: 0, opener: Opener(installation: installation),
            factors: [.passphrase], expiresAt: now.adding(seconds: 60))
        terms.webApp = drive
        let there = try await opened().given(SessionCodeEvent.issued(terms), in: webCode)
        for (place, expected) in [
            (drive, ["session_code.used", "browser.opened"]), (notes, ["browser.refused"]),
            (nil, ["browser.refused"]),
        ] as [(UUID?, [String])] {
            var command = SignInBrowser(
                SessionCodeProof(code: webCode), by: .sessionCode,
                session: UUID(high: 70, low: 9), digest: try digest(5), now: now)
            command.webApp = place
            let events = try await there.when(command).result.get().events
            #expect(events.map(\.name) == expected)
        }
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

    @Test func `a flagship code opens a session once, and ends it when it is used again`()
        async throws
    {
        #expect(
            try await names(redeem(code()), there(certified)) == [
                "client.adopted", "owner.device_added", "session.opened",
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

    @Test func `a flagship code is refused to uncertified clients and wrong verifiers`()
        async throws
    {
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
    private let stream = MailedCode.stream(of: owner, .certification)

    @Test func `certifying by mail sends one code`() async throws {
        let request = RequestCertification(
            installation: installation, code: mailed, digest: try digest(9), now: now)
        let issued = MailedCodeEvent.issued(
            IssuedMailedCode(
                id: mailed, purpose: .certification, account: owner, digest: try digest(9),
                issuedAt: now, installation: installation))
        try await givenOwner().when(request).then(issued, in: stream)
        try await givenInstallation().when(request).thenRejected(.noOwner)
        try await flagshipRealm().when(request).thenRejected(.notFound)
        try await given().when(request).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(request).thenRejected(.realmDisabled)
    }

    private func certify(_ byte: UInt8, _ id: UUID = mailed) throws -> CertifyByMailedCode {
        CertifyByMailedCode(
            installation: installation, typed: TypedMailedCode(id: id, digest: try digest(byte)),
            now: now)
    }

    private func asked(
        _ id: UUID = mailed, for installation: UUID = installation
    ) throws -> MailedCodeEvent {
        .issued(
            IssuedMailedCode(
                id: id, purpose: .certification, account: owner, digest: try digest(9),
                issuedAt: madeAt, installation: installation))
    }

    @Test func `certifying by mail counts guesses over all installations and codes`()
        async throws
    {
        var there = try await givenOwner()
        // Two codes, each of another installation, and not one of them guessed at as often as it may be.
        for (name, other) in [(UInt64(1), app), (2, client)] {
            there = there.given(try asked(UUID(high: 90, low: name), for: other), in: stream)
            for _ in 0..<MailedCode.attempts {
                there = there.given(
                    MailedCodeEvent.refused(UUID(high: 90, low: name), at: madeAt), in: stream)
            }
        }
        let fresh = try there.given(asked(), in: stream)
        try await fresh.when(certify(9)).thenRejected(.noCode)
        // An hour later they are forgotten.
        var later = try certify(9)
        later.now = madeAt.adding(seconds: 3_600)
        var issued = IssuedMailedCode(
            id: mailed, purpose: .certification, account: owner, digest: try digest(9),
            issuedAt: later.now, installation: installation)
        let again = there.given(ClientEvent.adopted(atOnboarding: false), in: installation)
            .given(MailedCodeEvent.issued(issued), in: stream)
        #expect(
            try await again.when(later).result.get().events.map(\.name) == [
                "mailed_code.redeemed", "client.certified",
            ])
        // As they are by what ended the proofs of the account: it took more than guesses.
        issued = IssuedMailedCode(
            id: mailed, purpose: .certification, account: owner, digest: try digest(9),
            issuedAt: madeAt, installation: installation, generation: 1)
        try await there.given(AccountEvent.stampRotated(), in: owner)
            .given(MailedCodeEvent.issued(issued), in: stream).when(certify(8))
            .then(MailedCodeEvent.refused(mailed, at: now), in: stream)
    }

    @Test func `certifying by mail takes the code once`() async throws {
        let asked = try await givenOwner().given(asked(), in: stream)
        try await givenOwner().given(self.asked(for: app), in: stream).when(certify(9))
            .thenRejected(.noCode)
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
