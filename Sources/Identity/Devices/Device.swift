public import EventSourcing
public import Values

/// A device that waits for a person to approve, elsewhere, that it may act for them (RFC 8628). Its
/// stream follows from the code that the person types, under the realm's key.
public struct Device: StreamState {
    /// Nil before the device requested a code.
    public private(set) var terms: DeviceTerms?
    public private(set) var approval: DeviceApproval?
    public private(set) var isDenied = false
    public private(set) var isRedeemed = false

    public init() {}

    public mutating func apply(_ event: DeviceEvent) {
        switch event {
        case .requested(let terms): self.terms = terms
        case .approved(let approval): self.approval = approval
        case .denied: isDenied = true
        case .redeemed: isRedeemed = true
        }
    }

    /// The terms, while the request can still be approved or denied.
    public func openTerms(at now: Timestamp) -> DeviceTerms? {
        guard let terms, approval == nil, !isDenied, now < terms.expiresAt else { return nil }
        return terms
    }
}

/// What a device asked for.
public struct DeviceTerms: Sendable, Equatable {
    public var client: UUID
    public var clientID: String
    public var app: UUID?
    public var scope: [String]
    public var resources: [String]
    public var expiresAt: Timestamp

    public init(
        client: UUID, clientID: String, app: UUID?, scope: [String], resources: [String],
        expiresAt: Timestamp
    ) {
        self.client = client
        self.clientID = clientID
        self.app = app
        self.scope = scope
        self.resources = resources
        self.expiresAt = expiresAt
    }
}

/// Who said that a device may act for them, and how they had signed in.
public struct DeviceApproval: Sendable, Equatable {
    public var account: UUID
    public var stamp: SecurityStamp
    public var factors: [AuthenticationFactor]
    /// When they had signed in; nil in approvals of before it was recorded.
    public var signedInAt: Timestamp?
    public var at: Timestamp
    /// Nil in approvals of before it was recorded.
    public var place: ApprovalPlace?

    public init(
        account: UUID, stamp: SecurityStamp, factors: [AuthenticationFactor],
        signedInAt: Timestamp? = nil,
        at: Timestamp
    ) {
        self.account = account
        self.stamp = stamp
        self.factors = factors
        self.signedInAt = signedInAt
        self.at = at
    }
}

/// Where a person approved a device: it gets its tokens while they are signed in there.
public enum ApprovalPlace: Sendable, Equatable {
    /// On a page, in this browser session.
    case browser(UUID)
    /// In an app, by a token of this session.
    case session(UUID)
}
