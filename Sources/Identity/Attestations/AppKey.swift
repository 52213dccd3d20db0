public import EventSourcing
public import Values

/// The key that an installation has in the hardware of an Apple device, and how often it was used.
public struct AppKey: StreamState {
    /// Nil until Apple vouched for one.
    public private(set) var key: AttestedKey?
    public private(set) var counter: Int64 = 0
    /// The ids of all keys that it ever had.
    public private(set) var ids: Set<[UInt8]> = []

    public init() {}

    /// Follows from the client, so that it needs no look-up.
    public static func stream(of installation: UUID) -> UUID {
        UUID(high: installation.high, low: installation.low ^ 0x0000_6B65_7900_0000)
    }

    /// A key of a device certifies one installation.
    public static func claim(_ key: [UInt8]) -> Claim {
        Claim("app_key", Base64URL.encode(key))
    }

    public mutating func apply(_ event: AppKeyEvent) {
        switch event {
        case .attested(let key):
            self.key = key
            counter = 0
            ids.insert(key.id)
        case .used(let counter): self.counter = counter
        }
    }
}

public struct AttestedKey: Sendable, Equatable {
    /// The SHA-256 of the public key.
    public var id: [UInt8]
    /// As an uncompressed point.
    public var publicKey: [UInt8]
    /// Team and bundle.
    public var app: String

    public init(id: [UInt8], publicKey: [UInt8], app: String) {
        self.id = id
        self.publicKey = publicKey
        self.app = app
    }
}

public enum AppKeyEvent: FormedEvent {
    case attested(AttestedKey)
    /// It signed something: the device counts, and a lower number is a copy's.
    case used(counter: Int64)

    package enum Form {
        package static let attested = EventForm(
            "app_key.attested", .audit, .object(.enrolled),
            "Apple vouched for a key in the hardware of the device.", .attestedKey,
            make: AppKeyEvent.attested)
        package static let used = EventForm(
            "app_key.used", .internal, .detail,
            "The key in the hardware of the device signed something.",
            .integer("counter", "How often the device says that the key was used."),
            make: AppKeyEvent.used)
    }

    public static let forms: EventForms<Self> = [Form.attested, Form.used]

    public var written: WrittenEvent {
        switch self {
        case .attested(let key): Form.attested(key)
        case .used(let counter): Form.used(counter)
        }
    }
}

extension Field<AttestedKey> {
    fileprivate static let attestedKey = record(
        .bytes("key_id", "SHA-256 of the public key."),
        .bytes("public_key", "Public key as an uncompressed point."),
        .text("app", "Team and bundle identifier of the app."),
        make: { AttestedKey(id: $0, publicKey: $1, app: $2) },
        take: { ($0.id, $0.publicKey, $0.app) })
}
