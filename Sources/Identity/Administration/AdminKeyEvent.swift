public import EventSourcing
public import JSON
public import Values

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
public enum AdminKeyEvent: Event {
    case created(
        name: String, digest: SecretDigest, scope: AdminScope, permissions: AdminPermissions = .all)
    case revoked

    public static let catalogue: [EventShape] = [
        EventShape(
            "admin_key.created", .audit, "An admin key was created.",
            [
                .text("name", "What the administrators call the key."),
                .bytes("digest", "Digest of the key's secret.", .neverLeaves(.plain)),
                .texts("realms", "Realms that the key opens; all realms if it is missing.")
                    .optional,
                .choices(
                    "permissions", AdminPermission.self,
                    "What the key may do in its realms; everything if it is missing."
                ).optional,
            ]),
        EventShape("admin_key.revoked", .audit, "The admin key was revoked."),
    ]

    public var name: String {
        switch self {
        case .created: "admin_key.created"
        case .revoked: "admin_key.revoked"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .created(let name, let digest, let scope, let permissions):
            var fields: JSONObject = [
                "name": .string(name), "digest": .string(digest.base64URL),
            ]
            if case .only(let realms) = scope {
                fields["realms"] = .array(realms.map { .string($0.name) })
            }
            if let names = permissions.names {
                fields["permissions"] = .array(names.map { .string($0) })
            }
            return fields
        case .revoked: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "admin_key.created":
            guard let keyName = fields["name"]?.string,
                let digest = fields["digest"]?.string.flatMap(SecretDigest.init(base64URL:))
            else { return nil }
            var scope = AdminScope.all
            if let listed = fields["realms"] {
                guard let names = listed.array else { return nil }
                let realms = names.compactMap { $0.string.flatMap(RealmID.init) }
                // A realm that cannot be read must never turn a narrow key into a wide one.
                guard realms.count == names.count else { return nil }
                scope = .only(realms)
            }
            var permissions = AdminPermissions.all
            if let listed = fields["permissions"] {
                let names = listed.array?.compactMap(\.string)
                guard let names, names.count == listed.array?.count,
                    let read = AdminPermissions(names: names)
                else { return nil }
                permissions = read
            }
            self = .created(name: keyName, digest: digest, scope: scope, permissions: permissions)
        case "admin_key.revoked": self = .revoked
        default: return nil
        }
    }
}
