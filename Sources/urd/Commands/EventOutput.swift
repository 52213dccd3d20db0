import Cryptography
import EventSourcing
import EventStore
import Identity
import JSON
import Telemetry
import Values

/// How events are shown: personal fields only on request.
struct EventOutput: Sendable {
    static let options = [
        RealmOption.option,
        Option.flag("open", "Show personal fields, too; that they were shown is on record"),
        Option.value("reason", "text", "Why they are shown; it is kept in the log"),
        Option.json,
    ]

    var realm: RealmID { named.realm }
    private let named: RealmOption
    private let isOpen: Bool
    private let reason: String?
    private let asJSON: Bool
    private let console: Console

    init(_ call: Invocation) throws(UsageError) {
        named = try RealmOption(call)
        isOpen = call.arguments.has("open")
        reason = call.arguments.value("reason")
        if reason != nil, !isOpen { throw UsageError("--reason: nothing is opened without --open") }
        asJSON = call.arguments.has("json")
        console = call.console
    }

    /// The position of the realm's last event. The system's log is there although it is no realm.
    func head(in store: Store) async throws -> Int64 {
        if realm == .system { return try await store.log.head(of: realm).position }
        return try await named.requireExists(in: store)
    }

    /// A page of the log, opened only where that was asked for.
    func read(
        from position: Int64, limit: Int, in store: Store
    ) async throws(LogFailure) -> [Recorded] {
        guard isOpen else {
            return try await store.log.page(from: position, limit: limit, in: realm).events
        }
        return try await store.log.events(from: position, limit: limit, in: realm)
    }

    /// Puts on record whose data these events show, before they are shown (decision 0016).
    func disclose(_ events: some Sequence<Recorded>, in store: Store) async throws {
        guard isOpen else { return }
        let opened = events.filter(\.isOpened)
        guard !opened.isEmpty else { return }
        var random = SystemRandom()
        let now = Log.systemTime()
        let record = DisclosureChange.record(
            .v7(at: now, using: &random), kind: .events,
            accounts: Set(opened.compactMap(\.subject)).sorted(), reason: reason)
        do {
            _ = try await store.dispatcher.dispatch(
                record, in: realm, id: .v7(at: now, using: &random),
                origin: Origin(actor: "operator:\(Operator.name)", at: now))
        } catch DisclosureChange.RecordRejection.invalid {
            throw UsageError(
                "--reason must be one line of up to \(DisclosureChange.longestReason) characters")
        }
    }

    func write(_ event: Recorded) {
        if asJSON { return console.writeLine(json(event)) }
        console.write(line(event))
        for piece in TableFit.pieces(of: personalText(event), width: Table.width - 8)
        where !piece.isEmpty {
            console.write("        \(piece)")
        }
    }

    /// Position, time, type, actor and the open fields, of which a long line loses the end.
    private func line(_ event: Recorded) -> String {
        let position = String(event.position)
        let time = event.at.description
        let open = String(decoding: JSON.object(event.shownFields).canonical(), as: UTF8.self)
        let text =
            String(repeating: " ", count: max(0, 6 - position.count))
            + "\(position)  \(time.prefix(10)) \(time.dropFirst(11).prefix(8))  \(event.name)  "
            + "\(event.actor)  \(open)"
        // A control character is shown as a longer text, and one event is one line.
        let shown = Printable.text(String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
        return TableFit.shorten(shown, to: Table.width)
    }

    func json(_ event: Recorded) -> JSON {
        var members: JSONObject = [
            "id": .string(event.id.description),
            "position": .integer(event.position), "at": .string(event.at.description),
            "type": .string(event.name), "revision": .integer(Int64(event.revision)),
            "stream": .string(event.stream.description), "version": .integer(Int64(event.version)),
            "command": .string(event.command.description), "actor": .string(event.actor),
            "realm": .string(event.realm.name), "data": .object(event.shownFields),
        ]
        members["subject"] = event.subject.map { .string($0.description) }
        members["client"] = event.client.map { .string($0) }
        members["correlation"] = event.correlation.map { .string($0) }
        switch event.personal {
        case .none: break
        case .opened:
            members["personal"] =
                isOpen ? .object(event.personalFields(for: .administrators)) : "sealed"
        case .sealed: members["personal"] = "sealed"
        case .erased: members["personal"] = "erased"
        case .unreadable: members["personal"] = "unreadable"
        }
        return .object(members)
    }

    private func personalText(_ event: Recorded) -> String {
        guard isOpen, event.isOpened else { return "" }
        let fields = event.personalFields(for: .administrators)
        return String(decoding: JSON.object(fields).canonical(), as: UTF8.self)
    }
}

extension Recorded {
    fileprivate var isOpened: Bool {
        if case .opened = personal { true } else { false }
    }
}
