public import EventSourcing
public import Values

/// What the service that tells people from programs knows the realm by.
public struct Captcha: StreamState {
    /// Nil without a secret, or where the secret cannot be decrypted any more.
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

public enum CaptchaEvent: FormedEvent {
    case secretSet(String?)

    package enum Form {
        package static let secretSet = EventForm(
            "captcha.secret_set", .audit, .object(.other),
            "The secret of the realm's captcha was set.",
            .optional(
                .text(
                    "secret", "Secret of the realm at the captcha service.", .neverLeaves(.sealed))),
            make: CaptchaEvent.secretSet)
    }

    public static let forms: EventForms<Self> = [Form.secretSet]

    /// Not personal data, but sealed like it: such secrets are stored nowhere in plain text.
    public func subject(in stream: UUID) -> UUID? { stream }

    public var written: WrittenEvent {
        switch self {
        case .secretSet(let secret): Form.secretSet(secret)
        }
    }
}
