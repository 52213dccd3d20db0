import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let stream = UUID(high: 90, low: 1)
private let other = UUID(high: 90, low: 2)
private let terms = SignalTerms(
    client: client, clientID: "web", issuer: "https://id.example.org", slot: 0)
private let claim = Claim("ssf_stream", "\(client)/0")
private let settings = SignalSettings(requested: [SignalKind.sessionRevoked.uri])

private func receiver(_ scope: String = "ssf.manage") throws -> ClientEvent {
    try registered(
        ["grant_types": ["client_credentials"], "scope": .string(scope)], secret: try digest(1))
}

private func givenClient() throws -> Scenario {
    givenRealm().given(try receiver(), in: client)
}

private func givenStream(_ terms: SignalTerms = terms) throws -> Scenario {
    try givenClient().given(SignalStreamEvent.created(terms, settings), in: stream)
}

private func pushed(_ endpoint: String, _ header: String? = nil) -> SignalSettings {
    SignalSettings(delivery: .push(endpoint: endpoint, authorization: header))
}

@Suite struct `A stream of signals` {
    private let create = CreateSignalStream(id: stream, terms: terms, settings: settings)

    @Test func `a client with the scope can have a stream made`() async throws {
        try await givenClient().when(create).then(
            SignalStreamEvent.created(terms, settings), in: stream, taking: [claim])
        try await givenClient().when(create).thenRejected(.slotTaken, whenTaken: claim)
        try await given().when(create).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(create).thenRejected(.realmDisabled)
    }

    @Test func `a client that lost the scope, is disabled or gone gets no stream`() async throws {
        let narrow = givenRealm().given(try receiver("ssf.read jobs"), in: client)
        try await narrow.when(create).thenRejected(.notAllowed)
        try await givenClient().given(ClientEvent.disabled, in: client).when(create)
            .thenRejected(.notAllowed)
        try await givenClient().given(ClientEvent.deleted, in: client).when(create)
            .thenRejected(.notAllowed)
        try await givenRealm().when(create).thenRejected(.notAllowed)
    }

    @Test func `a stream beyond the last slot is refused`() async throws {
        var beyond = create
        beyond.terms.slot = SignalTerms.mostPerClient
        try await givenClient().when(beyond).thenRejected(.slotTaken)
        try await givenStream().when(create).thenRejected(.idTaken)
    }

    @Test func `settings that cannot be kept are refused by name`() async throws {
        let wrong: [(SignalSettings, FieldFault)] = [
            (pushed("http://siem.example.org"), FieldFault("endpoint_url", .unsafeScheme)),
            (pushed("https://u@siem.example.org"), FieldFault("endpoint_url", .hasUserInfo)),
            (pushed("https://127.0.0.1/a"), FieldFault("endpoint_url", .impossibleHost)),
            (pushed("https://[::1]/a"), FieldFault("endpoint_url", .impossibleHost)),
            (pushed("https://siem.example.org/#a"), FieldFault("endpoint_url", .hasFragment)),
            (
                pushed("https://siem.example.org", "a\r\nb"),
                FieldFault("authorization_header", .malformed)
            ),
            (
                SignalSettings(requested: ["a", "b c"]),
                FieldFault("events_requested", .malformed, at: 1)
            ),
            (
                SignalSettings(requested: (0...50).map { "urn:\($0)" }),
                FieldFault("events_requested", .tooMany(limit: 50))
            ),
            (SignalSettings(description: " "), FieldFault("description", .malformed)),
        ]
        for (settings, fault) in wrong {
            let create = CreateSignalStream(id: stream, terms: terms, settings: settings)
            try await givenClient().when(create).thenRejected(.invalid(fault))
            let change = SignalStreamChange.change(stream, client: client, settings: settings)
            try await givenStream().when(change).thenRejected(.invalid(fault))
        }
    }

