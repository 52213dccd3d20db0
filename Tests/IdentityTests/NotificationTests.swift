import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let notification = UUID(high: 80, low: 1)
private let earlier = UUID(high: 80, low: 2)
private let source = UUID(high: 80, low: 3)
private let fallback = UUID(high: 80, low: 4)
private let content = NotificationContent(
    title: "Your balance is low", message: "Three euros.", members: ["appName": "Banks"],
    categoryID: "my-bank", state: "low", sender: "Banks")
private let categories: JSON = [
    "balance": ["stateful": true, "default_priority": "high"], "news": ["collapsible": true],
    "plain": [:],
]

private func terms(_ category: String = "plain") -> NotificationTerms {
    NotificationTerms(
        source: source, account: Owned.owner, originator: "oauth", sender: installation,
        slug: nil, category: category, priority: category == "balance" ? .high : .normal,
        channels: [.mobile, .mail], isCollapsible: category == "news", due: Owned.now)
}

/// An owner who let an app in that has three kinds of news.
private func givenSender() async throws -> Scenario {
    try await givenOwner(client: .adopted(atOnboarding: false)).given(
        try await registeredInstallation(["notifications": categories]), in: installation)
}

private func request(
    _ category: String = "plain", state: UInt8 = 1,
    _ change: (inout RequestNotification) -> Void = { _ in }
) throws -> RequestNotification {
    var command = RequestNotification(
        id: notification, sender: .installation(installation), account: Owned.owner,
        source: source, category: category, content: content, state: try digest(state),
        now: Owned.now)
    change(&command)
    return command
}

@Suite struct `A notification` {
    private func asked(_ terms: NotificationTerms) throws -> Decision {
        var decision = Decision(NotificationEvent.requested(terms, content), in: notification)
        decision.append(
            NotificationSourceEvent.moved(to: notification, state: try digest(1)), in: source)
        return decision
    }

    @Test func `a notification comes from an app that declared its category`() async throws {
        let scenario = try await givenSender()
        try await scenario.when(try request()).then(try asked(terms()))
        try await scenario.when(try request("balance")).then(try asked(terms("balance")))
        try await scenario.when(try request("other")).thenRejected(.unknownCategory)
        try await givenOwner().when(try request()).thenRejected(.unknownCategory)
    }

    @Test func `a notification's own values replace its category's defaults`() async throws {
        let command = try request("balance") {
            $0.priority = .normal
            $0.channels = [.sms, .mail]
            $0.due = Owned.now.adding(seconds: 60)
        }
        var other = terms("balance")
        other.priority = .normal
        other.channels = [.sms, .mail]
        other.due = Owned.now.adding(seconds: 60)
        #expect(!other.wantsPush)
        try await givenSender().when(command).then(try asked(other))
        // What is past is now.
        let late = try request { $0.due = Owned.now.adding(seconds: -60) }
        try await givenSender().when(late).then(try asked(terms()))
    }

    @Test func `a notification is for the owner alone and from an admitted app`() async throws {
        try await given().when(try request()).thenRejected(.realmNotFound)
        try await givenSender().given(RealmEvent.disabled, in: Realm.stream).when(try request())
            .thenRejected(.realmDisabled)
        try await givenSender().when(try request { $0.account = client })
            .thenRejected(.notAllowed)
        for event in [ClientEvent.deleted, .disabled] {
            try await givenSender().given(event, in: installation).when(try request())
                .thenRejected(.notAllowed)
        }
        try await givenSender().given(AccountEvent.disabled(mail: nil), in: Owned.owner)
            .when(try request()).thenRejected(.notAllowed)
    }

    @Test func `a notification's texts are bounded`() async throws {
        let scenario = try await givenSender()
        let year = RequestNotification.longestDelay
        try await scenario.when(try request { $0.due = Owned.now.adding(seconds: year + 1) })
            .thenRejected(.tooLate)
        try await scenario.when(
            try request { $0.content.title = String(repeating: "a", count: 201) }
        ).thenRejected(.invalid(FieldFault("title", .tooLong(limit: 200))))
        try await scenario.when(try request { $0.content.title = " " })
            .thenRejected(.invalid(FieldFault("title", .missing)))
        try await scenario.when(
            try request { $0.content.message = String(repeating: "a", count: 2_001) }
        ).thenRejected(.invalid(FieldFault("message", .tooLong(limit: 2_000))))
        try await scenario.when(
            try request {
                $0.content.members = ["a": .string(String(repeating: "a", count: 2_048))]
            }
        ).thenRejected(.invalid(FieldFault("data", .tooLong(limit: 2_048))))
    }

