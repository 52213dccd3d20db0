import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let kept = "scrypt$…"
private let stream = Passphrase.stream(of: account)
private let at = UUID(high: 61, low: 61)

private func wasSet(_ hash: String? = kept) -> PassphraseEvent {
    .set(hash: hash, account: account, mail: code, at: noon)
}

/// One of every event of passphrases, with every field that it can have.
func passphraseSamples() -> [any Event] {
    [
        wasSet(), PassphraseEvent.refused(at: noon, account: account, mail: code),
        PassphraseEvent.imported(hash: "$2b$…", account: account, at: noon),
        PassphraseEvent.rehashed(hash: kept, account: account), PassphraseEvent.used,
        PassphraseEvent.removed(account: account, mail: code),
    ]
}

private func givenAnn(_ settings: JSONObject = ["login_passphrase": true]) -> Scenario {
    givenRealm().given(RealmEvent.settingsChanged(settings), in: Realm.stream)
        .given(registeredAccount(), in: account)
        .given(MailboxEvent.assigned(account), in: mailbox)
}

@Suite struct `Setting a passphrase` {
    private func set(since: Timestamp = noon) -> SetPassphrase {
        SetPassphrase(
            account: account, hash: kept, session: SignedIn(client: nil, app: nil, at: since),
            mail: code, now: noon)
    }

    @Test func `setting a passphrase stores a memory-hard hash and notifies the owner`()
        async throws
    {
        var expected = Decision(wasSet(), in: stream)
        expected.append(AccountEvent.proofsEnded, in: account)
        try await givenAnn().when(set()).then(expected)
        try await givenAnn().given(wasSet("other"), in: stream).when(set()).then(expected)
    }

    @Test func `setting a passphrase needs passphrases on, an active account and a recent sign-in`()
        async throws
    {
        try await given().when(set()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(set()).thenRejected(.realmDisabled)
        try await givenAnn([:]).when(set()).thenRejected(.notOffered)
        try await givenAnn().given(AccountEvent.disabled(), in: account).when(set())
            .thenRejected(.accountBlocked)
        try await givenAnn().when(set(since: noon.adding(seconds: -86_400)))
            .thenRejected(.signInTooOld(limit: 86_400))
    }
}

@Suite struct `Removing a passphrase` {
    private func remove(since: Timestamp = noon) -> RemovePassphrase {
        RemovePassphrase(
            account: account, session: SignedIn(client: nil, app: nil, at: since), mail: code,
            now: noon)
    }

    @Test func `removing a passphrase notifies the owner, also where passphrases are off`()
        async throws
    {
        var expected = Decision(
            PassphraseEvent.removed(account: account, mail: code), in: stream)
        expected.append(AccountEvent.proofsEnded, in: account)
        for settings in [["login_passphrase": true], [:]] as [JSONObject] {
            try await givenAnn(settings).given(wasSet(), in: stream).when(remove())
                .then(expected)
        }
    }

    @Test func `removing a passphrase needs one, and an active account with a recent sign-in`()
        async throws
    {
        let realm = givenAnn().given(wasSet(), in: stream)
        try await given().when(remove()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(remove()).thenRejected(.realmDisabled)
        try await givenAnn().when(remove()).thenRejected(.notSet)
        try await realm.given(AccountEvent.disabled(), in: account).when(remove())
            .thenRejected(.accountBlocked)
        try await realm.when(remove(since: noon.adding(seconds: -86_400)))
            .thenRejected(.signInTooOld(limit: 86_400))
    }
}

@Suite struct `Signing in by a passphrase` {
    private func signIn(
        _ comparison: PassphraseProof.Comparison, now: Timestamp = noon
    ) throws -> SignInBrowser<PassphraseProof> {
        SignInBrowser(
            PassphraseProof(mailbox: mailbox, comparison: comparison), by: .passphrase,
            session: browser, digest: try digest(9), now: now)
    }

    private func refused(
        _ reason: String = "invalid_passphrase", account whose: UUID? = account
    ) -> BrowserSessionEvent {
        .refused(RefusedBrowser(method: .passphrase, reason: reason, account: whose))
    }

    private func opened(now: Timestamp = noon) throws -> BrowserSessionEvent {
        var terms = try browserTerms(.passphrase, factors: [.passphrase])
        terms.openedAt = now
        terms.expiresAt = now.adding(seconds: 14 * 86_400)
        return .opened(terms)
    }

    private var ann: Scenario { givenAnn().given(wasSet(), in: stream) }

    @Test func `signing in by a passphrase opens a session`() async throws {
        try await ann.when(signIn(.right(hash: kept))).then(opened(), in: browser)
    }

    @Test func `signing in by an imported passphrase replaces its hash, and a wrong one does not`()
        async throws
    {
        let foreign = PassphraseEvent.imported(hash: "$2b$…", account: account, at: noon)
        let there = givenAnn().given(foreign, in: stream)
        let proof = PassphraseProof(
            mailbox: mailbox, comparison: .right(hash: "$2b$…"), rehashed: kept)
        let signIn = SignInBrowser(
            proof, by: .passphrase, session: browser, digest: try digest(9), now: noon)
        let rehashed = PassphraseEvent.rehashed(hash: kept, account: account)
        var expected = Decision(rehashed, in: stream)
        expected.append(try opened(), in: browser)
        try await there.when(signIn).then(expected)
        // A wrong one replaces nothing, and what was set meanwhile is not replaced.
        expected = Decision(PassphraseEvent.refused(at: noon), in: stream, of: account)
        expected.append(refused(), in: browser, of: account)
        try await there.when(self.signIn(.wrong(hash: "$2b$…"))).then(expected)
        try await there.given(wasSet(), in: stream).when(signIn).then(
            Decision(refused(), in: browser, of: account))
    }

