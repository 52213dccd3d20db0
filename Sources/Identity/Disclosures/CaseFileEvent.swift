public import EventSourcing
public import JSON
public import Values

/// A case file that was handed out: which account, session, client, network or device its events are about, and how many
/// there are.
public struct IssuedCaseFile: Sendable, Equatable {
    public enum About: String, CaseIterable, Sendable {
        case account, session, browser, client, source, device
    }

    public var about: About
    /// An id, or the pseudonym of a network, or a kind of device.
    public var id: String
    /// How many events are in it.
    public var positions: Int64
    /// How many of them are opened.
    public var opened: Int64
    /// The hash of all its lines.
    public var digest: String
    public var reason: String

    public init(
        about: About, id: String, positions: Int64, opened: Int64, digest: String, reason: String
    ) {
        self.about = about
        self.id = id
        self.positions = positions
        self.opened = opened
        self.digest = digest
        self.reason = reason
    }
}

/// That a case file is handed out. The event's actor is the one it is issued to; the stream has the file's id.
public enum CaseFileEvent: Event {
    case issued(IssuedCaseFile)

    public static let catalogue: [EventShape] = [
        EventShape(
            "case_file.issued", .audit,
            "Events and what proves them were handed out to the actor.",
            [
                .choice("about", IssuedCaseFile.About.self, "What it is about."),
                .text("id", "Its id, pseudonym or kind."),
                .uuid("account", "Account that it is about.").optional,
                .uuid("client", "Client that it is about.").optional,
                .integer("positions", "How many events are in it."),
                .integer("opened", "How many of them are opened."),
                .text("file_digest", "Hash of all lines of the file."),
                .text("reason", "What the actor said it was for."),
            ])
    ]

    public var name: String { "case_file.issued" }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .issued(let file):
            var fields: JSONObject = [
                "about": .string(file.about.rawValue), "id": .string(file.id),
                "positions": .integer(file.positions), "opened": .integer(file.opened),
                "file_digest": .string(file.digest), "reason": .string(file.reason),
            ]
            // So that it is found by whom it is about.
            switch file.about {
            case .account: fields["account"] = .string(file.id)
            case .client: fields["client"] = .string(file.id)
            case .session, .browser, .source, .device: break
            }
            return fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "case_file.issued", let about: IssuedCaseFile.About = fields.choice("about"),
            let id = fields["id"]?.string, let positions = fields["positions"]?.integer,
            let opened = fields["opened"]?.integer, let digest = fields["file_digest"]?.string,
            let reason = fields["reason"]?.string
        else { return nil }
        self = .issued(
            IssuedCaseFile(
                about: about, id: id, positions: positions, opened: opened, digest: digest,
                reason: reason))
    }
}

/// Of a case file: what was issued under its id.
public struct CaseFile: StreamState {
    public private(set) var issued: IssuedCaseFile?

    public init() {}

    public mutating func apply(_ event: CaseFileEvent) {
        switch event {
        case .issued(let file): issued = file
        }
    }
}
