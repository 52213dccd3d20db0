import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let mailbox = UUID(high: 5, low: 5)
let account = UUID(high: 6, low: 6)
let session = UUID(high: 7, low: 7)
let code = UUID(high: 8, low: 8)
let ann = Person(email: "ann@example.org", firstName: "Ann")
/// As mails call whoever has an account, whatever name was typed where they were asked for.
let reader = Person(email: "ann@example.org")
let noon = Timestamp(seconds: 1_800_000_000)

/// A realm that signs people in without a browser, with a client that may.
func givenNativeRealm(
    _ settings: JSONObject = ["registration": "jit_on_otp"], metadata: JSONObject = [:]
) throws -> Scenario {
    let changes = settings.merging(["native_grants": true]) { own, _ in own }
    return givenRealm().given(RealmEvent.settingsChanged(changes), in: Realm.stream)
        .given(
            try registered(nativeMetadata.merging(metadata) { $1 }, secret: nil), in: client)
}

func issued(
    _ purpose: IssuedCode.Purpose = .registration, digest byte: UInt8 = 1, at: Timestamp = noon,
    to person: Person? = nil, from source: String? = nil, generation: Int = 0,
    id: UUID = code, repeating repeated: UUID? = nil
) throws -> MailboxEvent {
    var issued = IssuedCode(
        id: id, purpose: purpose, digest: try digest(byte), app: nil, issuedAt: at,
        expiresAt: at.adding(seconds: 600),
        person: person ?? (purpose == .registration ? ann : reader))
    issued.source = source
    issued.generation = generation
    issued.repeated = repeated
    return .codeIssued(issued)
}

func registeredAccount(isConfirmed: Bool = true) -> AccountEvent {
    .registered(mailbox: mailbox, isConfirmed: isConfirmed, origin: .code, person: ann)
}

@Suite struct `Requesting a one-time code` {
    func request(
        _ route: RequestOTP.Route = .signIn, at: Timestamp = noon, person: Person = ann
    ) throws -> RequestOTP {
        RequestOTP(
            route: route, mailbox: mailbox, person: person, code: code, digest: try digest(1),
            now: at)
    }

