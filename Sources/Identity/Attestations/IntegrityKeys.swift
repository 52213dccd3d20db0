public import EventSourcing
public import JSON
public import Values

/// The keys by which a realm reads what Google says of its apps.
public struct IntegrityKeys: StreamState {
    /// Public, as a JWK set.
    public private(set) var verification: JSON = .null
    /// In base64url. Nil where it cannot be opened any more.
    public private(set) var decryption: [String] = []

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0004)

    public init() {}

    public mutating func apply(_ event: IntegrityKeysEvent) {
        switch event {
        case .set(let verification, let decryption):
            self.verification = verification
            self.decryption = decryption
        }
    }
}

public enum IntegrityKeysEvent: Event {
    case set(verification: JSON, decryption: [String])

    public static let catalogue: [EventShape] = [
        EventShape(
            "integrity_keys.set", .audit,
            "The keys that read Google's integrity verdicts were set.",
            [
                .object("jwks", "Public keys that verify the verdicts, as a JWK set."),
                EventField(
                    "decryption_keys", .list(.bytes), "Keys that decrypt the verdicts.",
                    .neverLeaves(.sealed)),
            ])
    ]

    public var name: String { "integrity_keys.set" }

    public var subject: UUID? { nil }

    /// Not personal data, but sealed like it: such keys are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: JSONObject {
        switch self {
        case .set(let verification, let decryption):
            ["jwks": verification, "decryption_keys": .texts(decryption)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "integrity_keys.set", let verification = fields["jwks"],
            let decryption = fields.texts("decryption_keys")
        else { return nil }
        self = .set(verification: verification, decryption: decryption)
    }
}
