import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct Subscriptions {
    let webhook = UUID(high: 0, low: 77)
    let secret: SubscriptionSecret
    let terms = SubscriptionTerms(name: "CRM", url: "https://crm.example.org/urd")

    init() throws {
        secret = try #require(
            SubscriptionSecret(shared: Array(repeating: 1, count: 32)))
    }

    var created: SubscriptionEvent {
        .created(.webhook, terms, secret: secret, startsAfter: nil, slot: 0)
    }

    private let slot = Claim("subscription", "webhook/0")

    func create(_ change: (inout SubscriptionTerms) -> Void = { _ in }) -> CreateWebhook {
        var terms = terms
        change(&terms)
        return CreateWebhook(id: webhook, terms: terms, secret: secret)
    }

    @Test func `a webhook is created once`() async throws {
        try await givenRealm().when(create()).then(created, in: webhook, taking: [slot])
        try await givenRealm().given(created, in: webhook).when(create()).thenRejected(.idTaken)
    }

    @Test func `a realm has fifty places for webhooks, and each is one webhook's alone`()
        async throws
    {
        try await givenRealm().when(create()).thenRejected(.slotTaken, whenTaken: slot)
        var last = create()
        last.slot = 49
        try await givenRealm().when(last).then(
            last.created, in: webhook, taking: [Claim("subscription", "webhook/49")])
        last.slot = 50
        try await givenRealm().when(last).thenRejected(.slotTaken)
        var feed = CreateFeedSubscription(id: webhook, slot: 99, terms: terms, startsAfter: 0)
        try await givenRealm().when(feed).then(
            feed.created, in: webhook, taking: [Claim("subscription", "feed/99")])
        feed.slot = 100
        try await givenRealm().when(feed).thenRejected(.slotTaken)
    }

    @Test func `a webhook from before places were numbered has none to give back`() async throws {
        let old = SubscriptionEvent.created(.webhook, terms, secret: secret, startsAfter: nil)
        try await givenRealm().given(old, in: webhook).when(SubscriptionChange.delete(webhook))
            .then(SubscriptionEvent.deleted, in: webhook)
        #expect(SubscriptionEvent(name: old.name, fields: old.fields) == old)
    }

    @Test
    func `a subscription of the feed has no address, and one kind is not changed as the other`()
        async throws
    {
        let feed = UUID(high: 0, low: 78)
        let terms = SubscriptionTerms(name: "Index", url: "")
        let create = CreateFeedSubscription(id: feed, terms: terms, startsAfter: 4)
        let made = SubscriptionEvent.created(.feed, terms, secret: nil, startsAfter: 4, slot: 0)
        let slot = Claim("subscription", "feed/0")
        try await givenRealm().when(create).then(made, in: feed, taking: [slot])
        let there = givenRealm().given(made, in: feed)
        try await there.when(create).thenRejected(.idTaken)
        var unknown = create
        unknown.terms.filter.types = ["account.baked"]
        try await givenRealm().when(unknown)
            .thenRejected(.invalid(FieldFault("types", .unsupported, at: 0)))
        var changed = terms
        changed.filter.reach = .audit
        try await there.when(SubscriptionChange.change(feed, kind: .feed, terms: changed))
            .then(SubscriptionEvent.changed(changed), in: feed)
        try await there.when(SubscriptionChange.change(feed, terms: self.terms))
            .thenRejected(.notFound)
        try await there.when(SubscriptionChange.pause(feed)).thenRejected(.notFound)
        try await there.when(SubscriptionChange.resume(feed)).thenRejected(.notFound)
        try await there.when(SubscriptionChange.delete(feed)).thenRejected(.notFound)
        try await there.when(SubscriptionChange.delete(feed, kind: .feed))
            .then(SubscriptionEvent.deleted, in: feed, releasing: [slot])
        try await givenRealm().given(created, in: webhook)
            .when(SubscriptionChange.delete(webhook, kind: .feed)).thenRejected(.notFound)
    }

    @Test(arguments: [
        ("http://crm.example.org/", FieldFault.Reason.unsafeScheme),
        ("http://127.0.0.1:8080/", .unsafeScheme), ("https://a:b@example.org/", .hasUserInfo),
        ("https://crm.example.org/#a", .hasFragment), ("crm", .malformed),
    ])
    func `a webhook is refused with an address that is not safe`(
        _ url: String, _ reason: FieldFault.Reason
    ) async throws {
        try await givenRealm().when(create { $0.url = url })
            .thenRejected(.invalid(FieldFault("url", reason)))
    }

    @Test func `a webhook on this machine is taken in development alone`() async throws {
        var command = create { $0.url = "http://127.0.0.1:8080/" }
        command.mayBeLoopback = true
        try await givenRealm().when(command).then(
            SubscriptionEvent.created(
                .webhook, command.terms, secret: secret, startsAfter: nil, slot: 0), in: webhook,
            taking: [slot])
    }

    @Test func `a webhook is refused with an unknown type or a header of ours`() async throws {
        try await givenRealm().when(create { $0.filter.types = ["account.*", "account.baked"] })
            .thenRejected(.invalid(FieldFault("types", .unsupported, at: 1)))
        for name in ["Webhook-Id", "Host", "content-type", "Urd-Replay"] {
            try await givenRealm().when(create { $0.headers = [name: "x"] })
                .thenRejected(.invalid(FieldFault("headers", .ours)))
        }
        for place in [
            "https://example.org:22/hook", "https://example.org:80/hook", "https://localhost:22/",
            "https://127.0.0.1:80/", "http://localhost:22/",
        ] {
            var command = create { $0.url = place }
            command.mayBeLoopback = true
            try await givenRealm().when(command)
                .thenRejected(.invalid(FieldFault("url", .port)))
        }
        try await givenRealm().when(create { $0.headers = ["X-A": "1", "x-a": "2"] })
            .thenRejected(.invalid(FieldFault("headers", .duplicate)))
        try await givenRealm().when(
            create { $0.description = String(repeating: "x", count: 201) }
        ).thenRejected(.invalid(FieldFault("description", .tooLong(limit: 200))))
        try await givenRealm().when(create { $0.headers = ["A": "x\r\nB: y"] })
            .thenRejected(.invalid(FieldFault("headers", .malformed)))
    }

    @Test func `a webhook that is sent elsewhere begins anew`() {
        var state = Subscription()
        state.apply(created)
        var changed = terms
        changed.order = .none
        state.apply(.changed(changed))
        #expect(state.runs == 1)
        changed.url = "https://other.example.org/urd"
        state.apply(.changed(changed))
        #expect(state.runs == 2)
        state.apply(.resumed(after: nil))
        #expect(state.runs == 3)
    }

    private func wants(_ filter: SubscriptionFilter, _ type: String) -> Bool {
        filter.events.wants(.sample(type))
    }

    @Test func `a group comes as far as the reach allows, and an exact type always`() {
        let services = SubscriptionFilter()
        #expect(wants(services, "account.registered"))
        #expect(!wants(services, "client.registered"))
        #expect(wants(SubscriptionFilter(reach: .audit), "client.registered"))
        #expect(wants(SubscriptionFilter(types: ["client.registered"]), "client.registered"))
        #expect(!wants(SubscriptionFilter(types: ["client.*"]), "client.registered"))
        #expect(!wants(SubscriptionFilter(types: ["session.*"]), "account.registered"))
        let less = SubscriptionFilter(types: ["account.*"], excluded: ["account.registered"])
        #expect(!wants(less, "account.registered") && wants(less, "account.erased"))
        let one = SubscriptionFilter(streams: [webhook])
        #expect(!wants(one, "account.registered"))
        #expect(one.events.wants(.sample("account.registered", stream: webhook)))
    }

    @Test func `a subscription with a filter is sent what meets it, and what it names`()
        async throws
    {
        let asked = SubscriptionFilter(
            expression: #"type eq "client.registered" or type sw "account." and actor pr"#)
        #expect(wants(asked, "account.registered") && wants(asked, "client.registered"))
        #expect(!wants(asked, "session.ended") && !wants(asked, "client.updated"))
        var changed = terms
        changed.filter = asked
        let event = SubscriptionEvent.changed(changed)
        #expect(SubscriptionEvent(name: event.name, fields: event.fields) == event)
        for wrong in ["", "type", #"mail eq "ann@example.org""#, #"address eq "192.0.2.1""#] {
            try await givenRealm().when(create { $0.filter.expression = wrong })
                .thenRejected(.invalid(FieldFault("filter", .malformed)))
        }
    }

    @Test func `the index decides on what a filter asks of whom, but on erasures that are owed`() {
        var state = Subscription()
        var terms = terms
        terms.filter.expression = #"account eq "\#(webhook)" and type sw "session.""#
        terms.includesPersonal = true
        state.apply(.created(.webhook, terms, secret: secret, startsAfter: nil))
        let selection = SubscriptionSelection(state)
        #expect(selection.aboutWhom == terms.filter.aboutWhom && selection.aboutWhom != nil)
        let events = ["session.ended", "account.registered", "account.erased"].map {
            Recorded.sample($0)
        }
        #expect(events.map(selection.wants) == [true, true, true])
        #expect(
            selection.undecided(among: events).map(\.name) == [
                "session.ended", "account.registered",
            ])
        terms.filter.expression = #"type sw "session.""#
        #expect(terms.filter.aboutWhom == nil)
    }

    /// Of a later version of Urd.
    @Test func `a subscription with a filter that cannot be read halts, and sends nothing`() {
        var state = Subscription()
        var terms = terms
        terms.filter.expression = #"weather eq "fine""#
        state.apply(.created(.webhook, terms, secret: secret, startsAfter: nil))
        #expect(SubscriptionSelection(state).wants(.sample("account.registered")) == nil)
        #expect(!state.wanted.wants(.sample("account.registered")))
    }

    @Test func `erasures are sent to each subscription that ever had personal data`() {
        var state = Subscription()
        func wants(_ type: String) -> Bool? {
            SubscriptionSelection(state).wants(.sample(type))
        }
        var terms = terms
        terms.filter.types = ["session.*"]
        state.apply(.created(.webhook, terms, secret: secret, startsAfter: nil))
        #expect(wants("account.erased") == false && wants("session.ended") == true)
        terms.includesPersonal = true
        state.apply(.changed(terms))
        #expect(wants("account.erased") == true && wants("account.deleted") == false)
        terms.includesPersonal = false
        state.apply(.changed(terms))
        #expect(wants("account.erased") == true)
    }

    @Test(arguments: SubscriptionTerms.Format.allCases)
    func `an erasure that is owed is sent in each form, and has a record of OCSF`(
        _ format: SubscriptionTerms.Format
    ) {
        var state = Subscription()
        var terms = terms
        (terms.format, terms.includesPersonal) = (format, true)
        terms.filter.excluded = ["account.*"]
        state.apply(.created(.webhook, terms, secret: secret, startsAfter: nil))
        terms.includesPersonal = false
        state.apply(.changed(terms))
        let erased = Recorded.sample("account.erased")
        #expect(SubscriptionSelection(state).wants(erased) == true)
        #expect(OCSFFacts().rules(for: erased).map(\.type) == [300_199])
    }

    @Test func `a type that is not known is neither sent nor passed over`() {
        var state = Subscription()
        state.apply(created)
        #expect(SubscriptionSelection(state).wants(.sample("account.baked")) == nil)
        var named = terms
        named.filter.types = ["session.*"]
        state.apply(.changed(named))
        #expect(SubscriptionSelection(state).wants(.sample("account.baked")) == false)
    }

    @Test func `events without a record are not sent as OCSF`() {
        var state = Subscription()
        var terms = terms
        terms.format = .ocsf
        terms.filter.reach = .internal
        state.apply(.created(.webhook, terms, secret: secret, startsAfter: nil))
        #expect(SubscriptionSelection(state).wants(.sample("account.registered")) == true)
        #expect(SubscriptionSelection(state).wants(.sample("app_key.used")) == false)
    }

    @Test func `after the log went back only a named position resumes a subscription`()
        async throws
    {
        let rewound = givenRealm().given(created, in: webhook).given(
            SubscriptionEvent.disabled(.rewound, position: 40, mail: nil), in: webhook)
        try await rewound.when(SubscriptionChange.resume(webhook))
            .thenRejected(.rewound(keptTo: 40))
        try await rewound.when(SubscriptionChange.resume(webhook, startsAfter: 40))
            .then(SubscriptionEvent.resumed(after: 40), in: webhook)
    }

    @Test func `a halt and a warning are on record once each`() async throws {
        let active = givenRealm().given(created, in: webhook)
        let halted = SubscriptionEvent.halted(position: 9, reason: "it is missing in the log")
        let halt = SubscriptionChange.halt(
            webhook, position: 9, reason: "it is missing in the log")
        try await active.when(halt).then(halted, in: webhook)
        try await active.given(halted, in: webhook).when(halt).thenNothing()
        let since = Timestamp(microseconds: 1_000_000_500)
        let failing = SubscriptionEvent.failing(
            since: Timestamp(seconds: 1000), mail: UUID(high: 0, low: 5))
        let warn = SubscriptionChange.warn(webhook, since: since, mail: UUID(high: 0, low: 5))
        try await active.when(warn).then(failing, in: webhook)
        try await active.given(failing, in: webhook).when(warn).thenNothing()
        try await givenRealm().when(halt).thenRejected(.notFound)
        try await givenRealm().when(warn).thenRejected(.notFound)
    }

    @Test func `a subscription is paused, resumed, disabled and deleted`() async throws {
        let active = givenRealm().given(created, in: webhook)
        try await active.when(SubscriptionChange.pause(webhook))
            .then(SubscriptionEvent.paused, in: webhook)
        // It tries at once what waits.
        try await active.when(SubscriptionChange.resume(webhook))
            .then(SubscriptionEvent.resumed(after: nil), in: webhook)
        try await active.when(SubscriptionChange.resume(webhook, startsAfter: 4))
            .then(SubscriptionEvent.resumed(after: 4), in: webhook)
        try await active.when(
            SubscriptionChange.disable(webhook, reason: .gone, position: 9)
        ).then(SubscriptionEvent.disabled(.gone, position: 9, mail: nil), in: webhook)
        let paused = active.given(SubscriptionEvent.paused, in: webhook)
        try await paused.when(SubscriptionChange.pause(webhook)).thenNothing()
        try await paused.when(SubscriptionChange.resume(webhook))
            .then(SubscriptionEvent.resumed(after: nil), in: webhook)
        try await paused.when(SubscriptionChange.disable(webhook, reason: .failing)).thenNothing()
        let gone = SubscriptionEvent.disabled(.gone, position: nil, mail: nil)
        try await paused.when(SubscriptionChange.disable(webhook, reason: .gone, url: terms.url))
            .then(gone, in: webhook)
        try await paused.given(gone, in: webhook).when(
            SubscriptionChange.disable(webhook, reason: .gone)
        ).thenNothing()
        try await active.when(
            SubscriptionChange.disable(webhook, reason: .gone, url: "https://former.example.org/")
        ).thenNothing()
        try await active.when(SubscriptionChange.delete(webhook))
            .then(SubscriptionEvent.deleted, in: webhook, releasing: [slot])
        let deleted = active.given(SubscriptionEvent.deleted, in: webhook)
        try await deleted.when(SubscriptionChange.delete(webhook)).thenRejected(.notFound)
        try await deleted.when(SubscriptionChange.resume(webhook)).thenRejected(.notFound)
        try await given().when(SubscriptionChange.pause(webhook)).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(SubscriptionChange.pause(webhook))
            .thenRejected(.realmDisabled)
    }

    @Test func `the old secret signs beside the new one until its time is over`() async throws {
        let newer = try #require(
            SubscriptionSecret(shared: Array(repeating: 3, count: 32)))
        let now = Timestamp(seconds: 1000)
        let rotated = SubscriptionEvent.secretRotated(newer, oldEnds: now.adding(seconds: 3600))
        try await givenRealm().given(created, in: webhook).when(
            SubscriptionChange.rotateSecret(webhook, secret: newer, keepsOldFor: 3600, now: now)
        ).then(rotated, in: webhook)
        try await givenRealm().given(created, in: webhook).when(
            SubscriptionChange.rotateSecret(webhook, secret: newer, keepsOldFor: 3599, now: now)
        ).thenRejected(
            .invalid(FieldFault("keep_old", .outOfRange(lowest: 3600, highest: 604_800))))
        var state = Subscription()
        state.apply(created)
        state.apply(rotated)
        #expect(state.secrets(at: now) == [newer, secret])
        #expect(state.secrets(at: now.adding(seconds: 3600)) == [newer])
        // Who rotates again takes none of them away before its time.
        let newest = try #require(SubscriptionSecret(shared: Array(repeating: 4, count: 32)))
        state.apply(.secretRotated(newest, oldEnds: now.adding(seconds: 1000)))
        #expect(state.secrets(at: now) == [newest, newer, secret])
        #expect(state.secrets(at: now.adding(seconds: 1000)) == [newest, secret])
        #expect(state.secrets(at: now.adding(seconds: 3600)) == [newest])
        let fourth = try #require(SubscriptionSecret(shared: Array(repeating: 5, count: 32)))
        state.apply(.secretRotated(fourth, oldEnds: now.adding(seconds: 1000)))
        #expect(state.secrets(at: now) == [fourth, newest, newer])
    }

    @Test func `a delivery that is given up and a replay are on record`() async throws {
        let lost = GivenUpDelivery(
            position: 4, type: "account.erased", attempts: 10, status: 500)
        try await givenRealm().given(created, in: webhook).when(
            SubscriptionChange.giveUp(webhook, delivery: lost)
        ).then(SubscriptionEvent.givenUp(lost), in: webhook)
        try await givenRealm().given(created, in: webhook).when(
            SubscriptionChange.replay(webhook, replay: .range(from: 5, to: 4, types: []), queued: 0)
        ).thenRejected(.invalid(FieldFault("from", .conflicts(with: "to"))))
        try await givenRealm().given(created, in: webhook).when(
            SubscriptionChange.replay(webhook, replay: .givenUp, queued: 7)
        ).then(SubscriptionEvent.replayed(.givenUp, queued: 7), in: webhook)
    }

    @Test func `a change of the terms is on record where there is one`() async throws {
        var other = terms
        other.order = .strict
        try await givenRealm().given(created, in: webhook).when(
            SubscriptionChange.change(webhook, terms: other)
        ).then(SubscriptionEvent.changed(other), in: webhook)
        try await givenRealm().given(created, in: webhook).when(
            SubscriptionChange.change(webhook, terms: terms)
        ).thenNothing()
    }
}

extension Recorded {
    fileprivate static func sample(
        _ name: String, stream: UUID = UUID(high: 1, low: 1)
    ) -> Recorded {
        Recorded(
            realm: .system, position: 1, stream: stream, version: 1, name: name, revision: 1,
            at: Timestamp(seconds: 0), command: UUID(high: 0, low: 0), subject: nil,
            actor: "system", client: nil, correlation: nil,
            leaf: .standIn(stream, 1), open: [:], personal: .none)
    }
}
