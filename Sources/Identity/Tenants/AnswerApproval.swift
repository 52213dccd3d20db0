public import EventSourcing
public import Values

/// Agrees with a trusted device to what another device asks for, or refuses it: once.
public struct AnswerApproval: TimedCommand {
    public var approval: UUID
    public var owner: MethodOwner
    /// The key by which the adapter verified the answer.
    public var key: UUID
    public var isApproved: Bool
    public var now: Timestamp

    public init(
        approval: UUID, owner: MethodOwner, key: UUID, isApproved: Bool, now: Timestamp
    ) {
        self.approval = approval
        self.owner = owner
        self.key = key
        self.isApproved = isApproved
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is no such request of this person to this tenant that waits, or a newer one took its place.
        case notFound
        case answered
        /// The key is no trusted device's, or not any more.
        case notTrusted
    }

    public struct Facts: RealmFacts {
        public var realm: Versioned<Realm> { own.realm }
        let own: OwnMethods
        let approval: Versioned<Approval>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            own: try await .read(owner, from: streams),
            approval: try await streams.read(Approval.self, approval))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let (own, state) = (facts.own, facts.approval.state)
        guard own.isWelcome, let terms = state.terms, terms.account == owner.account,
            terms.client == owner.client, terms.stamp == own.account.state.stamp
        else { throw .notFound }
        guard state.answer == nil else { throw .answered }
        guard state.isOpen(at: now), own.methods.state.awaited?.approval == approval else {
            throw .notFound
        }
        guard own.methods.state.key(key)?.method == .trustedDevice else { throw .notTrusted }
        return Decision(
            ApprovalEvent.answered(
                isApproved: isApproved, key: key, account: owner.account, client: owner.client,
                at: now), in: approval)
    }
}
