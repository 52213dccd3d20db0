import API
import EventSourcing
import JSON
import ReadModels
import Values

/// The index of events as the model keeps it, of what the tests here look for: an event's own fields, or those of
/// the event that began its stream.
extension MemoryQueries {
    func positions(
        _ asked: (about: EventReferences, after: Int64, limit: Int), in realm: RealmID
    ) async throws(LogFailure) -> ValueAtPosition<[Int64]> {
        let index = try await index(of: realm)
        let found = index.filter { $0.position > asked.after && $0.references.has(asked.about) }
        return ValueAtPosition(
            Array(found.map { $0.position }.prefix(asked.limit)), epoch: 1,
            position: index.last?.position ?? 0)
    }

    func references(
        of positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> ValueAtPosition<[Int64: [EventReferences]]> {
        let index = try await index(of: realm)
        let found = index.filter { positions.contains($0.position) && !$0.references.isEmpty }
        return ValueAtPosition(
            Dictionary(grouping: found, by: { $0.position }).mapValues { $0.map { $0.references } },
            epoch: 1, position: index.last?.position ?? 0)
    }

    private func index(
        of realm: RealmID
    ) async throws(LogFailure) -> [(position: Int64, references: EventReferences)] {
        var first: [UUID: JSONObject] = [:]
        return try await log.events(from: 1, limit: .max, in: realm).map { event in
            let began = first[event.stream] ?? event.open
            first[event.stream] = began
            func id(_ name: String, _ kind: String) -> UUID? {
                if event.name.hasPrefix(kind) { return event.stream }
                return (event.open[name] ?? began[name])?.string.flatMap { UUID($0) }
            }
            let isSession = event.name.hasPrefix("session.") && event.name != "session.refused"
            return (
                event.position,
                EventReferences(
                    account: id("account", "account."), session: isSession ? event.stream : nil,
                    client: id("client", "client."), source: event.open["source"]?.string,
                    device: event.open["device"]?.string)
            )
        }
    }
}

extension EventReferences {
    fileprivate func has(_ other: EventReferences) -> Bool {
        (other.account ?? account) == account && (other.session ?? session) == session
            && (other.browser ?? browser) == browser && (other.client ?? client) == client
            && (other.source ?? source) == source && (other.device ?? device) == device
    }
}
