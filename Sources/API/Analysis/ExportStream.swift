internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The events of a part of the log, one after the other, and a last line that says which they were. An export that
/// cannot go on breaks off without it.
struct ExportStream: Sendable {
    private static let page = 500

    let context: AdminContext
    let realm: RealmID
    let form: ExportForm
    let choice: Choice
    /// Everything up to here is left out.
    let start: LogCursor
    /// The last position.
    let end: Int64
    /// Bounds how many are under way, and ends with the caller's key.
    let place: FeedPlace

    /// Which events are wanted.
    struct Choice: Sendable {
        let filter: EventFilter
        /// What asks whom events are about.
        let subjects: FeedSubjects?
        /// The filter as it was given, which the last line repeats.
        let written: String?

        var isEverything: Bool { subjects == nil && filter == EventFilter() }
    }

    private struct Broken: Error {}

    /// What was written, and the sum over it.
    private struct Written {
        var hash = SHA256.Incremental()
        var count: Int64 = 0
        var first: Int64?
        var last: Int64?
    }

    private struct Page: Sendable {
        let last: Int64
        let wanted: [Recorded]
        let facts: [Int64: OCSFFacts]
    }

    func run(_ writer: BodyStream.Writer) async throws {
        var written = Written()
        try await write(form.header, &written, writer)
        var position = start.position
        var next: Page? = position < end ? try await page(after: position) : nil
        while let page = next {
            let last = page.last
            guard place.standing == .good else { throw Broken() }
            position = last
            async let ahead = last < end ? self.page(after: last) : nil
            let wanted = page.wanted
            let bytes = await bytes(of: wanted, page.facts)
            written.count += Int64(wanted.count)
            written.first = written.first ?? wanted.first?.position
            written.last = wanted.last?.position ?? written.last
            if !bytes.isEmpty { try await write(bytes, &written, writer) }
            next = try await ahead
        }
        guard position == end else { throw Broken() }
        try await writer.write(try await footer(written))
    }

    private func write(
        _ bytes: [UInt8], _ written: inout Written, _ writer: BodyStream.Writer
    ) async throws {
        guard !bytes.isEmpty else { return }
        written.hash.update(bytes)
        try await writer.write(bytes)
    }

    /// A page takes its time: others of the connection's thread go on meanwhile.
    private func bytes(of events: [Recorded], _ facts: [Int64: OCSFFacts]) async -> [UInt8] {
        await withTaskExecutorPreference(globalConcurrentExecutor) {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(events.count * 900)
            for event in events {
                form.write(
                    event, epoch: start.epoch, knowing: facts[event.position] ?? OCSFFacts(),
                    into: &bytes)
            }
            return bytes
        }
    }

    /// All of one epoch and without a hole: else there is no telling what the file is.
    private func page(after position: Int64) async throws -> Page {
        let count = Int(min(Int64(Self.page), end - position))
        let page = try await context.commands.events.page(
            from: position + 1, limit: count, in: realm)
        guard page.head.epoch == start.epoch, page.hole(after: position) == nil,
            let last = page.events.last?.position
        else { throw Broken() }
        let wanted = try await wanted(of: page.events)
        return Page(last: last, wanted: wanted, facts: try await facts(of: wanted))
    }

    private func wanted(of events: [Recorded]) async throws -> [Recorded] {
        let wanted = events.filter(choice.filter.wants)
        guard let subjects = choice.subjects else { return wanted }
        guard
            let found = try await subjects.positions(
                of: wanted, epoch: start.epoch, within: .seconds(10))
        else { throw Broken() }
        return wanted.filter { found.contains($0.position) }
    }

    /// What records of OCSF need that their events do not say: whom they are about, and which roles were
    /// replaced.
    private func facts(of wanted: [Recorded]) async throws -> [Int64: OCSFFacts] {
        guard form.format == .ocsf else { return [:] }
        let references = try await context.queries.references(
            of: wanted.map(\.position), in: realm
        ).value
        var facts: [Int64: OCSFFacts] = [:]
        for event in wanted {
            if event.name == "account.roles_changed" {
                let stream = try await context.commands.events.stream(
                    event.stream, after: 0, in: realm)
                facts[event.position] = OCSFFacts(of: event, in: stream)
            } else {
                facts[event.position] = OCSFFacts(
                    account: references[event.position]?.first?.account)
            }
        }
        return facts
    }

    private func footer(_ written: Written) async throws -> [UInt8] {
        var members: JSONObject = [
            "count": .integer(written.count),
            "cursor": .string(LogCursor(epoch: start.epoch, position: end).description),
            "after": .string(start.description),
            "filtered": .bool(!choice.isEverything),
            "sha256": .string(Hex.encode(written.hash.digest())),
        ]
        members["filter"] = choice.written.map { .string($0) }
        members["from"] = written.first.map { .integer($0) }
        members["to"] = written.last.map { .integer($0) }
        if let note = try await context.proofs.checkpoint(of: realm) {
            members["checkpoint"] = .string(String(decoding: note, as: UTF8.self))
        }
        var random = SystemRandom()
        let now = context.time.now(in: realm)
        return form.footer(members, of: realm, at: now, id: .v7(at: now, using: &random))
    }
}
