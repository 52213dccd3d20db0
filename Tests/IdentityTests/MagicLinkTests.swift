import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let link = UUID(high: 10, low: 10)
let mail = UUID(high: 11, low: 11)

func linkIssued(
    digest byte: UInt8 = 1, at: Timestamp = noon, to path: String? = nil, generation: Int = 0
) throws -> MailboxEvent {
    .linkIssued(
        IssuedLink(
            id: link, account: account, digest: try digest(byte), app: nil, issuedAt: at,
            expiresAt: at.adding(seconds: 900), base: "https://id.acme.example",
            returnPath: path.flatMap { ReturnPath($0) }, mail: mail, person: reader,
            generation: generation))
}

/// A realm that signs people in by link, with somebody who has an account.
func givenLinkedRealm(isConfirmed: Bool = true) throws -> Scenario {
    try givenNativeRealm([:], metadata: ["grant_types": ["urn:cocoar:magic", "refresh_token"]])
        .given(registeredAccount(isConfirmed: isConfirmed), in: account)
        .given(MailboxEvent.assigned(account), in: mailbox)
}

@Suite struct `Requesting a magic link` {
    func request(
        at: Timestamp = noon, person: Person = ann, to path: String? = nil
    ) throws -> RequestMagicLink {
        RequestMagicLink(
            mailbox: mailbox, person: person, link: link, digest: try digest(1),
            base: "https://id.acme.example", returnPath: path.flatMap { ReturnPath($0) },
            mail: mail, now: at)
    }

    @Test func `requesting a magic link mails it to an account with a confirmed mailbox`()
        async throws
    {
        try await givenLinkedRealm().when(request(to: "/basket"))
            .then(linkIssued(to: "/basket"), in: mailbox)
    }

    @Test func `requesting a magic link mails nothing to others, also where people may join`()
        async throws
    {
        try await givenNativeRealm().when(request()).thenNothing()
        try await givenLinkedRealm(isConfirmed: false).when(request()).thenNothing()
        try await givenLinkedRealm().given(AccountEvent.disabled(), in: account).when(request())
            .thenNothing()
        try await givenLinkedRealm().given(AccountEvent.deleted(subjects: []), in: account).when(
            request()
        )
        .thenNothing()
        try await givenLinkedRealm()
            .given(RealmEvent.settingsChanged(["native_grants": false]), in: Realm.stream)
            .when(request()).thenNothing()
    }

    @Test func `requesting a magic link again mails no sooner than allowed, unless it was used`()
        async throws
    {
        let realm = try givenLinkedRealm().given(linkIssued(), in: mailbox)
        try await realm.when(request(at: noon.adding(seconds: 119))).thenNothing()
        let later = noon.adding(seconds: 120)
        try await realm.when(request(at: later)).then(linkIssued(at: later), in: mailbox)
        try await realm.given(MailboxEvent.linkRedeemed(link), in: mailbox).when(request())
            .then(linkIssued(), in: mailbox)
    }

    @Test func `requesting a magic link needs a realm and an address`() async throws {
        try await given().when(request()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(request()).thenRejected(.realmDisabled)
        try await givenLinkedRealm().when(request(person: Person(email: "x")))
            .thenRejected(.invalid(FieldFault("email", .malformed)))
    }

    @Test func `requesting a magic link takes only return paths of the same origin`() {
        for path in ["/", "/basket", "/basket/?item=1&from=//x#top", "/%2F"] {
            #expect(ReturnPath(path)?.text == path)
        }
        for path in [
            "", "basket", "//evil.example", "/\\evil.example", "\\\\evil.example",
            "https://evil.example", "/a//evil.example", "/..//evil.example", "/\t/evil.example",
            "/ x", "/ä", "javascript:alert(1)", "/" + String(repeating: "x", count: 4096),
        ] {
            #expect(ReturnPath(path) == nil, "\(path)")
        }
    }
}

@Suite struct `Redeeming a magic link` {
    func redeem(
        _ byte: UInt8 = 1, of holder: UUID = account, at: Timestamp = noon
    ) throws -> RedeemGrant<MagicLinkGrant> {
        RedeemGrant(
            MagicLinkGrant(account: holder, digest: try digest(byte)),
            GrantRequest(
                client: client, clientID: "web", proof: .none, session: session, now: at))
    }

    func opened(stamp: SecurityStamp = 0) -> SessionEvent {
        .opened(
            SessionTerms(
                account: account, stamp: stamp, client: client, clientID: "web", app: nil,
                scope: [], resources: [], factors: [.mailedLink], openedAt: noon,
                expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: false,
                method: .nativeMagicLink))
    }

    func decided(_ events: (any Event, UUID)...) -> Decision {
        var decision = Decision()
        for (event, stream) in events { decision.append(event, in: stream) }
        return decision
    }

    func refused(_ reason: String = "invalid_link", account: UUID? = account) -> (any Event, UUID) {
        (
            SessionEvent.refused(
                RefusedSignIn(
                    method: .nativeMagicLink, reason: reason, account: account, client: client,
                    clientID: "web", app: nil, from: SignInPlace())), session
        )
    }

    @Test func `redeeming a magic link signs in and confirms the mailbox`() async throws {
        try await givenLinkedRealm().given(linkIssued(generation: 1), in: mailbox)
            .given(AccountEvent.stampRotated(), in: account).when(redeem()).then(
                decided((MailboxEvent.linkRedeemed(link), mailbox), (opened(stamp: 1), session)))
        try await givenLinkedRealm(isConfirmed: false).given(linkIssued(), in: mailbox)
            .when(redeem()).then(
                decided(
                    (MailboxEvent.linkRedeemed(link), mailbox),
                    (AccountEvent.mailboxConfirmed, account), (opened(), session)))
    }

    @Test
    func `redeeming a magic link that is wrong, used, expired or foreign is refused`()
        async throws
    {
        let realm = try givenLinkedRealm().given(linkIssued(), in: mailbox)
        try await realm.when(redeem(2)).then(decided(refused()))
        try await realm.when(redeem(at: noon.adding(seconds: 900))).then(decided(refused()))
        try await realm.given(MailboxEvent.linkRedeemed(link), in: mailbox).when(redeem())
            .then(decided(refused()))
        let other = UUID(high: 12, low: 12)
        try await realm.when(redeem(of: other)).then(decided(refused(account: nil)))
        // The mailbox went to somebody else since.
        try await realm.given(MailboxEvent.released(account), in: mailbox)
            .given(MailboxEvent.assigned(other), in: mailbox)
            .given(registeredAccount(), in: other).when(redeem(of: other))
            .then(decided(refused(account: other)))
    }

    @Test func `redeeming a magic link of a blocked account uses it up`() async throws {
        let blocked = try givenLinkedRealm().given(AccountEvent.disabled(), in: account)
        // One from before is worth nothing.
        try await blocked.given(linkIssued(), in: mailbox).when(redeem()).then(decided(refused()))
        try await blocked.given(linkIssued(generation: 1), in: mailbox).when(redeem()).then(
            decided(
                (MailboxEvent.linkRedeemed(link), mailbox), refused("account_blocked")))
    }

    @Test func `redeeming a magic link needs the realm's and the client's permission`() async throws
    {
        try await givenNativeRealm().when(redeem()).thenRejected(.unauthorizedClient)
        try await givenLinkedRealm()
            .given(RealmEvent.settingsChanged(["native_grants": false]), in: Realm.stream)
            .when(redeem()).thenRejected(.unsupportedGrant)
    }
}
