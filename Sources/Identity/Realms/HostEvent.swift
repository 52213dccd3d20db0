public import EventSourcing

/// What happens to one host in the directory of hosts, which the system realm keeps.
public enum HostEvent: FormedEvent {
    case assigned(host: String, realm: RealmID)
    case released

    package enum Form {
        package static let assigned = EventForm(
            "host.assigned", .audit, .administration(.updated),
            "A host serves a realm from now on.", .text("host", "Name of the host."), .servedRealm,
            make: HostEvent.assigned)
        package static let released = EventForm(
            "host.released", .audit, .administration(.removed),
            "The host serves no realm any more.",
            make: { HostEvent.released })
    }

    public static let forms: EventForms<Self> = [Form.assigned, Form.released]

    public var written: WrittenEvent {
        switch self {
        case .assigned(let host, let realm): Form.assigned(host, realm)
        case .released: Form.released()
        }
    }
}

extension Field<RealmID> {
    fileprivate static let servedRealm = mapped(
        .text("realm", "Realm that it serves."), write: \.name, read: { RealmID($0) })
}