    @Test func `a stateful notification is sent once per state`() async throws {
        let told = NotificationSourceEvent.moved(to: earlier, state: try digest(1))
        let scenario = try await givenSender().given(told, in: source)
        try await scenario.when(try request("balance")).thenNothing()
        let facts = try request("balance", state: 2)
        guard case .success(let decision) = try await scenario.when(facts).result else {
            Issue.record("Another state is news.")
            return
        }
        #expect(
            decision.events.map(\.name) == ["notification.requested", "notification_source.moved"])
        // Of other kinds it is.
        try await scenario.when(try request()).then(try asked(terms()))
    }

    @Test func `a collapsible notification replaces its unsent one`() async throws {
        let told = NotificationSourceEvent.moved(to: earlier, state: try digest(1))
        let waiting = try await givenSender().given(told, in: source).given(
            NotificationEvent.requested(terms("news"), content), in: earlier)
        var expected = Decision(
            NotificationEvent.requested(terms("news"), content), in: notification)
        expected.append(NotificationEvent.superseded(by: notification), in: earlier)
        expected.append(
            NotificationSourceEvent.moved(to: notification, state: try digest(1)), in: source)
        try await waiting.when(try request("news")).then(expected)
        // One that is sent stays what it is.
        let sent = waiting.given(
            NotificationEvent.pushed(attempt: 1, .dedicated, [installation]), in: earlier)
        try await sent.when(try request("news")).then(try asked(terms("news")))
        // Those of other kinds wait beside each other.
        try await waiting.when(try request()).then(try asked(terms()))
    }
}

@Suite struct `A notification on its way` {
    private func waiting() async throws -> Scenario {
        try await givenSender().given(
            NotificationEvent.requested(terms(), content), in: notification)
    }

    private func record(_ outcome: RecordNotification.Outcome) -> RecordNotification {
        RecordNotification(
            notification: notification, outcome: outcome, mail: fallback, now: noon)
    }

    private let mailed = NotificationEvent.mailed(
        attempt: 1, mail: fallback, account: Owned.owner, content)

    @Test func `a notification that a device took is done, once`() async throws {
        let pushed = NotificationEvent.pushed(attempt: 1, .flagship, [installation])
        let command = record(.pushed(.flagship, [installation]))
        try await waiting().when(command).then(pushed, in: notification)
        try await waiting().given(pushed, in: notification).when(command)
            .thenRejected(.alreadySettled)
        try await waiting().given(NotificationEvent.superseded(by: earlier), in: notification)
            .when(command).thenRejected(.alreadySettled)
        try await given().when(command).thenRejected(.notFound)
    }

    @Test func `a notification that no device takes is mailed`() async throws {
        try await waiting().when(record(.refusedForGood(code: 404))).then(mailed, in: notification)
    }

    @Test func `a notification is not mailed if declined or unconfirmed`() async throws {
        let failed = NotificationEvent.failed(attempt: 1, .notTaken, code: 404)
        try await waiting().given(
            RealmEvent.settingsChanged(["notification_mails": false]), in: Realm.stream
        ).when(record(.refusedForGood(code: 404))).then(failed, in: notification)
        try await waiting().given(
            AccountEvent.registered(
                mailbox: Owned.mailbox, isConfirmed: false, origin: .administrator,
                person: Person(email: "c@example.org")), in: Owned.owner
        ).when(record(.refusedForGood(code: 404))).then(failed, in: notification)
    }

    @Test func `a notification whose text was erased is given up`() async throws {
        let failed = NotificationEvent.failed(attempt: 1, .pointless, code: 0)
        try await waiting().when(record(.pointless)).then(failed, in: notification)
        try await givenSender().given(
            NotificationEvent.requested(terms(), nil), in: notification
        ).when(record(.refusedForGood(code: 0))).then(failed, in: notification)
        try await waiting().given(AccountEvent.disabled(mail: nil), in: Owned.owner)
            .when(record(.refusedForGood(code: 0))).then(failed, in: notification)
    }

    @Test func `a notification is retried with back-off and then mailed`() async throws {
        var scenario = try await waiting()
        var last: Int64 = 0
        for attempt in 1...5 {
            let verdict = try await scenario.when(record(.refusedForNow(code: 503, pause: nil)))
            guard case .success(let decision) = verdict.result,
                let until = decision.events.first?.open["until"]?.integer
            else {
                Issue.record("attempt \(attempt)")
                return
            }
            #expect(until - noon.seconds > last)
            last = until - noon.seconds
            scenario = scenario.given(
                NotificationEvent.deferred(attempt: attempt, until: noon, code: 503),
                in: notification)
        }
        try await scenario.when(record(.refusedForNow(code: 503, pause: nil))).then(
            NotificationEvent.mailed(attempt: 6, mail: fallback, account: Owned.owner, content),
            in: notification)
    }

