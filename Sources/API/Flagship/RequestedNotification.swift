internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A notification as an app asks for it.
struct RequestedNotification: Sendable {
    let category: String
    /// Who sends it is not for the app to say here.
    let content: NotificationContent
    let priority: NotificationPriority?
    let channels: [NotificationChannel]
    let due: Timestamp?
    private let attributes: JSONObject

    enum Fault: Error {
        /// The notification is invalid.
        case notValid
        case invalid(String)

        var response: Response {
            switch self {
            case .notValid:
                .jsonAPIError(.badRequest, "Bad Request", "Notification is not valid")
            case .invalid(let name):
                .jsonAPIError(
                    .unprocessable, "Invalid Attribute", "\(name) is not valid", parameter: name)
            }
        }
    }

    init(_ document: JSON) throws(Fault) {
        guard let data = document["data"], let attributes = data["attributes"]?.object,
            data["type"] == nil || data["type"] == "io.cozy.notifications"
        else { throw .notValid }
        self.attributes = attributes
        // No text of the database holds this.
        func text(_ name: String) throws(Fault) -> String {
            switch attributes[name] {
            case nil, .null?: return ""
            case .string(let text)? where !text.utf8.contains(0): return text
            default: throw .invalid(name)
            }
        }
        category = try text("category")
        content = NotificationContent(
            title: try text("title"), message: try text("message"),
            members: try Self.members(attributes["data"]), categoryID: try text("category_id"),
            state: try Self.state(attributes["state"]))
        guard !content.title.isEmpty, !category.isEmpty else { throw .notValid }
        let priority = try text("priority")
        self.priority = NotificationPriority(rawValue: priority)
        guard priority.isEmpty || self.priority != nil else { throw .invalid("priority") }
        channels = try Self.channels(attributes["preferred_channels"])
        let at = try text("at")
        due = Timestamp(rfc3339: at)
        guard at.isEmpty || due != nil else { throw .invalid("at") }
    }

    /// Some apps count their states, or describe them. What is compared is their text.
    private static func state(_ value: JSON?) throws(Fault) -> String {
        guard let value, !value.isNull else { return "" }
        guard !value.hasNullCharacter else { throw .invalid("state") }
        return value.string ?? String(decoding: value.canonical(), as: UTF8.self)
    }

    private static func members(_ value: JSON?) throws(Fault) -> JSONObject {
        switch value {
        case nil, .null?: return [:]
        case .object(let members)?:
            guard !JSON.object(members).hasNullCharacter else { throw .invalid("data") }
            return members
        default: throw .invalid("data")
        }
    }

    private static func channels(_ value: JSON?) throws(Fault) -> [NotificationChannel] {
        guard let value, !value.isNull else { return [] }
        guard let names = value.array, names.count <= 10 else {
            throw .invalid("preferred_channels")
        }
        var channels: [NotificationChannel] = []
        for name in names {
            guard let channel = name.string.flatMap(NotificationChannel.init) else {
                throw .invalid("preferred_channels")
            }
            if !channels.contains(channel) { channels.append(channel) }
        }
        return channels
    }

    /// As it stands on record.
    func document(_ id: UUID, _ sender: KnownSender, _ now: Timestamp) -> JSON {
        var shown = attributes.filter {
            ["category", "category_id", "title", "message", "state", "data"].contains($0.key)
        }
        shown["source_id"] = .string(sender.sourceID(self))
        shown["originator"] = .string(sender.originator)
        shown["slug"] = .string(sender.slug ?? "")
        shown["created_at"] = .string(now.description)
        let usual = NotificationCategory(category, in: sender.categories)?.defaultPriority
        shown["priority"] = .string((priority ?? usual ?? .normal).rawValue)
        return [
            "data": [
                "type": "io.cozy.notifications", "id": .string(id.description),
                "attributes": .object(shown),
            ]
        ]
    }
}
