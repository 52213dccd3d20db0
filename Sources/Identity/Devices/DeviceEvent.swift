public import EventSourcing
public import Values

/// What happens to a device that asks for tokens.
public enum DeviceEvent: FormedEvent {
    case requested(DeviceTerms)
    case approved(DeviceApproval)
    case denied(account: UUID)
    /// It got its tokens.
    case redeemed

    package enum Form {
        package static let requested = EventForm(
            "device.requested", .audit, .step(.awaited), "A device asked for tokens (RFC 8628).",
            .terms, make: DeviceEvent.requested)
        package static let approved = EventForm(
            "device.approved", .audit, .step(.passed), "A person let the device in.", .approval,
            make: DeviceEvent.approved)
        package static let denied = EventForm(
            "device.denied", .audit, .step(.refused), "A person kept the device out.", .account,
            make: DeviceEvent.denied)
        package static let redeemed = EventForm(
            "device.redeemed", .internal, .detail, "The device got its tokens.",
            make: { DeviceEvent.redeemed })
    }

    public static let forms: EventForms<Self> = [
        Form.requested, Form.approved, Form.denied, Form.redeemed,
    ]

    public var subject: UUID? {
        switch self {
        case .approved(let approval): approval.account
        case .denied(let account): account
        case .requested, .redeemed: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .requested(let terms): Form.requested(terms)
        case .approved(let approval): Form.approved(approval)
        case .denied(let account): Form.denied(account)
        case .redeemed: Form.redeemed()
        }
    }
}

extension Field<DeviceTerms> {
    fileprivate static let terms = record(
        .client, .clientID, .optional(.app), .scope, .resources, .expiresAt,
        make: {
            DeviceTerms(
                client: $0, clientID: $1, app: $2, scope: $3, resources: $4, expiresAt: $5)
        }, take: { ($0.client, $0.clientID, $0.app, $0.scope, $0.resources, $0.expiresAt) })
}

extension Field<DeviceApproval> {
    fileprivate static let approval = record(
        .account, .stamp, .factors, .optional(.time("auth_time", "When the person signed in.")),
        .time("approved_at", "When the person approved."), .approver,
        make: {
            var approval = DeviceApproval(
                account: $0, stamp: $1, factors: $2, signedInAt: $3, at: $4)
            approval.place = $5
            return approval
        }, take: { ($0.account, $0.stamp, $0.factors, $0.signedInAt, $0.at, $0.place) })
}

extension Field<ApprovalPlace?> {
    fileprivate static let approver = record(
        .optional(.uuid("approver_browser", "Browser session that the person approved in.")),
        .optional(
            .uuid("approver_session", "Session of the app that the person approved in.")),
        make: { $0.map { .browser($0) } ?? $1.map { .session($0) } },
        take: {
            switch $0 {
            case .browser(let browser): (browser, nil)
            case .session(let session): (nil, session)
            case nil: (nil, nil)
            }
        })
}
