public import JSON

public enum NotificationPriority: String, CaseIterable, Sendable {
    case normal
    case high
}

/// The channel by which a person is to get a notification.
public enum NotificationChannel: String, CaseIterable, Sendable {
    case mobile
    /// Text messages; not supported.
    case sms
    case mail
}

/// What an app says beforehand of one kind of its notifications.
public struct NotificationCategory: Sendable, Equatable {
    /// Of two with one state the later one is not sent.
    public var isStateful: Bool
    /// Whether a later notification replaces an unsent one.
    public var isCollapsible: Bool
    public var defaultPriority: NotificationPriority

    /// The category of a name, in what an app said of all of them.
    public init?(_ name: String, in said: JSON?) {
        guard let members = said?[name], members.object != nil else { return nil }
        isStateful = members["stateful"]?.bool ?? false
        isCollapsible = members["collapsible"]?.bool ?? false
        defaultPriority =
            members["default_priority"]?.string.flatMap(NotificationPriority.init) ?? .normal
    }
}

/// What an app may say of its notifications: an object by the names of categories.
enum NotificationCategories {
    static let limit = 50
    static let longest = 16 * 1024

    static func check(_ said: JSON) throws(FieldFault.Reason) {
        let categories = said.object ?? [:]
        guard categories.count <= limit else { throw .tooMany(limit: limit) }
        guard said.canonical().count <= longest else { throw .tooLong(limit: longest) }
        for (name, category) in categories {
            try TextRule.label(name, limit: 100)
            guard let members = category.object else { throw .wrongType(expected: .object) }
            for flag in ["collapsible", "stateful", "multiple"] {
                guard let value = members[flag], !value.isNull else { continue }
                guard value.bool != nil else { throw .wrongType(expected: .flag) }
            }
            guard let priority = members["default_priority"], !priority.isNull else { continue }
            guard let text = priority.string else { throw .wrongType(expected: .text) }
            guard text.isEmpty || NotificationPriority(rawValue: text) != nil else {
                throw .unsupported
            }
        }
    }
}
