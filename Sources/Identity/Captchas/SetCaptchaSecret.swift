public import EventSourcing

/// Says what the service that tells people from programs knows the realm by.
public struct SetCaptchaSecret: Command {
    public var secret: String

    public init(_ secret: String) {
        self.secret = secret
    }

    public enum Rejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Captcha> {
        try await .read(Captcha.stream, from: streams)
    }

    public func decide(_ facts: InRealm<Captcha>) throws(Rejection) -> Decision {
        guard (1...1_000).contains(secret.utf8.count),
            secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .invalid(FieldFault("secret", .malformed)) }
        guard facts.thing.state.secret != secret else { return Decision() }
        return Decision(CaptchaEvent.secretSet(secret), in: Captcha.stream)
    }
}
