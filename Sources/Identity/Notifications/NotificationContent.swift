internal import EventSourcing
public import JSON
public import Values

/// What a notification says. All of it is its reader's own business.
public struct NotificationContent: Sendable, Equatable {
    public var title: String
    public var message: String
    /// For the app that takes it.
    public var members: JSONObject
    /// Of several things of one category: which.
    public var categoryID: String
    public var state: String
    /// What the app calls itself that sent it; empty where it has no name.
    public var sender: String

    public init(
        title: String, message: String = "", members: JSONObject = [:],
        categoryID: String = "", state: String = "", sender: String = ""
    ) {
        self.title = title
        self.message = message
        self.members = members
        self.categoryID = categoryID
        self.state = state
        self.sender = sender
    }

    /// Nil where it cannot be opened any more.
    init?(fields: JSONObject) {
        guard let title = fields["title"]?.string else { return nil }
        self.title = title
        message = fields["message"]?.string ?? ""
        members = fields["members"]?.object ?? [:]
        categoryID = fields["category_id"]?.string ?? ""
        state = fields["state"]?.string ?? ""
        sender = fields["sender"]?.string ?? ""
    }

    var fields: JSONObject {
        [
            "title": .string(title), "message": .string(message), "members": .object(members),
            "category_id": .string(categoryID), "state": .string(state),
            "sender": .string(sender),
        ]
    }

    /// What a mail says as well.
    static let mailedFields: [EventField] = [
        .text("title", "Title of the notification.", .personal(.person)).optional,
        .text("message", "Text of the notification.", .personal(.person)).optional,
        .text("sender", "Name of the sending app.", .personal(.person)).optional,
    ]
    static let otherFields: [EventField] = [
        .object("members", "Data for the app that takes it.", .personal(.person)).optional,
        .text("category_id", "Topic within the category.", .personal(.person)).optional,
        .text("state", "State of the topic.", .personal(.person)).optional,
    ]
}

/// All of a notification but what it says.
public struct NotificationTerms: Sendable, Equatable {
    /// The stream of what it is about: of two with one source the later one is news of the first.
    public var source: UUID
    /// Whom it is for.
    public var account: UUID
    /// What kind of sender it has, and which.
    public var originator: String
    public var sender: UUID
    /// The name of the app that it belongs to, where it is known.
    public var slug: String?
    public var category: String
    public var priority: NotificationPriority
    public var channels: [NotificationChannel]
    public var isCollapsible: Bool
    /// Not before this moment.
    public var due: Timestamp

    public init(
        source: UUID, account: UUID, originator: String, sender: UUID, slug: String?,
        category: String, priority: NotificationPriority, channels: [NotificationChannel],
        isCollapsible: Bool, due: Timestamp
    ) {
        self.source = source
        self.account = account
        self.originator = originator
        self.sender = sender
        self.slug = slug
        self.category = category
        self.priority = priority
        self.channels = channels
        self.isCollapsible = isCollapsible
        self.due = due
    }

    /// A mail is what is left where nothing else is asked for.
    public var wantsPush: Bool {
        let first = channels.first { $0 != .sms }
        return first == .mobile
    }

    static let eventFields: [EventField] = [
        .uuid("source", "Topic of the notification."),
        .uuid("account", "Account whose person it is for."),
        .text("originator", "Kind of sender."),
        .uuid("sender_id", "Client or web app that sent it."),
        .text("slug", "Short name of the app that it belongs to.").optional,
        .text("category", "Category of the notification."),
        .choice("priority", NotificationPriority.self, "How urgent it is."),
        .choices("channels", NotificationChannel.self, "Channels to try, in this order."),
        .flag("collapsible", "Whether a later one takes its place while it waits.").optional,
        .time("due", "The earliest moment of its delivery."),
    ]

    var fields: JSONObject {
        var fields: JSONObject = [
            "source": .uuid(source), "account": .uuid(account),
            "originator": .string(originator), "sender_id": .uuid(sender),
            "category": .string(category), "priority": .string(priority.rawValue),
            "channels": .texts(channels.map(\.rawValue)), "collapsible": .bool(isCollapsible),
            "due": .integer(due.seconds),
        ]
        fields["slug"] = slug.map { .string($0) }
        return fields
    }

    init?(fields: JSONObject) {
        guard let source = fields.uuid("source"), let account = fields.uuid("account"),
            let originator = fields["originator"]?.string,
            let sender = fields.uuid("sender_id"), let category = fields["category"]?.string,
            let priority: NotificationPriority = fields.choice("priority"),
            let channels = fields.texts("channels"), let due = fields.instant("due")
        else { return nil }
        self.init(
            source: source, account: account, originator: originator, sender: sender,
            slug: fields["slug"]?.string, category: category, priority: priority,
            channels: channels.compactMap(NotificationChannel.init),
            isCollapsible: fields["collapsible"]?.bool ?? false, due: due)
    }
}
