package import EventSourcing
internal import Values

/// Changes of a realm's captcha.
package enum CaptchaChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Captcha>, Rejection>

    package enum SetSecretRejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    /// Says what the service that tells people from programs knows the realm by.
    package static func setSecret(_ secret: String) -> Change<SetSecretRejection> {
        Change(of: Captcha.stream) { facts throws(SetSecretRejection) in
            guard (1...1_000).contains(secret.utf8.count),
                secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw .invalid(FieldFault("secret", .malformed)) }
            guard facts.thing.state.secret != secret else { return Decision() }
            return Decision(CaptchaEvent.secretSet(secret), in: Captcha.stream)
        }
    }
}
