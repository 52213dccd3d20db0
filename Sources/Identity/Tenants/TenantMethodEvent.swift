public import EventSourcing
public import JSON
public import Values

/// What happens to the ways in which a person signs in within a tenant's apps.
public enum TenantMethodEvent: Event {
    /// The mail tells the person of it, as the one of a PIN does. Nil: there is no address for mails.
    case keyEnrolled(DeviceKey, account: UUID, client: UUID, mail: UUID?)
    case keyRemoved(UUID, account: UUID, client: UUID)
    /// The hash is nil where the person is erased.
    case pinSet(hash: String?, account: UUID, client: UUID, at: Timestamp, mail: UUID?)
    case pinRefused(account: UUID, client: UUID, at: Timestamp)
    /// It was right, after guesses that were not.
    case pinUsed(account: UUID, client: UUID)
    case pinRemoved(account: UUID, client: UUID)
    case approvalAwaited(AwaitedApproval, account: UUID, client: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "app_method.key_enrolled", .services,
            "A device's key signs the person in within a tenant's apps.",
            [
                .account, .client, .uuid("key", "The key's own name."),
                .choice("method", TenantMethod.self, "What the app uses the key for."),
                .choice("algorithm", DeviceKeyAlgorithm.self, "What it signs with."),
                .bytes("public_key", "Public key."),
                .text("device_type", "What kind of device it is.", .personal(.person)).optional,
                .text("device_name", "What the app calls the device.", .personal(.person))
                    .optional,
                .time("enrolled_at", "When it was enrolled."),
                .uuid("approved_by", "Key of the device that let it in.").optional,
                .uuid("mail", "Mail that tells the person of the key.").optional,
            ]),
        EventShape(
            "app_method.key_removed", .services, "A device's key signs nobody in any more.",
            [.account, .client, .uuid("key", "The key's own name.")]),
        EventShape(
            "app_method.pin_set", .services, "The person set a PIN for a tenant's apps.",
            [
                .account, .client, .time("set_at", "When it was set."),
                .text("hash", "Hash of the PIN.", .neverLeaves(.sealed)).optional,
                .uuid("mail", "Mail that tells the person of the PIN.").optional,
            ]),
        EventShape(
            "app_method.pin_refused", .audit, "A wrong PIN was typed.",
            [.account, .client, .refusedAt]),
        EventShape(
            "app_method.pin_used", .internal, "The right PIN was typed after wrong ones.",
            [.account, .client]),
        EventShape(
            "app_method.pin_removed", .services, "The person's PIN was removed.",
            [.account, .client]),
        EventShape(
            "app_method.approval_awaited", .internal,
            "A request of another device waits for a trusted one.",
            [
                .account, .client, .uuid("approval", "The request."),
                EventField(
                    "number", .integer, "Number that apps know the request by.",
                    .neverLeaves(.plain)),
                .expiresAt,
            ]),
    ]

    public var name: String {
        switch self {
        case .keyEnrolled: "app_method.key_enrolled"
        case .keyRemoved: "app_method.key_removed"
        case .pinSet: "app_method.pin_set"
        case .pinRefused: "app_method.pin_refused"
        case .pinUsed: "app_method.pin_used"
        case .pinRemoved: "app_method.pin_removed"
        case .approvalAwaited: "app_method.approval_awaited"
        }
    }

    public var subject: UUID? { owner.account }

    private var owner: (account: UUID, client: UUID) {
        switch self {
        case .keyEnrolled(_, let account, let client, _), .keyRemoved(_, let account, let client),
            .pinSet(_, let account, let client, _, _), .pinRefused(let account, let client, _),
            .pinUsed(let account, let client), .pinRemoved(let account, let client),
            .approvalAwaited(_, let account, let client):
            (account, client)
        }
    }

    public var fields: JSONObject {
        let owner = owner
        var fields: JSONObject = [
            "account": .uuid(owner.account), "client": .uuid(owner.client),
        ]
        switch self {
        case .keyEnrolled(let key, _, _, let mail):
            fields.merge(key.fields) { _, own in own }
            fields["mail"] = mail.map { .uuid($0) }
        case .keyRemoved(let key, _, _): fields["key"] = .uuid(key)
        case .pinSet(let hash, _, _, let at, let mail):
            fields["hash"] = hash.map { .string($0) }
            fields["mail"] = mail.map { .uuid($0) }
            fields["set_at"] = .integer(at.seconds)
        case .pinRefused(_, _, let at): fields["refused_at"] = .integer(at.seconds)
        case .pinUsed, .pinRemoved: break
        case .approvalAwaited(let awaited, _, _):
            fields["approval"] = .uuid(awaited.approval)
            fields["number"] = .integer(awaited.number)
            fields["expires_at"] = .integer(awaited.expiresAt.seconds)
        }
        return fields
    }

    public init?(name: String, fields: JSONObject) {
        guard let account = fields.uuid("account"), let client = fields.uuid("client") else {
            return nil
        }
        switch name {
        case "app_method.key_enrolled":
            guard let key = DeviceKey(recorded: fields) else { return nil }
            self = .keyEnrolled(
                key, account: account, client: client, mail: fields.uuid("mail"))
        case "app_method.key_removed":
            guard let key = fields.uuid("key") else { return nil }
            self = .keyRemoved(key, account: account, client: client)
        case "app_method.pin_set":
            guard let at = fields.instant("set_at") else { return nil }
            self = .pinSet(
                hash: fields["hash"]?.string, account: account, client: client, at: at,
                mail: fields.uuid("mail"))
        case "app_method.pin_refused":
            guard let at = fields.instant("refused_at") else { return nil }
            self = .pinRefused(account: account, client: client, at: at)
        case "app_method.pin_used": self = .pinUsed(account: account, client: client)
        case "app_method.pin_removed": self = .pinRemoved(account: account, client: client)
        case "app_method.approval_awaited":
            guard let approval = fields.uuid("approval"), let number = fields["number"]?.integer,
                let expiresAt = fields.instant("expires_at")
            else { return nil }
            self = .approvalAwaited(
                AwaitedApproval(approval: approval, number: number, expiresAt: expiresAt),
                account: account, client: client)
        default: return nil
        }
    }
}

extension DeviceKey {
    fileprivate var fields: JSONObject {
        var fields: JSONObject = [
            "key": .uuid(id), "method": .string(method.rawValue),
            "algorithm": .string(algorithm.rawValue),
            "public_key": .string(Base64URL.encode(publicKey)),
            "enrolled_at": .integer(enrolledAt.seconds),
        ]
        fields["device_type"] = deviceType.map { .string($0) }
        fields["device_name"] = deviceName.map { .string($0) }
        fields["approved_by"] = approvedBy.map { .uuid($0) }
        return fields
    }

    fileprivate init?(recorded fields: JSONObject) {
        guard let id = fields.uuid("key"),
            let method = fields["method"]?.string.flatMap(TenantMethod.init),
            let algorithm = fields["algorithm"]?.string.flatMap(DeviceKeyAlgorithm.init),
            let publicKey = fields["public_key"]?.string.flatMap({ Base64URL.decode($0) }),
            let enrolledAt = fields.instant("enrolled_at")
        else { return nil }
        self.init(
            id: id, method: method, algorithm: algorithm, publicKey: publicKey,
            deviceType: fields["device_type"]?.string, deviceName: fields["device_name"]?.string,
            enrolledAt: enrolledAt, approvedBy: fields.uuid("approved_by"))
    }
}
