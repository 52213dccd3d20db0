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
}

/// All of a notification but what it says.
public struct NotificationTerms: Sendable, Equatable {
    /// The stream of what it is about: of two with one source the later one is news of the first.
    public var source: UUID
    /// The recipient's account.
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
    /// The earliest time of delivery.
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
}

extension Field<NotificationContent> {
    static let content = record(
        .title, .message, .sender,
        .readAs(
            JSONObject(), .object("members", "Data for the app that takes it.", .personal(.person))),
        .readAs("", .text("category_id", "Topic within the category.", .personal(.person))),
        .readAs("", .text("state", "State of the topic.", .personal(.person))),
        make: {
            NotificationContent(
                title: $0, message: $1, members: $3, categoryID: $4, state: $5, sender: $2)
        }, take: { ($0.title, $0.message, $0.sender, $0.members, $0.categoryID, $0.state) })

    /// What a mail says as well.
    static let mailed = record(
        .title, .message, .sender,
        make: { NotificationContent(title: $0, message: $1, sender: $2) },
        take: { ($0.title, $0.message, $0.sender) })
}

extension Field<String> {
    fileprivate static let title = text("title", "Title of the notification.", .personal(.person))
    fileprivate static let message = readAs(
        "", text("message", "Text of the notification.", .personal(.person)))
    fileprivate static let sender = readAs(
        "", text("sender", "Name of the sending app.", .personal(.person)))
}

extension Field<NotificationTerms> {
    static let terms = record(
        .uuid("source", "Topic of the notification."),
        .uuid("account", "Account whose person it is for."),
        .text("originator", "Kind of sender."),
        .uuid("sender_id", "Client or web app that sent it."),
        .optional(.text("slug", "Short name of the app that it belongs to.")),
        .text("category", "Category of the notification."),
        .choice("priority", "How urgent it is."),
        .choices("channels", "Channels to try, in this order."),
        .collapsible,
        .time("due", "The earliest moment of its delivery."),
        make: {
            NotificationTerms(
                source: $0, account: $1, originator: $2, sender: $3, slug: $4, category: $5,
                priority: $6, channels: $7, isCollapsible: $8, due: $9)
        },
        take: {
            (
                $0.source, $0.account, $0.originator, $0.sender, $0.slug, $0.category, $0.priority,
                $0.channels, $0.isCollapsible, $0.due
            )
        })
}

extension Field<Bool> {
    fileprivate static let collapsible = mapped(
        .optional(.flag("collapsible", "Whether a later one takes its place while it waits.")),
        write: { $0 }, read: { $0 ?? false })
}