    @Test func `a stream is changed by its own client alone`() async throws {
        let wanted = pushed("https://siem.example.org/signals", "Bearer b")
        let change = SignalStreamChange.change(stream, client: client, settings: wanted)
        try await givenStream().when(change).then(SignalStreamEvent.changed(wanted), in: stream)
        try await givenStream().when(
            SignalStreamChange.change(stream, client: client, settings: settings)
        ).thenNothing()
        try await givenStream().when(
            SignalStreamChange.change(stream, client: other, settings: wanted)
        ).thenRejected(.notFound)
        try await givenRealm().when(change).thenRejected(.notFound)
        try await given().when(change).thenRejected(.realmNotFound)
    }

    @Test func `a deleted stream is there for nobody`() async throws {
        let delete = SignalStreamChange.delete(stream, client: client)
        try await givenStream().when(delete).then(
            SignalStreamEvent.deleted, in: stream, releasing: [claim])
        try await givenStream().when(SignalStreamChange.delete(stream, client: other))
            .thenRejected(.notFound)
        let gone = try givenStream().given(SignalStreamEvent.deleted, in: stream)
        try await gone.when(delete).thenRejected(.notFound)
        try await gone.when(SignalStreamChange.change(stream, client: client, settings: settings))
            .thenRejected(.notFound)
        try await gone.when(SignalStreamChange.setStatus(stream, client: nil, status: .paused))
            .thenRejected(.notFound)
    }

    @Test func `a receiver sets any status, and the transmitter only pauses what is enabled`()
        async throws
    {
        let pause = SignalStreamChange.setStatus(
            stream, client: client, status: .paused, reason: "Noon")
        let paused = SignalStreamEvent.statusChanged(.paused, reason: "Noon", by: .receiver)
        try await givenStream().when(pause).then(paused, in: stream)
        try await givenStream().given(paused, in: stream).when(pause).thenNothing()
        try await givenStream().when(
            SignalStreamChange.setStatus(stream, client: other, status: .disabled)
        ).thenRejected(.notFound)
        try await givenStream().when(
            SignalStreamChange.setStatus(stream, client: client, status: .disabled, reason: "\u{7}")
        ).thenRejected(.invalid(FieldFault("reason", .malformed)))
        let own = SignalStreamChange.setStatus(
            stream, client: nil, status: .paused, reason: "Silence")
        try await givenStream().when(own).then(
            SignalStreamEvent.statusChanged(.paused, reason: "Silence", by: .transmitter),
            in: stream)
        try await givenStream().given(paused, in: stream).when(own).thenNothing()
        try await givenStream().given(
            SignalStreamEvent.statusChanged(.disabled, reason: nil, by: .receiver), in: stream
        ).when(own).thenNothing()
    }
}

@Suite struct `The subjects of a stream` {
    private let ann = NamedSubject.sub("ann")
    private let mailbox = NamedSubject.mailbox(UUID(high: 90, low: 9))

    @Test func `a stream of all accounts leaves out those that were removed`() async throws {
        let remove = SignalStreamChange.setSubject(
            stream, client: client, subject: ann, isIncluded: false)
        let add = SignalStreamChange.setSubject(
            stream, client: client, subject: ann, isIncluded: true)
        let removed = SignalStreamEvent.subjectRemoved(ann)
        try await givenStream().when(add).thenNothing()
        try await givenStream().when(remove).then(removed, in: stream)
        try await givenStream().given(removed, in: stream).when(remove).thenNothing()
        try await givenStream().given(removed, in: stream).when(add).then(
            SignalStreamEvent.subjectAdded(ann), in: stream)
        try await givenStream().when(
            SignalStreamChange.setSubject(
                stream, client: other, subject: ann, isIncluded: false)
        ).thenRejected(.notFound)
        try await givenStream().when(
            SignalStreamChange.setSubject(
                stream, client: other, subject: ann, isIncluded: true)
        )
        .thenRejected(.notFound)
    }

