public import EventSourcing
public import JSON
public import Values

/// The keys by which a realm reads what Google says of its apps.
public struct IntegrityKeys: StreamState {
    /// Public, as a JWK set.
    public private(set) var verification: JSON = .null
    /// In base64url. Nil where the keys cannot be decrypted any more.
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

public enum IntegrityKeysEvent: FormedEvent {
    case set(verification: JSON, decryption: [String])

    package enum Form {
        package static let set = EventForm(
            "integrity_keys.set", .audit, .administration(.updated),
            "The keys that read Google's integrity verdicts were set.",
            .json("jwks", "Public keys that verify the verdicts, as a JWK set."),
            .texts(
                "decryption_keys", .bytes, "Keys that decrypt the verdicts.", .neverLeaves(.sealed)),
            make: IntegrityKeysEvent.set)
    }

    public static let forms: EventForms<Self> = [Form.set]

    /// Not personal data, but sealed like it: such keys are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var written: WrittenEvent {
        switch self {
        case .set(let verification, let decryption): Form.set(verification, decryption)
        }
    }
}