    @Test func `a notification is not retried before Retry-After`() async throws {
        for (pause, wait): (Int64, Int64) in [(90, 90), (1, 5), (.max, 1_800)] {
            try await waiting().when(record(.refusedForNow(code: 429, pause: pause))).then(
                NotificationEvent.deferred(
                    attempt: 1, until: noon.adding(seconds: wait), code: 429), in: notification)
        }
    }

    @Test func `a notification that failed can be queued again`() async throws {
        let requeue = NotificationChange.requeue(notification)
        let failed = NotificationEvent.failed(attempt: 1, .notTaken, code: 404)
        try await waiting().given(failed, in: notification).when(requeue)
            .then(NotificationEvent.requeued, in: notification)
        try await waiting().when(requeue).thenRejected(.notFailed)
        try await given().when(requeue).thenRejected(.notFound)
        try await waiting().given(failed, NotificationEvent.requeued, in: notification)
            .when(record(.refusedForGood(code: 404))).then(mailed, in: notification)
    }
}

@Suite struct `An app's notification categories` {
    private typealias Register = InstallationChange.Change<InstallationChange.RegisterRejection>
    private func register(_ said: JSON) throws -> Register {
        let metadata: JSONObject = [
            "redirect_uris": ["cozy://"], "client_name": "Phone", "software_id": "amiral",
            "notification_platform": "APNS", "notifications": said,
        ]
        return InstallationChange.register(installation, metadata: metadata, secret: try digest(1))
    }

    @Test func `an app's notification categories are kept as declared`() async throws {
        let verdict = try await flagshipRealm().when(try register(categories))
        guard case .success(let decision) = verdict.result else {
            Issue.record("It was refused.")
            return
        }
        #expect(decision.events.first?.open["notifications"] == categories)
        #expect(decision.events.first?.open["notification_platform"] == "apns")
    }

    private static let nonsense: [(JSON, FieldFault.Reason)] = [
        (["a": true], .wrongType(expected: .object)),
        (["a": ["stateful": "yes"]], .wrongType(expected: .flag)),
        (["a": ["default_priority": 1]], .wrongType(expected: .text)),
        (["a": ["default_priority": "loud"]], .unsupported),
        (["a\nb": [:]], .malformed),
        ("all", .wrongType(expected: .object)),
    ]

    @Test(arguments: nonsense)
    func `notification categories must be valid`(_ said: JSON, _ reason: FieldFault.Reason)
        async throws
    {
        try await flagshipRealm().when(try register(said))
            .thenRejected(.invalid(FieldFault("notifications", reason)))
    }

    @Test func `an app's notification categories are bounded in number and size`() async throws {
        let many = JSONObject(
            (0..<51).map { ("c\($0)", JSON.object([:])) })
        try await flagshipRealm().when(try register(.object(many)))
            .thenRejected(.invalid(FieldFault("notifications", .tooMany(limit: 50))))
        let long: JSON = ["a": ["description": .string(String(repeating: "a", count: 16_384))]]
        try await flagshipRealm().when(try register(long))
            .thenRejected(.invalid(FieldFault("notifications", .tooLong(limit: 16_384))))
    }
}

@Suite struct `A device token` {
    private func device() async throws -> Scenario {
        flagshipRealm().given(
            try await registeredInstallation(["notification_platform": "firebase"]),
            in: installation
        ).given(
            ClientEvent.updated(
                try ClientMetadata([
                    "client_name": "Phone", "grant_types": ["urn:urd:flagship"],
                    "redirect_uris": ["cozy://"], "notification_platform": "firebase",
                    "notification_device_token": "t1", "application_type": "native",
                    "token_endpoint_auth_method": "client_secret_post", "response_types": [],
                ])), in: installation)
    }

    private func drop(
        _ token: String, _ consequence: DropDeviceToken.Consequence
    ) -> DropDeviceToken {
        DropDeviceToken(installation: installation, token: token, consequence: consequence)
    }

    @Test func `a device token is removed when its provider no longer knows it`() async throws {
        let verdict = try await device().when(drop("t1", .tokenGoes))
        guard case .success(let decision) = verdict.result else {
            Issue.record("It was refused.")
            return
        }
        #expect(decision.events.map(\.name) == ["client.updated"])
        #expect(decision.events.first?.personal["notification_device_token"] == nil)
        #expect(decision.events.first?.open["notification_platform"] == "firebase")
    }

