import EventSourcing
import Identity
import JSON
import LogTesting
import Values

/// A sample as the log gives it back.
func recorded(
    _ event: any Event, stream: UUID = client, version: Int = 1, actor: String = "system"
) -> Recorded {
    let new = NewEvent(event, in: stream)
    return Recorded(
        realm: RealmID("acme") ?? .system, position: 1, stream: stream, version: version,
        name: new.name, revision: new.revision, at: Timestamp(seconds: 1_800_000_500),
        command: .zero, subject: new.subject, actor: actor, client: nil, correlation: nil,
        leaf: .standIn(stream, version), open: new.open,
        personal: new.personal.isEmpty ? .none : .opened(new.personal))
}
