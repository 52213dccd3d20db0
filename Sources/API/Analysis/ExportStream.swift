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
    private static let page: Int64 = 500
    /// How many pages are made at a time.
    private static let ahead: Int64 = 3

    let context: AdminContext
    let realm: RealmID
    let form: ExportForm
    let choice: Choice
    /// The cursor up to which events are left out.
    let start: LogCursor
    /// The last position.
    let end: Int64
    /// Bounds how many are under way, and ends with the caller's key.
    let place: FeedPlace

    /// Which events are wanted.
    struct Choice: Sendable {
        let filter: EventFilter
        /// What asks whom events are about.
        let subjects: EventSubjects?
        /// The filter, which the last line repeats.
        let written: String?

        var isEverything: Bool { subjects == nil && filter == EventFilter() }
    }

    private struct Broken: Error {}

    /// What was written, and the sum over it.
    private struct ExportDigest {
        var hash = SHA256.Incremental()
        var count: Int64 = 0
        var first: Int64?
        var last: Int64?
    }

    /// What a page of the log is written as.
    private struct Page: Sendable {
        /// The position before its first event.
        let start: Int64
        let bytes: [UInt8]
        let count: Int64
        let first: Int64?
        let last: Int64?
    }

    func run(_ writer: BodyStream.Writer) async throws {
        var written = ExportDigest()
        try await write(form.header, &written, writer)
        try await withThrowingTaskGroup(of: Page.self) { group in
            var asked = start.position
            var early: [Int64: Page] = [:]
            var position = start.position
            while position < end {
                // Others of the connection's thread go on meanwhile.
                while asked < min(end, position + Self.ahead * Self.page) {
                    group.addTask(executorPreference: globalConcurrentExecutor) {
                        [asked] in try await page(after: asked)
                    }
                    asked += Self.page
                }
                guard let page = try await group.next() else { throw Broken() }
                early[page.start] = page
                while let page = early.removeValue(forKey: position) {
                    guard place.standing == .good else { throw Broken() }
                    try await write(page.bytes, &written, writer)
                    written.count += page.count
                    written.first = written.first ?? page.first
                    written.last = page.last ?? written.last
                    position = min(end, position + Self.page)
                }
            }
        }
        try await writer.write(try await footer(written))
    }

    private func write(
        _ bytes: [UInt8], _ written: inout ExportDigest, _ writer: BodyStream.Writer
    ) async throws {
        guard !bytes.isEmpty else { return }
        written.hash.update(bytes)
        try await writer.write(bytes)
    }

    /// All of one epoch and without a hole: else there is no telling what the file is.
    private func page(after position: Int64) async throws -> Page {
        let last = min(position + Self.page, end)
        let page = try await context.commands.events.page(
            from: position + 1, limit: Int(last - position), in: realm)
        guard page.head.epoch == start.epoch, page.hole(after: position) == nil,
            page.events.last?.position == last
        else { throw Broken() }
        let wanted = try await wanted(of: page.events)
        let facts = try await facts(of: wanted)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(wanted.count * 900)
        for event in wanted {
            form.write(
                event, epoch: start.epoch, knowing: facts[event.position] ?? OCSFFacts(),
                into: &bytes)
        }
        return Page(
            start: position, bytes: bytes, count: Int64(wanted.count),
            first: wanted.first?.position, last: wanted.last?.position)
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
        let references = try await context.queries.ask(
            EventReferences.ofPositions, wanted.map(\.position), in: realm
        ).value
        var facts: [Int64: OCSFFacts] = [:]
        for event in wanted {
            if event.name == AccountEvent.Form.rolesChanged.name {
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

    private func footer(_ written: ExportDigest) async throws -> [UInt8] {
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
