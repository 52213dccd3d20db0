import EventSourcing
import Identity
import Telemetry
import Values

/// Which events are shown.
struct EventSelection: Sendable {
    static let options = [
        Option.values("type", "type", "Only events of this type, such as client.registered"),
        Option.value("stream", "id", "Only events of the account, client or app with this id"),
        Option.value("actor", "actor", "Only what this actor did, such as operator:root"),
        Option.value("client", "id", "Only what was done through this client"),
        Option.value(
            "filter", "filter", "Only events that meet this filter by what they say themselves"),
        Option.value(
            "since", "time", "Only events from this time or day (UTC) on." + TimeWords.forms),
    ]

    let since: Timestamp?
    private let types: Set<String>
    private let stream: UUID?
    private let actor: String?
    private let client: String?
    private let filter: FilterExpression?

    init(_ arguments: Arguments, now: Timestamp = Log.systemTime()) throws(UsageError) {
        types = Set(arguments.values["type"] ?? [])
        let known = EventCatalogue.all.map(\.name)
        for type in types where !known.contains(type) {
            throw UsageError(
                "--type: there is no '\(type)'" + NearestName.hint(for: type, among: known))
        }
        if let text = arguments.value("stream") {
            guard let id = UUID(text) else {
                throw UsageError("--stream must be an id, not '\(text)'")
            }
            stream = id
        } else {
            stream = nil
        }
        actor = arguments.value("actor")
        client = arguments.value("client")
        filter = try arguments.value("filter").map { text throws(UsageError) in
            do throws(FilterFault) {
                return try FilterParser.expression(of: text, EventAttributes.ofServices)
            } catch {
                throw UsageError("--filter: \(error.detail)")
            }
        }
        since = try arguments.value("since").map { text throws(UsageError) in
            guard let time = TimeWords.time(text, now: now) else {
                throw UsageError("--since '\(text)' is no time.\(TimeWords.forms)")
            }
            return time
        }
    }

    /// Whether every event passes, so that the last so many are the last positions.
    var isOpen: Bool {
        types.isEmpty && stream == nil && actor == nil && client == nil && since == nil
            && filter == nil
    }

    func passes(_ event: Recorded) -> Bool {
        (types.isEmpty || types.contains(event.name))
            && (stream == nil || event.stream == stream)
            && (actor == nil || event.actor == actor)
            && (client == nil || event.client == client)
            && since.map { event.at >= $0 } ?? true
            && filter?.holds(for: event) ?? true
    }
}
