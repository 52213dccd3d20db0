public import EventSourcing
public import Values

/// A proof with which a person signs in, in a client or on a page: it gathers its facts and settles
/// the outcome.
public protocol SignInProof: Sendable {
    associatedtype Facts: Sendable

    /// The name that the session gets, where the proof has one: with it the session is opened, or
    /// the attempt put on record, and a replay under the same name opens no other one.
    var sessionName: UUID? { get }

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts

    /// Throws what is not this proof's fault; a refusal that has events of its own is an outcome.
    func settle(_ facts: Facts, at desk: GrantDesk) throws(GrantRefusal) -> SettledDecision<
        GrantOutcome
    >

    /// Whose it is, as far as one can tell: for the record of an attempt that failed.
    func account(_ facts: Facts) -> UUID?

    /// Whose key seals where such an attempt came from.
    func subject(_ facts: Facts) -> UUID?

    /// The channel of the code that was to be typed, if it went to a phone: for the record of a failed sign-in.
    func channel(_ facts: Facts) -> Channel?

    /// What stands on record in the place of the grant's type.
    var appMethod: AppSignInMethod? { get }
}

extension SignInProof {
    public func subject(_ facts: Facts) -> UUID? { account(facts) }
    public var sessionName: UUID? { nil }
    public func channel(_ facts: Facts) -> Channel? { nil }
    public var appMethod: AppSignInMethod? { nil }
}
