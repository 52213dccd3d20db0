public import JSON
public import Values

/// An event on its way into the log: open and personal fields apart.
public struct NewEvent: Sendable, Equatable {
    public let stream: UUID
    public let name: String
    public let revision: Int
    public let subject: UUID?
    public let open: JSONObject
    public let personal: JSONObject
    /// What is sealed of the request, beside its origin.
    public let request: JSONObject
    public let tellsOrigin: Bool
    /// What the fields say, where it is at hand: a state that moves with it need not read them.
    let event: (any Event)?

    public init(
        stream: UUID, name: String, revision: Int, subject: UUID? = nil, open: JSONObject,
        personal: JSONObject = [:], tellsOrigin: Bool = true
    ) {
        self.init(
            stream: stream, name: name, revision: revision, subject: subject, open: open,
            personal: personal, request: [:], tellsOrigin: tellsOrigin, event: nil)
    }

    private init(
        stream: UUID, name: String, revision: Int, subject: UUID?, open: JSONObject,
        personal: JSONObject, request: JSONObject, tellsOrigin: Bool, event: (any Event)?
    ) {
        self.event = event
        self.request = request
        self.tellsOrigin = tellsOrigin
        self.stream = stream
        self.name = name
        self.revision = revision
        self.subject = subject
        self.open = open
        self.personal = personal
    }

    /// Splits an event's fields by its newest shape. Whose they are says the decision, where the event
    /// itself cannot know it.
    public init(_ event: some Event, in stream: UUID, of subject: UUID? = nil) {
        let written = event.written
        let (open, personal, request) = written.shape.split(written.fields)
        let subject = subject ?? event.subject(in: stream)
        precondition(personal.isEmpty || subject != nil, "Personal fields need a subject.")
        self.init(
            stream: stream, name: written.shape.name, revision: written.shape.revision,
            subject: subject,
            open: open, personal: personal, request: request, tellsOrigin: event.tellsOrigin,
            event: event)
    }

    public static func == (left: NewEvent, right: NewEvent) -> Bool {
        left.stream == right.stream && left.name == right.name && left.revision == right.revision
            && left.subject == right.subject && left.open == right.open
            && left.personal == right.personal && left.request == right.request
            && left.tellsOrigin == right.tellsOrigin
    }

    /// What an event holds of the request: its origin, and what the event itself says of it. In a command
    /// about a person only the events with that subject hold it, so that it is gone when they are erased;
    /// events without a subject are kept for good.
    public func origin(_ origin: JSONObject, besideSomebodys: Bool) -> JSONObject {
        guard tellsOrigin, subject != nil || !besideSomebodys else { return [:] }
        return request.isEmpty ? origin : origin.merging(request) { origin, _ in origin }
    }
}

extension Commit {
    /// Whether any of its events is about a person.
    public var isSomebodys: Bool { events.contains { $0.subject != nil } }
}

extension Event {
    static func newestShape(_ name: String) -> EventShape? {
        let shapes = catalogue
        var newest: Int?
        for index in shapes.indices where shapes[index].name == name {
            if let newest, shapes[newest].revision > shapes[index].revision { continue }
            newest = index
        }
        return newest.map { shapes[$0] }
    }

    /// Reads what the log holds, bringing old revisions up to date on the way.
    public init?(_ recorded: Recorded) {
        var fields = recorded.open
        if case .opened(let personal) = recorded.personal {
            fields.merge(personal) { open, _ in open }
        }
        let upcasts = Self.catalogue.filter {
            $0.upcast != nil && $0.name == recorded.name && $0.revision >= recorded.revision
        }.sorted { $0.revision < $1.revision }
        for shape in upcasts {
            if let upcast = shape.upcast { fields = upcast(fields) }
        }
        self.init(name: recorded.name, fields: fields)
    }
}
