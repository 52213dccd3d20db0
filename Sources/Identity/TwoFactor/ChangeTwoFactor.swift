public import EventSourcing
public import Values

/// Changes a signed-in person's second factor by a code of it. A wrong code is put on record like
/// one that is typed to sign in.
public struct ChangeTwoFactor<Change: AnsweringCommand>: AnsweringCommand
where
    Change.Facts == OwnTwoFactor, Change.Outcome == TwoFactorOutcome,
    Change.Rejection == TwoFactorRejection
{
    /// How the person is signed in.
    public enum SignedInWith: Sendable {
        case browser(BrowserMethod, app: UUID?)
        case client(SessionTerms)
    }

    public var change: Change
    public var way: SignedInWith
    /// The name of the record, where there is one.
    public var attempt: UUID
    public var from: SignInPlace

    public init(
        _ change: Change, in way: SignedInWith, attempt: UUID, from: SignInPlace = SignInPlace()
    ) {
        self.change = change
        self.way = way
        self.attempt = attempt
        self.from = from
    }

    public typealias Rejection = TwoFactorRejection
    public typealias Outcome = TwoFactorOutcome

    public func notBefore(_ time: Timestamp) -> Self {
        var later = self
        later.change = change.notBefore(time)
        return later
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnTwoFactor {
        // The stream that is written has to be read.
        switch way {
        case .browser: _ = try await streams.readNew(BrowserSession.self, attempt)
        case .client: _ = try await streams.readNew(Session.self, attempt)
        }
        return try await change.gather(streams)
    }

    public func settle(_ facts: OwnTwoFactor) throws(Rejection) -> SettledDecision<Outcome> {
        do throws(Rejection) {
            var settled = try change.settle(facts)
            if case .failure(.wrongCode) = settled.outcome {
                settled.decision.append(record(of: facts.account.stream))
            }
            return settled
        } catch {
            guard error == .wrongCode else { throw error }
            return SettledDecision(record(of: facts.account.stream), .failure(error))
        }
    }

    private func record(of account: UUID) -> Decision {
        guard let reason = GrantRefusal.invalidSecondFactor.recordedReason else {
            return Decision()
        }
        switch way {
        case .browser(let method, let app):
            let refused = RefusedBrowser(
                method: method, reason: reason, account: account, app: app, from: from)
            return Decision(BrowserSessionEvent.refused(refused), in: attempt, of: account)
        case .client(let terms):
            let refused = RefusedSignIn(
                method: terms.method ?? .authorizationCode, reason: reason, account: account,
                client: terms.client, clientID: terms.clientID, app: terms.app, from: from)
            return Decision(SessionEvent.refused(refused), in: attempt, of: account)
        }
    }
}
