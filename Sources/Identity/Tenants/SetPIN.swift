public import EventSourcing
public import Values

/// Gives a person who signed in a short while ago a PIN for a tenant's apps, or another one if they type the one
/// that they have.
public struct SetPIN: AnsweringCommand, TimedCommand {
    public var owner: MethodOwner
    /// What takes its place in the log.
    public var hash: String
    /// The comparison with the current PIN, if it was typed.
    public var current: PINComparison?
    public var session: SignedIn
    /// The mail that tells the person of it.
    public var mail: UUID
    public var now: Timestamp

    public init(
        owner: MethodOwner, hash: String, current: PINComparison?, session: SignedIn,
        mail: UUID, now: Timestamp
    ) {
        self.owner = owner
        self.hash = hash
        self.current = current
        self.session = session
        self.mail = mail
        self.now = now
    }

    public typealias Rejection = TenantMethodRejection

    public enum Outcome: Equatable, Sendable {
        case set
        case wrongPIN
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnMethods {
        try await .read(owner, app: session.app, from: streams)
    }

    public func settle(_ facts: OwnMethods) throws(Rejection) -> SettledDecision<Outcome> {
        guard facts.isWelcome else { throw .notWelcome }
        if let limit = session.isTooOld(at: now, facts.settings) {
            throw .signInTooOld(limit: limit)
        }
        if facts.methods.state.pin != nil {
            guard let current else { throw .pinNeeded }
            if case .wrong(let guess) = try facts.examine(current, of: owner, at: now) {
                return SettledDecision(Decision(guess, in: owner.stream), .wrongPIN)
            }
        }
        return SettledDecision(
            Decision(
                TenantMethodEvent.pinSet(
                    hash: hash, account: owner.account, client: owner.client, at: now,
                    mail: facts.account.mail(mail)),
                in: owner.stream), .set)
    }
}
