public import EventSourcing
public import Values

/// Who brings a realm's notifications to devices, and by which keys they know it.
public struct PushProviders: StreamState {
    public private(set) var firebase: FirebaseProvider?
    public private(set) var apple: AppleProvider?

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0010)

    public init() {}

    public mutating func apply(_ event: PushProviderEvent) {
        switch event {
        case .set(.firebase(let provider)): firebase = provider
        case .set(.apple(let provider)): apple = provider
        case .removed(.firebase): firebase = nil
        case .removed(.apple): apple = nil
        }
    }
}

/// Firebase Cloud Messaging, HTTP v1, or what speaks like it.
public struct FirebaseProvider: Sendable, Equatable {
    public static let usualAddress = "https://fcm.googleapis.com"
    public static let usualTokenAddress = "https://oauth2.googleapis.com/token"

    public var project: String
    /// Of the service account.
    public var email: String
    public var keyID: String
    /// PKCS #8, in base64url. Nil where the key cannot be decrypted any more.
    public var privateKey: String?
    public var tokenAddress: String
    public var address: String

    public init(
        project: String, email: String, keyID: String, privateKey: String?,
        tokenAddress: String = usualTokenAddress, address: String = usualAddress
    ) {
        self.project = project
        self.email = email
        self.keyID = keyID
        self.privateKey = privateKey
        self.tokenAddress = tokenAddress
        self.address = address
    }
}

/// The Apple Push Notification service, or what speaks like it.
public struct AppleProvider: Sendable, Equatable {
    public static let usualAddress = "https://api.push.apple.com"

    public var team: String
    public var keyID: String
    /// PKCS #8, in base64url. Nil where the key cannot be decrypted any more.
    public var privateKey: String?
    /// The app's bundle id.
    public var topic: String
    public var address: String

    public init(
        team: String, keyID: String, privateKey: String?, topic: String,
        address: String = usualAddress
    ) {
        self.team = team
        self.keyID = keyID
        self.privateKey = privateKey
        self.topic = topic
        self.address = address
    }
}

public enum PushProvider: Sendable, Equatable {
    public enum Kind: String, CaseIterable, Sendable {
        case firebase = "fcm"
        case apple = "apns"
    }

    case firebase(FirebaseProvider)
    case apple(AppleProvider)
}

public enum PushProviderEvent: FormedEvent {
    case set(PushProvider)
    case removed(PushProvider.Kind)

    package enum Form {
        package static let set = EventForm(
            "push_provider.set", .audit, .administration(.updated),
            "A push provider of the realm was set.", .provider, make: PushProviderEvent.set)
        package static let removed = EventForm(
            "push_provider.removed", .audit, .administration(.removed),
            "The push provider was removed.", .kind, make: PushProviderEvent.removed)
    }

    public static let forms: EventForms<Self> = [Form.set, Form.removed]

    /// Not personal data, but sealed like it: such keys are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? {
        switch self {
        case .set: stream
        case .removed: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .set(let provider): Form.set(provider)
        case .removed(let kind): Form.removed(kind)
        }
    }
}

extension Field<PushProvider.Kind> {
    fileprivate static let kind = choice("provider", "Which push provider it is.")
}

extension Field<PushProvider> {
    fileprivate static let provider = mapped(
        .kind, .text("address", "Address of its API."),
        .text("key_id", "Identifier of the private key."),
        .optional(
            .text(
                "private_key", "Private key of the realm at the provider.", .neverLeaves(.sealed))),
        .optional(.text("project", "Project at Firebase.")),
        .optional(.text("client_email", "Name of the service account at Firebase.")),
        .optional(.text("token_uri", "Where access tokens of Firebase come from.")),
        .optional(.text("team_id", "Team at Apple.")),
        .optional(.text("topic", "Bundle identifier of the app at Apple.")),
        write: { provider in
            switch provider {
            case .firebase(let it):
                (
                    .firebase, it.address, it.keyID, it.privateKey, it.project, it.email,
                    it.tokenAddress, nil, nil
                )
            case .apple(let it):
                (.apple, it.address, it.keyID, it.privateKey, nil, nil, nil, it.team, it.topic)
            }
        },
        read: { kind, address, keyID, privateKey, project, email, tokenAddress, team, topic in
            switch kind {
            case .firebase:
                guard let project, let email, let tokenAddress else { return nil }
                return .firebase(
                    FirebaseProvider(
                        project: project, email: email, keyID: keyID, privateKey: privateKey,
                        tokenAddress: tokenAddress, address: address))
            case .apple:
                guard let team, let topic else { return nil }
                return .apple(
                    AppleProvider(
                        team: team, keyID: keyID, privateKey: privateKey, topic: topic,
                        address: address))
            }
        })
}
