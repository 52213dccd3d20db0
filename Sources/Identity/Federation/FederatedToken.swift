internal import EventSourcing
public import JSON
public import Values

/// What holds a token of the federation profile.
public enum FederatedHolder: String, CaseIterable, Sendable {
    /// An installation of the app, which showed the key of its version: the top of the tree.
    case device
    /// A person who signed in on a device.
    case person
    /// The app, at a service that it showed an assertion to.
    case service
    /// Another app on the device, at such a service.
    case application
}

/// Where a session of the federation profile stands in the tree of its device.
///
/// A session is alive while all of its superiors are: the end of one of them ends all below it by that one
/// event, and no refresh can bring it back.
public struct FederatedToken: Sendable, Equatable {
    public var holder: FederatedHolder
    /// The `kid` of its key, which the session is found by.
    public var keyID: String
    /// The stream of the device. Nil below an issuer of its own, whose assertion names none.
    public var device: UUID?
    /// The sessions above it, the device's first.
    public var superiors: [UUID]
    /// Of a third party's app: what it calls itself.
    public var application: String?
    /// Of a person's app that signs assertions itself: its public key, as a JWK (RFC 7800).
    public var confirmation: JSON?

    public init(
        holder: FederatedHolder, keyID: String, device: UUID?, superiors: [UUID] = [],
        application: String? = nil, confirmation: JSON? = nil
    ) {
        self.holder = holder
        self.keyID = keyID
        self.device = device
        self.superiors = superiors
        self.application = application
        self.confirmation = confirmation
    }
}

extension Field<FederatedToken> {
    static let federation = record(
        .choice("holder", "What holds the token, in the federation profile."),
        .text("kid", "Identifier of the token's key."),
        .optional(.uuid("federated_device", "Device that the token is on.")),
        .uuids("superiors", "Sessions that it ends with, the device's first."),
        .optional(.text("application", "What a third party's app calls itself.")),
        .optional(
            .json("confirmation", "Public key of the app that signs assertions, as a JWK.")),
        make: {
            FederatedToken(
                holder: $0, keyID: $1, device: $2, superiors: $3, application: $4,
                confirmation: $5)
        },
        take: {
            ($0.holder, $0.keyID, $0.device, $0.superiors, $0.application, $0.confirmation)
        })
}

extension SessionTerms.Members {
    /// A device's token has no end of its own: the person, or the version's rejection, ends it.
    mutating func join(_ token: FederatedToken, openedAt: Timestamp) {
        federation = token
        guard token.holder == .device else { return }
        isOffline = false
        expiresAt = openedAt.adding(seconds: Self.deviceLifetime)
    }

    /// In seconds: a hundred years.
    private static let deviceLifetime: Int64 = 36_525 * 86_400
}
