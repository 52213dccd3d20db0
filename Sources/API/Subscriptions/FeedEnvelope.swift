internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// An event as its followers get it.
enum FeedEnvelope {
    static func members(_ event: Recorded, at cursor: LogCursor) -> JSONObject {
        var members: JSONObject = [
            "actor": .string(event.actor), "at": .string(event.at.description),
            "command": .string(event.command.description), "cursor": .string(cursor.description),
            "data": .object(event.shownFields),
            "epoch": .integer(Int64(cursor.epoch)), "id": .string(event.id.description),
            "leaf": .string(Base64URL.encode(event.leaf.bytes)),
            "personal": .string(personal(event)),
            "position": .integer(event.position), "realm": .string(event.realm.name),
            "revision": .integer(Int64(event.revision)),
            "stream": .string(event.stream.description), "type": .string(event.name),
            "version": .integer(Int64(event.version)),
        ]
        members["client"] = event.client.map { .string($0) }
        members["correlation"] = event.correlation.map { .string($0) }
        members["subject"] = event.subject.map { .string($0.description) }
        return members
    }

    private static func personal(_ event: Recorded) -> String {
        switch event.personal {
        case .none: "none"
        case .opened, .sealed: "sealed"
        case .erased: "erased"
        case .unreadable: "unreadable"
        }
    }
}
