public import EventSourcing
public import Values

/// Agrees with a trusted device to what another device asks for, or refuses it: once.
public struct AnswerApproval: TimedCommand {
    public var approval: UUID
    public var owner: MethodOwner
    /// The key by which the adapter verified the answer.
    public var key: UUID
    /// The stream of the signature, whose name follows from what was signed: a signature that was used in one
    /// way is good in no other.
    public var signature: UUID
    public var isApproved: Bool
    public var now: Timestamp

    public init(
        approval: UUID, owner: MethodOwner, key: UUID, signature: UUID, isApproved: Bool,
        now: Timestamp
    ) {
        self.approval = approval
        self.owner = owner
        self.key = key
        self.signature = signature
        self.isApproved = isApproved
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is no such request of this person to this tenant that waits, or a newer one of its network
        /// took its place.
        case notFound
        case answered
        /// The signature signed in before, or answered another request.
        case signatureUsed
        /// The key is no trusted device's, or not any more.
        case notTrusted
    }

    public struct Facts: RealmFacts {
        public var realm: Versioned<Realm> { own.realm }
        let own: OwnMethods
        let approval: Versioned<Approval>
        let signature: Versioned<Approval>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            own: try await .read(owner, from: streams),
            approval: try await streams.read(Approval.self, approval),
            signature: try await streams.read(Approval.self, signature))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let (own, state) = (facts.own, facts.approval.state)
        guard own.isWelcome, let terms = state.terms, terms.account == owner.account,
            terms.client == owner.client, terms.stamp == own.account.state.stamp.number
        else { throw .notFound }
        guard state.answer == nil else { throw .answered }
        guard state.isOpen(at: now),
            own.methods.state.awaited.contains(where: { $0.approval == approval })
        else {
            throw .notFound
        }
        guard own.methods.state.key(key)?.method == .trustedDevice else { throw .notTrusted }
        guard !facts.signature.exists else { throw .signatureUsed }
        var decision = Decision(
            ApprovalEvent.answered(
                isApproved: isApproved, key: key, account: owner.account, client: owner.client,
                at: now), in: approval)
        decision.append(
            ApprovalEvent.signatureUsed(
                approval: approval, account: owner.account, client: owner.client), in: signature)
        return decision
    }
}