    @Test func `an account is removed by each of its names, and added once`() async throws {
        var none = terms
        none.defaultSubjects = .none
        func set(_ isIncluded: Bool, _ name: NamedSubject, _ other: NamedSubject)
            -> SignalStreamChange.Change<SignalStreamChange.SetSubjectRejection>
        {
            SignalStreamChange.setSubject(
                stream, client: client, subject: name, otherNames: [other],
                isIncluded: isIncluded)
        }
        let named = try givenStream(none).given(SignalStreamEvent.subjectAdded(ann), in: stream)
        try await named.when(set(true, mailbox, ann)).thenNothing()
        try await named.when(set(false, mailbox, ann)).then(
            SignalStreamEvent.subjectRemoved(ann), in: stream)
        try await named.given(SignalStreamEvent.subjectAdded(mailbox), in: stream)
            .when(set(false, mailbox, ann)).then(
                SignalStreamEvent.subjectRemoved(mailbox), SignalStreamEvent.subjectRemoved(ann),
                in: stream)
        let removed = try givenStream().given(SignalStreamEvent.subjectRemoved(ann), in: stream)
        try await removed.when(set(true, mailbox, ann)).then(
            SignalStreamEvent.subjectAdded(ann), in: stream)
        try await givenStream().when(set(false, mailbox, ann)).then(
            SignalStreamEvent.subjectRemoved(mailbox), in: stream)
    }

    @Test func `a stream of no account has those that were added`() {
        var named = terms
        named.defaultSubjects = .none
        var state = SignalStream()
        state.apply(.created(named, settings))
        #expect(!state.includes([ann, mailbox]))
        state.apply(.subjectAdded(mailbox))
        #expect(state.includes([ann, mailbox]))
        #expect(!state.includes([ann]))
        state.apply(.subjectRemoved(mailbox))
        #expect(!state.includes([ann, mailbox]))
    }

    @Test func `a stream that treats a thousand subjects by name treats no more`() async throws {
        var scenario = try givenStream()
        for index in 0..<SignalStream.mostNamed {
            scenario = scenario.given(
                SignalStreamEvent.subjectRemoved(.sub("\(index)")), in: stream)
        }
        try await scenario.when(
            SignalStreamChange.setSubject(
                stream, client: client, subject: ann, isIncluded: false)
        )
        .thenRejected(.tooMany(limit: SignalStream.mostNamed))
        var none = terms
        none.defaultSubjects = .none
        scenario = try givenStream(none)
        for index in 0..<SignalStream.mostNamed {
            scenario = scenario.given(SignalStreamEvent.subjectAdded(.sub("\(index)")), in: stream)
        }
        try await scenario.when(
            SignalStreamChange.setSubject(
                stream, client: client, subject: ann, isIncluded: true)
        )
        .thenRejected(.tooMany(limit: SignalStream.mostNamed))
    }

    @Test func `what its own client asks for is sent again`() async throws {
        let again = SignalStreamChange.replay(stream, client: client, after: 7)
        try await givenStream().when(again).then(
            SignalStreamEvent.replayed(after: 7), in: stream)
        try await givenStream().when(SignalStreamChange.replay(stream, client: other, after: 7))
            .thenRejected(.notFound)
        try await givenStream().given(SignalStreamEvent.deleted, in: stream).when(again)
            .thenRejected(.notFound)
        try await givenRealm().when(again).thenRejected(.notFound)
        try await given().when(again).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(again).thenRejected(.realmDisabled)
    }

    @Test func `what a stream gets is what it asks for of what there is`() {
        #expect(!SignalOffer.delivered([]).contains(.sessionPresented))
        #expect(SignalOffer.delivered([]).contains(.sessionRevoked))
        #expect(
            SignalOffer.delivered([
                "urn:unknown", SignalKind.sessionPresented.uri, SignalKind.sessionRevoked.uri,
            ]) == [.sessionRevoked, .sessionPresented])
        #expect(!SignalOffer.delivered([]).contains(.tokenClaimsChange))
        #expect(SignalOffer.delivered([SignalKind.tokenClaimsChange.uri]) == [.tokenClaimsChange])
        #expect(SignalOffer.supported == SignalKind.allCases.map(\.uri))
    }
}
