public import EventSourcing
public import Values

/// The configuration files that a realm was brought in line with.
///
/// What each of them changed stands in the streams of the things themselves, in the same commit. To apply a file is to read
/// this stream, so that of two files at once one finds out about the other.
public struct AppliedConfiguration: StreamState {
    /// SHA-256 of the last file, in hexadecimal digits. Empty where none was applied yet.
    public private(set) var file = ""
    /// The administrator who applied it, as an actor is named.
    public private(set) var administrator = ""

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0013)

    public init() {}

    public mutating func apply(_ event: ConfigurationEvent) {
        switch event {
        case .applied(let file, let administrator, _):
            (self.file, self.administrator) = (file, administrator)
        }
    }

    /// The actor of all that a file changes.
    public static func actor(ofFile digest: String) -> String { "\(actorPrefix)\(digest)" }

    public static let actorPrefix = "apply:"
}

public enum ConfigurationEvent: FormedEvent {
    case applied(file: String, by: String, changes: Int)

    package enum Form {
        package static let applied = EventForm(
            "configuration.applied", .audit, .administration(.updated),
            "The realm was brought in line with a configuration file.",
            .text("file", "SHA-256 of the file, in hexadecimal digits."),
            .text("administrator", "Administrator who applied the file."),
            .number("changes", "Number of things that were changed."),
            make: ConfigurationEvent.applied)
    }

    public static let forms: EventForms<Self> = [Form.applied]

    public var written: WrittenEvent {
        switch self {
        case .applied(let file, let administrator, let changes):
            Form.applied(file, administrator, changes)
        }
    }
}

/// The changes of what was applied.
package enum AppliedConfigurationChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<AppliedConfiguration>, Rejection>

    /// Puts on record which file the changes beside it come from, and who applied it.
    package static func record(
        file: String, by administrator: String, changes: Int
    ) -> Change<Never> {
        Change(of: AppliedConfiguration.stream) { _ in
            Decision(
                ConfigurationEvent.applied(file: file, by: administrator, changes: changes),
                in: AppliedConfiguration.stream)
        }
    }
}
