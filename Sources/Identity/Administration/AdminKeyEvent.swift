public import EventSourcing

/// Which realms a key opens.
public enum AdminScope: Equatable, Sendable {
    case all
    case only([RealmID])

    public func allows(_ realm: RealmID) -> Bool {
        switch self {
        case .all: true
        case .only(let realms): realms.contains(realm)
        }
    }
}

/// What happens to a key of the admin API.
public enum AdminKeyEvent: FormedEvent {
    case created(
        name: String, digest: SecretDigest, scope: AdminScope, permissions: AdminPermissions = .all)
    case revoked

    package enum Form {
        package static let created = EventForm(
            "admin_key.created", .audit, .object(.created), "An admin key was created.",
            .text("name", "Name of the key, for administrators."),
            .digest("digest", "Digest of the key's secret."), .realms, .permissions,
            make: AdminKeyEvent.created)
        package static let revoked = EventForm(
            "admin_key.revoked", .audit, .object(.removed), "The admin key was revoked.",
            make: { AdminKeyEvent.revoked })
    }

    public static let forms: EventForms<Self> = [Form.created, Form.revoked]

    public var written: WrittenEvent {
        switch self {
        case .created(let name, let digest, let scope, let permissions):
            Form.created(name, digest, scope, permissions)
        case .revoked: Form.revoked()
        }
    }
}

// What is there and cannot be read must never turn a narrow key into a wide one.
extension Field<AdminScope> {
    fileprivate static let realms = whereThere(
        .list(
            "realms", .text, "Realms that the key opens; all realms if it is missing.",
            write: \.name, read: { RealmID($0) }),
        write: { if case .only(let realms) = $0 { realms } else { nil } },
        read: { realms in realms.map { .only($0) } ?? .all })
}

extension Field<AdminPermissions> {
    fileprivate static let permissions = whereThere(
        .texts(
            "permissions", .choice(AdminPermission.allCases.map(\.rawValue)),
            "What the key may do in its realms; everything if it is missing."),
        write: \.names,
        read: { names in names.map { AdminPermissions(names: $0) } ?? .all })
}
