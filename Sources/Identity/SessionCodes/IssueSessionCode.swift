public import EventSourcing
public import Values

/// Gives a certified installation a code that opens a web view signed in as its person.
public struct IssueSessionCode: TimedCommand {
    /// The stream of the code.
    public var code: UUID
    /// The session whose token was shown.
    public var session: UUID
    public var now: Timestamp

    public init(code: UUID, session: UUID, now: Timestamp) {
        self.code = code
        self.session = session
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The session, its account or its installation may not go on, or may not do this.
        case notAllowed
    }

    public typealias Facts = FlagshipBearer

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> FlagshipBearer {
        _ = try await streams.readNew(SessionCode.self, code)
        return try await .read(session, from: streams)
    }

    public func decide(_ facts: FlagshipBearer) throws(Rejection) -> Decision {
        guard let (terms, account, installation) = facts.standing(at: now) else {
            throw .notAllowed
        }
        return Decision(
            SessionCodeEvent.issued(
                SessionCodeTerms(
                    account: account.stream, stamp: account.state.stamp,
                    opener: Opener(installation: installation.stream, session: session),
                    factors: terms.factors,
                    expiresAt: now.adding(seconds: SessionCode.lifetime))), in: code)
    }
}