    @Test func `a device token is removed with its app where the provider says so`() async throws {
        let id = Installation.clientID(of: installation)
        try await device().when(drop("t1", .installationGoes)).then(
            ClientEvent.deleted, in: installation,
            releasing: [Claim("client_id", id), Claim("installation_name", "Phone")])
    }

    @Test func `a device token is kept where the app has registered another since`() async throws {
        try await device().when(drop("t0", .installationGoes)).thenRejected(.tokenChanged)
        try await given().when(drop("t1", .tokenGoes)).thenRejected(.notFound)
        try await device().given(ClientEvent.deleted, in: installation)
            .when(drop("t1", .tokenGoes)).thenRejected(.notFound)
        let web = try registered(secret: nil)
        try await givenRealm().given(web, in: installation).when(drop("t1", .tokenGoes))
            .thenRejected(.notFound)
    }
}

@Suite struct `A push provider` {
    private let firebase = FirebaseProvider(
        project: "demo-1", email: "push@demo.iam.gserviceaccount.com", keyID: "k1",
        privateKey: "AAAA")
    private let apple = AppleProvider(
        team: "TEAM", keyID: "KEY", privateKey: "AAAA", topic: "io.example.flagship")

    @Test func `a push provider is set with a key and removed`() async throws {
        for provider in [PushProvider.firebase(firebase), .apple(apple)] {
            try await givenRealm().when(PushProviderChange.set(provider))
                .then(PushProviderEvent.set(provider), in: PushProviders.stream)
        }
        let set = given(PushProviderEvent.set(.apple(apple)), in: PushProviders.stream).given(
            RealmEvent.created(displayName: "Acme"), in: Realm.stream)
        try await set.when(PushProviderChange.remove(.apple))
            .then(PushProviderEvent.removed(.apple), in: PushProviders.stream)
        try await set.when(PushProviderChange.remove(.firebase)).thenRejected(.notSet)
        try await given().when(PushProviderChange.remove(.apple)).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(PushProviderChange.remove(.apple))
            .thenRejected(.realmDisabled)
        try await given().when(PushProviderChange.set(.apple(apple))).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(PushProviderChange.set(.apple(apple)))
            .thenRejected(.realmDisabled)
    }

    @Test func `a push provider's key is stored readable nowhere`() throws {
        let event = NewEvent(
            PushProviderEvent.set(.firebase(firebase)), in: PushProviders.stream)
        #expect(event.personal == ["private_key": "AAAA"])
        #expect(event.open["private_key"] == nil)
        #expect(event.subject == PushProviders.stream)
    }

    @Test func `a push provider's setting that could change the address is refused`() async throws {
        func refused(
            _ change: (inout FirebaseProvider) -> Void, _ field: String,
            _ reason: FieldFault.Reason
        ) async throws {
            var provider = firebase
            change(&provider)
            try await givenRealm().when(PushProviderChange.set(.firebase(provider)))
                .thenRejected(.invalid(FieldFault(field, reason)))
        }
        try await refused({ $0.project = "a/../b" }, "project_id", .malformed)
        try await refused({ $0.project = "" }, "project_id", .missing)
        try await refused({ $0.email = "push" }, "client_email", .malformed)
        try await refused({ $0.keyID = "k\r\nX: y" }, "private_key_id", .malformed)
        try await refused({ $0.privateKey = nil }, "private_key", .missing)
        try await refused({ $0.privateKey = "+" }, "private_key", .malformed)
        try await refused({ $0.address = "http://fcm.example" }, "address", .unsafeScheme)
        try await refused({ $0.address = "http://127.0.0.1" }, "address", .unsafeScheme)
        try await refused({ $0.address = "https://a@b.example" }, "address", .hasUserInfo)
        try await refused({ $0.address = "https://b.example/?q" }, "address", .malformed)
        try await refused({ $0.tokenAddress = "ftp://a.example/" }, "token_uri", .unsafeScheme)
        var other = apple
        other.topic = "io.example\r\napns-priority: 10"
        try await givenRealm().when(PushProviderChange.set(.apple(other)))
            .thenRejected(.invalid(FieldFault("topic", .malformed)))
        other = apple
        other.team = String(repeating: "T", count: 21)
        try await givenRealm().when(PushProviderChange.set(.apple(other)))
            .thenRejected(.invalid(FieldFault("team_id", .tooLong(limit: 20))))
    }
}
