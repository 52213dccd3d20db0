public import EventSourcing

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
    /// Number of events whose personal fields are opened.
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
public enum CaseFileEvent: FormedEvent {
    case issued(IssuedCaseFile)

    package enum Form {
        package static let issued = EventForm(
            "case_file.issued", .audit, .caseFileIssued,
            "Events and what proves them were handed out to the actor.", .caseFile,
            make: CaseFileEvent.issued)
    }

    public static let forms: EventForms<Self> = [Form.issued]

    public var written: WrittenEvent {
        switch self {
        case .issued(let file): Form.issued(file)
        }
    }
}

extension Field<IssuedCaseFile> {
    fileprivate static let caseFile = record(
        .choice("about", "Kind of subject of the case file."),
        .text("id", "Id, pseudonym or kind of the subject."),
        // So that it is found by whom it is about.
        .optional(.text("account", .uuid, "Account that it is about.")),
        .optional(.text("client", .uuid, "Client that it is about.")),
        .integer("positions", "Number of events in the case file."),
        .integer("opened", "Number of events whose personal fields are opened."),
        .text("file_digest", "Hash of all lines of the file."),
        .text("reason", "Reason that the actor gave."),
        make: {
            IssuedCaseFile(
                about: $0, id: $1, positions: $4, opened: $5, digest: $6, reason: $7)
        },
        take: {
            (
                $0.about, $0.id, $0.about == .account ? $0.id : nil,
                $0.about == .client ? $0.id : nil, $0.positions, $0.opened, $0.digest, $0.reason
            )
        })
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
