public import EventSourcing
public import JSON
public import Values

/// What happens to a device that asks for tokens.
public enum DeviceEvent: Event {
    case requested(DeviceTerms)
    case approved(DeviceApproval)
    case denied(account: UUID)
    /// It got its tokens.
    case redeemed

    public static let catalogue: [EventShape] = [
        EventShape(
            "device.requested", .audit, "A device asked for tokens (RFC 8628).",
            [.client, .clientID, .app, .scope, .resources, .expiresAt]),
        EventShape(
            "device.approved", .audit, "A person let the device in.",
            [
                .account, .stamp, .moves, .removals, .factors,
                .time("auth_time", "When the person signed in.").optional,
                .time("approved_at", "When the person approved."),
                .uuid("approver_browser", "Browser session that the person approved in.").optional,
                .uuid("approver_session", "Session of the app that the person approved in.")
                    .optional,
            ]),
        EventShape("device.denied", .audit, "A person kept the device out.", [.account]),
        EventShape("device.redeemed", .internal, "The device got its tokens."),
    ]

    public var name: String {
        switch self {
        case .requested: "device.requested"
        case .approved: "device.approved"
        case .denied: "device.denied"
        case .redeemed: "device.redeemed"
        }
    }

    public var subject: UUID? {
        switch self {
        case .approved(let approval): approval.account
        case .denied(let account): account
        case .requested, .redeemed: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .requested(let terms):
            var fields: JSONObject = [
                "client": .uuid(terms.client), "client_id": .string(terms.clientID),
                "scope": .texts(terms.scope), "resources": .texts(terms.resources),
                "expires_at": .integer(terms.expiresAt.seconds),
            ]
            fields["app"] = terms.app.map { .uuid($0) }
            return fields
        case .approved(let approval):
            var fields: JSONObject = [
                "account": .uuid(approval.account),
                "amr": .texts(approval.factors.map(\.rawValue)),
                "approved_at": .integer(approval.at.seconds),
            ]
            fields.setStamp(approval.stamp)
            switch approval.place {
            case .browser(let browser): fields["approver_browser"] = .uuid(browser)
            case .session(let session): fields["approver_session"] = .uuid(session)
            case nil: break
            }
            fields["auth_time"] = approval.signedInAt.map { .integer($0.seconds) }
            return fields
        case .denied(let account): return ["account": .uuid(account)]
        case .redeemed: return [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "device.requested":
            guard let client = fields.uuid("client"), let clientID = fields["client_id"]?.string,
                let scope = fields.texts("scope"), let resources = fields.texts("resources"),
                let expiresAt = fields.instant("expires_at")
            else { return nil }
            self = .requested(
                DeviceTerms(
                    client: client, clientID: clientID, app: fields.uuid("app"), scope: scope,
                    resources: resources, expiresAt: expiresAt))
        case "device.approved":
            guard let account = fields.uuid("account"), let stamp = fields.stamp,
                let factors = fields.texts("amr"), let at = fields.instant("approved_at")
            else { return nil }
            var approval = DeviceApproval(
                account: account, stamp: stamp,
                factors: factors.compactMap(AuthenticationFactor.init),
                signedInAt: fields.instant("auth_time"), at: at)
            approval.place =
                fields.uuid("approver_browser").map { ApprovalPlace.browser($0) }
                ?? fields.uuid("approver_session").map { ApprovalPlace.session($0) }
            self = .approved(approval)
        case "device.denied":
            guard let account = fields.uuid("account") else { return nil }
            self = .denied(account: account)
        case "device.redeemed": self = .redeemed
        default: return nil
        }
    }
}
