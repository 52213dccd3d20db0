public import EventSourcing
internal import Values

/// A key that a person signs in with instead of a mailed code.
public struct Passkey: StreamState {
    /// Nil before the enrolment.
    public private(set) var enrolled: EnrolledPasskey?
    /// What its authenticator counted to.
    public private(set) var counter: Int64 = 0
    public private(set) var isRemoved = false

    /// Seconds from the beginning of a ceremony to its end.
    public static let ceremonyLifetime: Int64 = 300
    /// More than this in one account, and no other is enrolled.
    public static let mostPerAccount = 50

    public init() {}

    public mutating func apply(_ event: PasskeyEvent) {
        switch event {
        case .enrolled(let passkey):
            enrolled = passkey
            counter = passkey.key.counter
        case .enrollmentRefused, .renamed: break
        case .used(let counter, _, _): self.counter = counter
        case .removed: isRemoved = true
        }
    }
}

extension Passkey {
    /// A credential is of one account alone, in all of a realm.
    public static func claim(_ credential: [UInt8]) -> Claim {
        Claim("passkey", Base64URL.encode(credential))
    }

    /// The time of a ceremony stands in its name.
    static func isOver(_ ceremony: UUID, at now: Timestamp) -> Bool {
        guard let begun = ceremony.timestamp else { return true }
        return now >= begun.adding(seconds: ceremonyLifetime)
    }
}

extension Versioned<Passkey> {
    /// The passkey, if it was enrolled and not removed.
    var alive: EnrolledPasskey? { state.isRemoved ? nil : state.enrolled }

    /// The same, if it belongs to this account. Other accounts' passkeys are not revealed.
    func alive(of account: UUID) -> EnrolledPasskey? {
        alive.flatMap { $0.account == account ? $0 : nil }
    }
}
