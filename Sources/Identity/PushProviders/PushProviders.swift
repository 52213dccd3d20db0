public import EventSourcing
public import JSON
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
    /// PKCS #8, in base64url. Nil where it cannot be opened any more.
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
    /// PKCS #8, in base64url. Nil where it cannot be opened any more.
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

public enum PushProviderEvent: Event {
    case set(PushProvider)
    case removed(PushProvider.Kind)

    private static let provider: EventField =
        .choice("provider", PushProvider.Kind.self, "Which push provider it is.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "push_provider.set", .audit, "A push provider of the realm was set.",
            [
                provider, .text("address", "Address of its API."),
                .text("key_id", "Identifier of the private key."),
                .text(
                    "private_key", "Private key of the realm at the provider.",
                    .neverLeaves(.sealed)
                ).optional,
                .text("project", "Project at Firebase.").optional,
                .text("client_email", "Name of the service account at Firebase.").optional,
                .text("token_uri", "Where access tokens of Firebase come from.").optional,
                .text("team_id", "Team at Apple.").optional,
                .text("topic", "Bundle identifier of the app at Apple.").optional,
            ]),
        EventShape("push_provider.removed", .audit, "The push provider was removed.", [provider]),
    ]

    public var name: String {
        switch self {
        case .set: "push_provider.set"
        case .removed: "push_provider.removed"
        }
    }

    public var subject: UUID? { nil }

    /// Not personal data, but sealed like it: such keys are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? {
        switch self {
        case .set: stream
        case .removed: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .set(.firebase(let provider)):
            var fields: JSONObject = [
                "provider": .string(PushProvider.Kind.firebase.rawValue),
                "project": .string(provider.project), "client_email": .string(provider.email),
                "key_id": .string(provider.keyID), "token_uri": .string(provider.tokenAddress),
                "address": .string(provider.address),
            ]
            fields["private_key"] = provider.privateKey.map { .string($0) }
            return fields
        case .set(.apple(let provider)):
            var fields: JSONObject = [
                "provider": .string(PushProvider.Kind.apple.rawValue),
                "team_id": .string(provider.team), "key_id": .string(provider.keyID),
                "topic": .string(provider.topic), "address": .string(provider.address),
            ]
            fields["private_key"] = provider.privateKey.map { .string($0) }
            return fields
        case .removed(let kind): return ["provider": .string(kind.rawValue)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let kind: PushProvider.Kind = fields.choice("provider") else { return nil }
        switch (name, kind) {
        case ("push_provider.set", .firebase):
            guard let project = fields["project"]?.string,
                let email = fields["client_email"]?.string, let keyID = fields["key_id"]?.string,
                let token = fields["token_uri"]?.string, let address = fields["address"]?.string
            else { return nil }
            self = .set(
                .firebase(
                    FirebaseProvider(
                        project: project, email: email, keyID: keyID,
                        privateKey: fields["private_key"]?.string, tokenAddress: token,
                        address: address)))
        case ("push_provider.set", .apple):
            guard let team = fields["team_id"]?.string, let keyID = fields["key_id"]?.string,
                let topic = fields["topic"]?.string, let address = fields["address"]?.string
            else { return nil }
            self = .set(
                .apple(
                    AppleProvider(
                        team: team, keyID: keyID, privateKey: fields["private_key"]?.string,
                        topic: topic, address: address)))
        case ("push_provider.removed", _): self = .removed(kind)
        default: return nil
        }
    }
}
