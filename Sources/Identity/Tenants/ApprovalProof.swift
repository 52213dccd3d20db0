public import EventSourcing
public import Values

/// What a person agreed to on a trusted device, for the device that asked: it is signed in, once.
public struct ApprovalProof: SignInProof {
    public var approval: UUID
    public var owner: MethodOwner

    public init(approval: UUID, owner: MethodOwner) {
        self.approval = approval
        self.owner = owner
    }

    public struct Facts: Sendable {
        let own: OwnMethods
        let approval: Versioned<Approval>
        let second: Versioned<TwoFactor>
    }

    public var sessionName: UUID? { Approval.session(of: approval) }
    /// A trusted device alone answers requests.
    public var appMethod: AppSignInMethod? { .key }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            own: try await .read(owner, from: streams),
            approval: try await streams.read(Approval.self, approval),
            second: try await streams.read(
                TwoFactor.self, TwoFactor.stream(of: owner.account)))
    }

    public func account(_ facts: Facts) -> UUID? { owner.account }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let (own, now) = (facts.own, desk.request.now)
        guard let terms = facts.approval.state.terms, terms.account == owner.account,
            terms.client == desk.request.client, terms.signsIn,
            let answer = facts.approval.state.answer, answer.isApproved
        else { throw .methodRefused("not_approved") }
        guard now < answer.at.adding(seconds: Approval.patience) else {
            throw .methodRefused("approval_expired")
        }
        guard own.isWelcome else { throw .accountBlocked }
        // Log-out everywhere ends what was agreed to before, as it ends sessions.
        guard terms.stamp == own.account.state.stamp.number else {
            throw .methodRefused("stamp_rotated")
        }
        guard own.account.state.admits([.client(terms.client)], since: terms.removals) else {
            throw .methodRefused("access_removed")
        }
        let isKept =
            answer.key.map { own.methods.state.key($0) != nil } ?? (own.methods.state.pin != nil)
        guard isKept else { throw .methodRefused("method_removed") }
        return desk.open(
            after: Decision(), orKeeping: Decision(), account: own.account, second: facts.second,
            nil, scope: [], factors: [terms.method.factor])
    }
}
