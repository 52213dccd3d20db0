import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `The subjects that a receiver of signals names` {
    private let ann = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)
    private let address = "ann@example.org"

    enum Form: CaseIterable { case issSub, email }

    struct Case: Sendable {
        let isPairwise: Bool
        let hasAll: Bool
        let first: Form
        let second: Form
    }

    static let cases = [false, true].flatMap { isPairwise in
        [false, true].flatMap { hasAll in
            [(Form.issSub, Form.email), (.email, .issSub)].map {
                Case(isPairwise: isPairwise, hasAll: hasAll, first: $0, second: $1)
            }
        }
    }

    private func world(_ isPairwise: Bool) async throws -> SignalWorld {
        let pairwise: JSONObject = [
            "subject_type": "pairwise",
            "sector_identifier_uri": "https://siem.example/sector.json",
        ]
        let ours = try await SignalWorld(
            try await SignInWorld(), metadata: isPairwise ? pairwise : [:])
        let mailbox = ours.world.mint.mailbox(address)
        try await ours.happen(MailboxEvent.assigned(ann), in: mailbox)
        try await ours.happen(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: true, origin: .code,
                person: Person(email: address)), in: ann, of: ann)
        return ours
    }

    private func stream(_ ours: SignalWorld, hasAll: Bool) async throws -> String {
        let stream = try await ours.create([
            "default_subjects": hasAll ? "ALL" : "NONE",
            "events_requested": [.string(SignalKind.sessionRevoked.uri)],
        ])
        _ = try await ours.take(stream)
        return stream
    }

    private func sub(_ ours: SignalWorld, _ isPairwise: Bool) -> String {
        ours.world.mint.subject(ann, in: isPairwise ? "siem.example" : nil)
    }

    /// What the receiver says of her, in a form.
    private func set(
        _ isIncluded: Bool, _ form: Form, _ stream: String, _ ours: SignalWorld, _ isPairwise: Bool
    ) async throws {
        let subject: JSON =
            switch form {
            case .email: ["format": "email", "email": .string(address)]
            case .issSub:
                [
                    "format": "iss_sub", "iss": "http://id.acme.example",
                    "sub": .string(sub(ours, isPairwise)),
                ]
            }
        let answer = try await ours.call(
            .post, isIncluded ? "/ssf/subjects:add" : "/ssf/subjects:remove",
            ["stream_id": .string(stream), "subject": subject])
        #expect(answer.status == (isIncluded ? .ok : .noContent))
    }

    private func isHeard(_ stream: String, _ ours: SignalWorld) async throws -> Bool {
        try await ours.end(try await ours.session(of: ann), of: ann)
        return try await !ours.take(stream).isEmpty
    }

    @Test(arguments: cases)
    func `an account that is named in one form is the same when it is named in another`(
        _ one: Case
    ) async throws {
        let ours = try await world(one.isPairwise)
        let stream = try await stream(ours, hasAll: one.hasAll)
        func set(_ isIncluded: Bool, _ form: Form) async throws {
            try await self.set(isIncluded, form, stream, ours, one.isPairwise)
        }
        #expect(try await isHeard(stream, ours) == one.hasAll)
        for _ in 0..<2 {
            try await set(!one.hasAll, one.first)
            try await set(!one.hasAll, one.second)
            #expect(try await isHeard(stream, ours) != one.hasAll)
            try await set(one.hasAll, one.second)
            #expect(try await isHeard(stream, ours) == one.hasAll)
        }
        let id = try #require(UUID(stream))
        let known = try await SignalWorld.folded(id, ours.world)
        #expect(known.named.isEmpty)
    }

    /// As streams are that were told of both forms before they were one.
    @Test(arguments: Form.allCases, [false, true])
    func `an account that is in a stream twice is removed by either form`(
        _ form: Form, _ isPairwise: Bool
    ) async throws {
        let ours = try await world(isPairwise)
        let stream = try await stream(ours, hasAll: false)
        let id = try #require(UUID(stream))
        for name in [
            NamedSubject.sub(sub(ours, isPairwise)), .mailbox(ours.world.mint.mailbox(address)),
        ] {
            try await ours.happen(SignalStreamEvent.subjectAdded(name), in: id)
        }
        #expect(try await isHeard(stream, ours))
        try await set(false, form, stream, ours, isPairwise)
        #expect(try await !isHeard(stream, ours))
    }

    @Test func `an address is the account's that has it now`() async throws {
        let ours = try await world(false)
        let stream = try await stream(ours, hasAll: false)
        try await set(true, .issSub, stream, ours, false)
        let mailbox = ours.world.mint.mailbox(address)
        try await ours.happen(MailboxEvent.released(ann, next: nil), in: mailbox)
        try await ours.happen(
            AccountEvent.mailboxChanged(
                mailbox: .random(), isConfirmed: true, left: .random()), in: ann, of: ann)
        try await set(false, .email, stream, ours, false)
        #expect(try await isHeard(stream, ours))
    }
}

@Suite struct `A poll whose client is disabled while it waits` {
    private let ann = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)

    @Test(arguments: [ClientEvent.disabled, .deleted])
    func `hands out nothing of what happens then, and ends`(_ end: ClientEvent) async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create()
        _ = try await ours.take(stream)
        let answer = await ours.world.router.respond(
            to: Request(
                method: .post, path: "/ssf/poll/\(stream)",
                headers: [
                    "Host": "id.acme.example", "Authorization": "Bearer \(ours.token)",
                    "Content-Type": "application/json",
                ], body: Array("{}".utf8), source: "203.0.113.7", id: "request-30"))
        let body = try #require(answer.stream)
        let client = try #require(
            try await MemoryQueries(log: ours.world.log).ask(
                KnownClient.byClientID, "siem", in: ours.world.realm))
        try await ours.happen(end, in: client.id)
        try await ours.end(try await ours.session(of: ann), of: ann)
        let written = Pieces()
        try await body.produce(BodyStream.Writer { written.add($0) })
        #expect(try JSON.parse(written.bytes) == ["sets": [:]])
    }

    @Test func `an event of the client wakes it, and one of another client does not`() async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        let id = try #require(UUID(try await ours.create()))
        let log = ours.world.log
        let events = try await log.stream(id, after: 0, in: ours.world.realm)
        let stream = try #require(try KnownSignalStream(id, events))
        let head = try await log.head(of: ours.world.realm)
        let pages = SignalPages(log)
        try await ours.world.register("other", ["grant_types": ["client_credentials"]], secret: "a")
        let first = try await pages.page(
            after: head.position, of: head.epoch, in: ours.world.realm)
        #expect(!first.concerns(id, of: stream.terms.client, getting: []))
        try await ours.happen(ClientEvent.disabled, in: stream.terms.client)
        let second = try await pages.page(after: first.last, of: head.epoch, in: ours.world.realm)
        #expect(second.concerns(id, of: stream.terms.client, getting: []))
    }
}

/// What was written of a body.
private final class Pieces: Sendable {
    private let all = Mutex<[UInt8]>([])

    var bytes: [UInt8] { all.withLock { $0 } }

    func add(_ piece: [UInt8]) { all.withLock { $0 += piece } }
}
