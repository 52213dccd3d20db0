public import EventSourcing
public import JSON
public import Values

/// What the service that tells people from programs knows the realm by.
public struct Captcha: StreamState {
    /// Nil where none was set, or it cannot be opened any more.
    public private(set) var secret: String?

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0012)

    public init() {}

    public mutating func apply(_ event: CaptchaEvent) {
        switch event {
        case .secretSet(let secret): self.secret = secret
        }
    }
}

public enum CaptchaEvent: Event {
    case secretSet(String?)

    public static let catalogue: [EventShape] = [
        EventShape(
            "captcha.secret_set", .audit, "The secret of the realm's captcha was set.",
            [
                .text("secret", "What the service knows the realm by.", .neverLeaves(.sealed))
                    .optional
            ])
    ]

    public var name: String { "captcha.secret_set" }
    public var subject: UUID? { nil }

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var fields: JSONObject {
        switch self {
        case .secretSet(let secret):
            var fields: JSONObject = [:]
            fields["secret"] = secret.map { .string($0) }
            return fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "captcha.secret_set" else { return nil }
        self = .secretSet(fields["secret"]?.string)
    }
}