    @Test func `signing in by a wrong passphrase is recorded, and a right one clears the count`()
        async throws
    {
        var expected = Decision(PassphraseEvent.refused(at: noon), in: stream, of: account)
        expected.append(refused(), in: browser, of: account)
        try await ann.when(signIn(.wrong(hash: kept))).then(expected)
        expected = Decision(PassphraseEvent.used, in: stream, of: account)
        expected.append(try opened(), in: browser)
        try await ann.given(PassphraseEvent.refused(at: noon), in: stream)
            .when(signIn(.right(hash: kept))).then(expected)
    }

    @Test func `signing in by a passphrase notifies the owner once when guesses lock it`()
        async throws
    {
        let guess = SignInBrowser(
            PassphraseProof(mailbox: mailbox, comparison: .wrong(hash: kept), mail: code),
            by: .passphrase, session: browser, digest: try digest(9), now: noon)
        var realm = ann
        for number in 1...5 {
            var expected = Decision(
                number == 5
                    ? PassphraseEvent.refused(at: noon, account: account, mail: code)
                    : .refused(at: noon), in: stream, of: account)
            expected.append(refused(), in: browser, of: account)
            try await realm.when(guess).then(expected)
            realm = realm.given(PassphraseEvent.refused(at: noon), in: stream)
        }
        // Later ones are no news, until he was in.
        let later = SignInBrowser(
            PassphraseProof(mailbox: mailbox, comparison: .wrong(hash: kept), mail: code),
            by: .passphrase, session: browser, digest: try digest(9),
            now: noon.adding(seconds: 3_600))
        var expected = Decision(
            PassphraseEvent.refused(at: noon.adding(seconds: 3_600)), in: stream, of: account)
        expected.append(refused(), in: browser, of: account)
        try await realm.when(later).then(expected)
    }

    @Test func `signing in by a passphrase answers and records the same without one to compare`()
        async throws
    {
        for (realm, whose) in [
            (givenAnn(), account),
            (
                givenRealm().given(
                    RealmEvent.settingsChanged(["login_passphrase": true]), in: Realm.stream), nil
            ),
        ] as [(Scenario, UUID?)] {
            try await realm.when(signIn(.nothing)).then(
                Decision(refused(account: whose), in: browser, of: whose))
        }
    }

    @Test func `signing in by a passphrase that was replaced meanwhile is refused`() async throws {
        for comparison in [
            PassphraseProof.Comparison.right(hash: "older"), .wrong(hash: "older"), .nothing,
        ] {
            try await ann.when(signIn(comparison)).then(
                Decision(refused(), in: browser, of: account))
        }
        try await givenAnn().given(
            wasSet(), PassphraseEvent.removed(account: account, mail: code), in: stream
        ).when(signIn(.right(hash: kept))).then(Decision(refused(), in: browser, of: account))
    }

    @Test
    func `signing in by a passphrase is locked twice as long per guess, at most a quarter hour`()
        async throws
    {
        for (guesses, rest) in [(4, 0), (5, 15), (6, 30), (7, 60), (20, 900), (80, 900)]
            as [(Int, Int64)]
        {
            var realm = ann
            for _ in 0..<guesses {
                realm = realm.given(PassphraseEvent.refused(at: noon), in: stream)
            }
            let (before, after) = (noon.adding(seconds: rest - 1), noon.adding(seconds: rest))
            if rest > 0 {
                // Neither is a right one taken meanwhile, nor a wrong one counted.
                for comparison in [
                    PassphraseProof.Comparison.right(hash: kept), .wrong(hash: kept),
                ] {
                    try await realm.when(signIn(comparison, now: before)).then(
                        Decision(refused(), in: browser, of: account))
                }
            }
            var expected = Decision(PassphraseEvent.used, in: stream, of: account)
            expected.append(try opened(now: after), in: browser)
            try await realm.when(signIn(.right(hash: kept), now: after)).then(expected)
        }
    }

    @Test func `signing in by a passphrase asks for the second factor where there is one`()
        async throws
    {
        let factor = try ann.given(
            offered(), confirmed(), in: TwoFactor.stream(of: account))
        try await factor.when(signIn(.right(hash: kept))).then(
            Decision(refused("second_factor_required"), in: browser, of: account))
    }

    @Test func `signing in by a passphrase needs a confirmed, active account and passphrases on`()
        async throws
    {
        try await ann.given(AccountEvent.disabled(), in: account)
            .when(signIn(.right(hash: kept)))
            .then(Decision(refused("account_blocked"), in: browser, of: account))
        try await givenAnn([:]).given(wasSet(), in: stream).when(signIn(.right(hash: kept)))
            .thenRejected(.unsupportedGrant)
        let unconfirmed = givenRealm().given(
            RealmEvent.settingsChanged(["login_passphrase": true]), in: Realm.stream
        ).given(registeredAccount(isConfirmed: false), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox).given(wasSet(), in: stream)
        try await unconfirmed.when(signIn(.right(hash: kept))).then(
            Decision(refused(), in: browser, of: account))
    }
}