    @Test func `requesting a code mails it to the mailbox's account`() async throws {
        try await givenNativeRealm([:]).given(registeredAccount(), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
            .when(request()).then(issued(.signIn), in: mailbox)
    }

    @Test func `requesting a code never addresses an account by the typed name`() async throws {
        let mallory = Person(
            email: "ann@example.org", firstName: "Mallory", lastName: "Evil", language: "de")
        for isConfirmed in [true, false] {
            let expected = try issued(
                isConfirmed ? .signIn : .registration,
                to: Person(email: "ann@example.org", language: "de"))
            try await givenNativeRealm()
                .given(registeredAccount(isConfirmed: isConfirmed), in: account)
                .given(MailboxEvent.assigned(account), in: mailbox)
                .when(request(person: mallory)).then(expected, in: mailbox)
        }
    }

    @Test
    func `requesting a code for a new address mails where and how the realm lets people join`()
        async throws
    {
        let routes: [(String, RequestOTP.Route, Bool)] = [
            ("off", .signIn, false), ("off", .registration, false),
            ("jit_on_otp", .signIn, true), ("jit_on_otp", .registration, false),
            ("explicit_endpoint", .signIn, false), ("explicit_endpoint", .registration, true),
            ("invite_code", .signIn, false), ("invite_code", .registration, false),
        ]
        for (posture, route, isMailed) in routes {
            let verdict = try await givenNativeRealm(["registration": .string(posture)])
                .when(request(route))
            if isMailed { verdict.then(try issued(), in: mailbox) } else { verdict.thenNothing() }
        }
    }

    @Test func `requesting a code at the registration route does nothing where people cannot join`()
        async throws
    {
        for posture in ["off", "jit_on_otp", "invite_code", "explicit_endpoint"] {
            let realm = try givenNativeRealm([
                "registration": .string(posture), "registration_first_name": "required",
            ]).given(registeredAccount(), in: account)
                .given(MailboxEvent.assigned(account), in: mailbox)
            let named = try await realm.when(request(.registration))
            let nameless = try await realm.when(
                request(.registration, person: Person(email: "ann@example.org")))
            if posture == "explicit_endpoint" {
                named.then(
                    try issued(
                        .signIn, to: Person(email: "ann@example.org", language: ann.language)),
                    in: mailbox)
                nameless.thenRejected(.invalid(FieldFault("first_name", .missing)))
            } else {
                named.thenNothing()
                nameless.thenNothing()
            }
        }
    }

    @Test func `requesting a code can only tell whether a person could join`()
        async throws
    {
        var command = try request()
        command.mayJoin = false
        try await givenNativeRealm().when(command).thenNothing()
        try await givenNativeRealm().given(registeredAccount(), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
            .when(command).then(issued(.signIn), in: mailbox)
    }

    @Test func `requesting a code for a disabled account mails nothing`() async throws {
        try await givenNativeRealm().given(
            registeredAccount(), AccountEvent.disabled(), in: account
        )
        .given(MailboxEvent.assigned(account), in: mailbox).when(request()).thenNothing()
    }

    @Test func `requesting a code again mails no sooner than allowed, unless it was used`()
        async throws
    {
        let realm = try givenNativeRealm().given(issued(), in: mailbox)
        try await realm.when(request(at: noon.adding(seconds: 119))).thenNothing()
        let later = noon.adding(seconds: 120)
        try await realm.when(request(at: later)).then(
            issued(at: later, repeating: code), in: mailbox)
        try await realm.given(MailboxEvent.codeRedeemed(code), in: mailbox).when(request())
            .then(issued(), in: mailbox)
    }

    @Test
    func `requesting a code under other names is recorded before another one is mailed`()
        async throws
    {
        let mallory = Person(email: "ann@example.org", firstName: "Mallory", lastName: "Evil")
        let soon = noon.adding(seconds: 60)
        var realm = try givenNativeRealm().given(issued(), in: mailbox)
        var command = try request(at: soon, person: mallory)
        try await realm.when(command)
            .then(MailboxEvent.codeRenamed(code, mallory), in: mailbox)
        command.mayJoin = false
        try await realm.when(command)
            .then(MailboxEvent.codeRenamed(code, mallory), in: mailbox)
        // A page on which nobody says a name says none.
        command.isForPage = true
        try await realm.when(command).thenNothing()
        realm = realm.given(MailboxEvent.codeRenamed(code, mallory), in: mailbox)
        try await realm.when(request(at: soon, person: mallory)).thenNothing()
        try await realm.when(request(at: soon)).thenNothing()
        var elsewhere = try request(at: soon)
        elsewhere.source = "b"
        try await realm.when(elsewhere)
            .then(MailboxEvent.codeRenamed(code, ann, source: "b"), in: mailbox)
        // Of more than a few it does not matter any more.
        var crowded = realm
        for number in 0..<6 {
            crowded = crowded.given(
                MailboxEvent.codeRenamed(code, ann, source: "\(number)"), in: mailbox)
        }
        try await crowded.when(elsewhere).thenNothing()
        // Of somebody who has an account nothing changes.
        try await givenNativeRealm().given(registeredAccount(isConfirmed: false), in: account)
            .given(MailboxEvent.assigned(account), issued(), in: mailbox).when(request(at: soon))
            .thenNothing()
        // What another code is for is not what was said of this one.
        try await realm.given(MailboxEvent.codeRedeemed(code), in: mailbox)
            .given(MailboxEvent.codeRenamed(code, mallory), in: mailbox)
            .when(request()).then(issued(), in: mailbox)
    }

    @Test func `requesting a code needs native grants and the demanded names`()
        async throws
    {
        try await givenRealm().when(request()).thenRejected(.nativeGrantsDisabled)
        try await given().when(request()).thenRejected(.realmNotFound)
        try await givenNativeRealm(["registration_last_name": "required"]).when(request())
            .thenRejected(.invalid(FieldFault("last_name", .missing)))
        try await givenNativeRealm().when(request(person: Person(email: "x"))).thenRejected(
            .invalid(FieldFault("email", .malformed)))
    }

    @Test func `requesting a code is locked after too many wrong guesses at any codes`()
        async throws
    {
        var realm = try givenNativeRealm()
        for guess in 0..<10 {
            realm = realm.given(
                MailboxEvent.codeRefused(code, at: noon.adding(seconds: Int64(guess))),
                in: mailbox)
        }
        try await realm.when(request(at: noon.adding(seconds: 60))).thenNothing()
        let later = noon.adding(seconds: 3_600)
        try await realm.when(request(at: later)).then(issued(at: later), in: mailbox)
    }
}

@Suite struct `Redeeming a one-time code` {
    func redeem(
        _ byte: UInt8 = 1, at: Timestamp = noon, scope: [String] = []
    ) throws -> RedeemGrant<OTPGrant> {
        RedeemGrant(
            OTPGrant(mailbox: mailbox, digest: try digest(byte), account: account),
            GrantRequest(
                client: client, clientID: "web", proof: .none, scope: scope, session: session,
                now: at))
    }

    func opened(stamp: SecurityStamp = 0, scope: [String] = [], offline: Bool = false)
        -> SessionEvent
    {
        .opened(
            SessionTerms(
                account: account, stamp: stamp, client: client, clientID: "web", app: nil,
                scope: scope, resources: [], factors: [.mailedCode], openedAt: noon,
                expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: offline,
                method: .nativeOTP))
    }

    func decided(_ events: (any Event, UUID)...) -> Decision {
        var decision = Decision()
        for (event, stream) in events {
            // Where a failed attempt came from is the mailbox's as long as nobody holds it.
            let isNobodys = event.name == "session.refused" && event.subject == nil
            decision.append(event, in: stream, of: isNobodys ? mailbox : nil)
        }
        return decision
    }

    func refused(_ reason: String = "invalid_code", account: UUID? = nil) -> (any Event, UUID) {
        (
            SessionEvent.refused(
                RefusedSignIn(
                    method: .nativeOTP, reason: reason, account: account, client: client,
                    clientID: "web", app: nil, from: SignInPlace())), session
        )
    }

    @Test func `redeeming a code creates an account for a confirmed new mailbox`() async throws {
        let realm = try givenNativeRealm().given(issued(), in: mailbox)
        try await realm.when(redeem(scope: ["openid", "offline_access"])).then(
            decided(
                (MailboxEvent.codeRedeemed(code), mailbox), (registeredAccount(), account),
                (MailboxEvent.assigned(account), mailbox),
                (opened(scope: ["openid", "offline_access"], offline: true), session)))
    }

    @Test
    func `redeeming a code gives the account the names of the person who redeems it, or none`()
        async throws
    {
        let mallory = Person(email: "ann@example.org", firstName: "Mallory", lastName: "Evil")
        let first = try givenNativeRealm().given(issued(from: "a"), in: mailbox)
        func renamed(_ person: Person, from source: String) -> Scenario {
            first.given(MailboxEvent.codeRenamed(code, person, source: source), in: mailbox)
        }
        let own = try #require(JoinerNames(firstName: "Anna", lastName: nil))
        let silent = try #require(JoinerNames(firstName: nil, lastName: nil))
        let cases: [(Scenario, from: String?, says: JoinerNames?, name: String?)] = [
            // Nobody else asked, wherever it is redeemed.
            (first, "a", nil, "Ann"), (first, "c", nil, "Ann"), (first, nil, nil, "Ann"),
            // Somebody else did, from elsewhere: who asked from here is who redeems.
            (renamed(mallory, from: "b"), "a", nil, "Ann"),
            (renamed(mallory, from: "b"), "b", nil, "Mallory"),
            (renamed(mallory, from: "b"), "c", nil, nil),
            // From here as well: nobody knows who it is.
            (renamed(mallory, from: "a"), "a", nil, nil),
            (renamed(ann, from: "b"), "c", nil, "Ann"),
            // What is said while redeeming counts.
            (renamed(mallory, from: "a"), "a", own, "Anna"), (first, "a", own, "Anna"),
            (first, "a", silent, nil),
        ]
        for (realm, source, names, name) in cases {
            var command = try redeem()
            command.grant.joiner = names
            command.request.from = SignInPlace(source: source)
            let decision = try await realm.when(command).result.get()
            let made = try #require(decision.events.first { $0.name == "account.registered" })
            #expect(
                made.personal["first_name"]?.string == name,
                "\(source ?? "nowhere"), \(String(describing: names))")
            #expect(made.personal["last_name"]?.string == (name == "Mallory" ? "Evil" : nil))
        }
        #expect(JoinerNames(firstName: "A\nnn", lastName: nil) == nil)
    }

    @Test func `redeeming a code gives nothing to a client whose app was deleted`() async throws {
        let metadata: JSONObject = ["app_id": .string(app.description)]
        try await givenNativeRealm(metadata: metadata)
            .given(AppEvent.created(slug: "shop", name: "Shop"), AppEvent.deleted, in: app)
            .given(issued(), in: mailbox)
            .when(redeem()).thenRejected(.invalidClient)
    }

    @Test func `redeeming a code signs in and confirms the mailbox`() async throws {
        let held = try givenNativeRealm().given(MailboxEvent.assigned(account), in: mailbox)
        let realm = held.given(try issued(.signIn), in: mailbox)
        try await held.given(issued(.signIn, generation: 1), in: mailbox)
            .given(registeredAccount(), AccountEvent.stampRotated(), in: account)
            .when(redeem()).then(
                decided((MailboxEvent.codeRedeemed(code), mailbox), (opened(stamp: 1), session)))
        try await realm.given(registeredAccount(isConfirmed: false), in: account)
            .when(redeem()).then(
                decided(
                    (MailboxEvent.codeRedeemed(code), mailbox),
                    (AccountEvent.mailboxConfirmed, account), (opened(), session)))
    }

    @Test func `redeeming a wrong code is recorded, three times at most`() async throws {
        let wrong = MailboxEvent.codeRefused(code, at: noon)
        var realm = try givenNativeRealm().given(issued(), in: mailbox)
        for _ in 0..<3 {
            try await realm.when(redeem(2)).then(decided((wrong, mailbox), refused()))
            realm = realm.given(wrong, in: mailbox)
        }
        try await realm.when(redeem(2)).then(decided(refused()))
        try await realm.when(redeem()).then(decided(refused()))
    }

    @Test func `redeeming a code that is used, expired or was never mailed is refused`()
        async throws
    {
        let realm = try givenNativeRealm()
        try await realm.when(redeem()).then(decided(refused()))
        try await realm.given(issued(), MailboxEvent.codeRedeemed(code), in: mailbox)
            .when(redeem()).then(decided(refused()))
        try await realm.given(issued(), in: mailbox)
            .when(redeem(at: noon.adding(seconds: 600))).then(decided(refused()))
    }

    @Test func `redeeming a code of a blocked account uses it up`() async throws {
        let held = try givenNativeRealm().given(MailboxEvent.assigned(account), in: mailbox)
            .given(registeredAccount(), AccountEvent.disabled(), in: account)
        // One from before is worth nothing.
        try await held.given(issued(.signIn), in: mailbox).when(redeem())
            .then(decided(refused(account: account)))
        let verdict = try await held.given(issued(.signIn, generation: 1), in: mailbox)
            .when(redeem())
        verdict.then(
            decided(
                (MailboxEvent.codeRedeemed(code), mailbox),
                refused("account_blocked", account: account)))
    }

    @Test func `redeeming a code is not enough where an app demands more than one factor`()
        async throws
    {
        let strong = RealmEvent.settingsChanged(["sign_in_level": "multi"])
        let verdict = try await givenNativeRealm().given(strong, in: Realm.stream)
            .given(MailboxEvent.assigned(account), issued(.signIn), in: mailbox)
            .given(registeredAccount(), in: account).when(redeem())
        verdict.then(
            decided(
                (MailboxEvent.codeRedeemed(code), mailbox),
                refused("stronger_sign_in_needed", account: account)))
    }

    @Test func `redeeming a code that was mailed to sign in creates no account`() async throws {
        try await givenNativeRealm()
            .given(issued(.signIn), MailboxEvent.released(account), in: mailbox)
            .when(redeem()).then(decided(refused()))
    }

    @Test func `redeeming a code needs the realm's and the client's permission`() async throws {
        try await givenNativeRealm(metadata: ["grant_types": ["refresh_token"]])
            .given(issued(), in: mailbox).when(redeem()).thenRejected(.unauthorizedClient)
        try await givenRealm().given(registered(nativeMetadata, secret: nil), in: client)
            .given(issued(), in: mailbox).when(redeem()).thenRejected(.unsupportedGrant)
        try await givenNativeRealm().given(ClientEvent.disabled, in: client)
            .when(redeem()).thenRejected(.invalidClient)
        try await givenNativeRealm().given(issued(), in: mailbox)
            .when(redeem(scope: ["openid", "admin"])).thenRejected(.unknownScope)
    }
}
