public import EventSourcing
public import Values

/// What happens to the ways in which a person signs in within a tenant's apps.
public enum TenantMethodEvent: FormedEvent {
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

    package enum Form {
        package static let keyEnrolled = EventForm(
            "app_method.key_enrolled", .services, .factorAdded(.deviceKey),
            "A device's key signs the person in within a tenant's apps.", .deviceKey, .account,
            .client, .optional(.uuid("mail", "Mail that tells the person of the key.")),
            make: TenantMethodEvent.keyEnrolled)
        package static let keyRemoved = EventForm(
            "app_method.key_removed", .services, .factorRemoved(.deviceKey),
            "A device's key was removed.", .keyName, .account, .client,
            make: TenantMethodEvent.keyRemoved)
        package static let pinSet = EventForm(
            "app_method.pin_set", .services, .secretSet(.pin),
            "The person set a PIN for a tenant's apps.",
            .optional(.text("hash", "Hash of the PIN.", .neverLeaves(.sealed))), .account, .client,
            .time("set_at", "Time at which the PIN was set."),
            .optional(.uuid("mail", "Mail that tells the person of the PIN.")),
            make: TenantMethodEvent.pinSet)
        package static let pinRefused = EventForm(
            "app_method.pin_refused", .audit, .secretRefused(.pin), "A wrong PIN was typed.",
            .account, .client, .refusedAt, make: TenantMethodEvent.pinRefused)
        package static let pinUsed = EventForm(
            "app_method.pin_used", .internal, .secretUsed(.pin),
            "The right PIN was typed after wrong ones.", .account, .client,
            make: TenantMethodEvent.pinUsed)
        package static let pinRemoved = EventForm(
            "app_method.pin_removed", .services, .secretRemoved(.pin),
            "The person's PIN was removed.", .account, .client, make: TenantMethodEvent.pinRemoved)
        package static let approvalAwaited = EventForm(
            "app_method.approval_awaited", .internal, .detail,
            "A request of another device waits for a trusted one.", .awaited, .account, .client,
            make: TenantMethodEvent.approvalAwaited)
    }

    public static let forms: EventForms<Self> = [
        Form.keyEnrolled, Form.keyRemoved, Form.pinSet, Form.pinRefused, Form.pinUsed,
        Form.pinRemoved, Form.approvalAwaited,
    ]

    public var subject: UUID? {
        switch self {
        case .keyEnrolled(_, let account, _, _), .keyRemoved(_, let account, _),
            .pinSet(_, let account, _, _, _), .pinRefused(let account, _, _),
            .pinUsed(let account, _), .pinRemoved(let account, _),
            .approvalAwaited(_, let account, _):
            account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .keyEnrolled(let key, let account, let client, let mail):
            Form.keyEnrolled(key, account, client, mail)
        case .keyRemoved(let key, let account, let client): Form.keyRemoved(key, account, client)
        case .pinSet(let hash, let account, let client, let at, let mail):
            Form.pinSet(hash, account, client, at, mail)
        case .pinRefused(let account, let client, let at): Form.pinRefused(account, client, at)
        case .pinUsed(let account, let client): Form.pinUsed(account, client)
        case .pinRemoved(let account, let client): Form.pinRemoved(account, client)
        case .approvalAwaited(let awaited, let account, let client):
            Form.approvalAwaited(awaited, account, client)
        }
    }
}

extension Field<UUID> {
    fileprivate static let keyName = uuid("key", "The key's own name.")
}

extension Field<AwaitedApproval> {
    fileprivate static let awaited = record(
        .uuid("approval", "Approval request."),
        .integer("number", "Number that apps know the request by.", .neverLeaves(.plain)),
        .expiresAt,
        .optional(
            .bytes(
                "network", "Pseudonym of the block of networks that asked.",
                .personal(.administrators))),
        make: { AwaitedApproval(approval: $0, number: $1, expiresAt: $2, network: $3) },
        take: { ($0.approval, $0.number, $0.expiresAt, $0.network) })
}

extension Field<DeviceKey> {
    fileprivate static let deviceKey = record(
        .keyName, .choice("method", "Method that the key is for."),
        .choice("algorithm", "Signature algorithm of the key."),
        .bytes("public_key", "Public key."),
        .optional(.text("device_type", "Type of device.", .personal(.person))),
        .optional(.text("device_name", "Name of the device in the app.", .personal(.person))),
        .time("enrolled_at", "Enrolment time."),
        .optional(.uuid("approved_by", "Key of the device that let it in.")),
        make: {
            DeviceKey(
                id: $0, method: $1, algorithm: $2, publicKey: $3, deviceType: $4, deviceName: $5,
                enrolledAt: $6, approvedBy: $7)
        },
        take: {
            (
                $0.id, $0.method, $0.algorithm, $0.publicKey, $0.deviceType, $0.deviceName,
                $0.enrolledAt, $0.approvedBy
            )
        })
}
