public import EventSourcing
public import Values

/// Asks a person to agree on a device that they trust, for a device that they do not trust yet. A newer request
/// from the same block of networks ends the one before; those of other networks wait beside it.
public struct RequestApproval: TimedCommand {
    public var approval: UUID
    public var terms: ApprovalTerms
    /// Where the person's devices find it. Nil: there is no such person.
    public var owner: MethodOwner?
    /// A keyed digest of the block of networks that it comes from.
    public var network: [UInt8]?
    public var now: Timestamp

    public init(approval: UUID, terms: ApprovalTerms, owner: MethodOwner?, now: Timestamp) {
        self.approval = approval
        self.terms = terms
        self.owner = owner
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Another request has this number: one more has to be made up.
        case numberTaken
        /// The signed time is not within the tolerance of now.
        case stale
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let own: OwnMethods?
        let approval: Versioned<Approval>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        var own: OwnMethods?
        if let owner { own = try await .read(owner, from: streams) }
        let realm: Versioned<Realm>
        if let own {
            realm = own.realm
        } else {
            realm = try await streams.read(Realm.self, Realm.stream)
        }
        return Facts(
            realm: realm, own: own, approval: try await streams.read(Approval.self, approval))
    }

    /// A request that no device can answer is written all the same, so that its caller learns nothing of the account.
    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard !facts.approval.exists else { throw .numberTaken }
        guard terms.isFresh(at: now) else { throw .stale }
        var terms = terms
        terms.at = now
        let awaited = AwaitedApproval(
            approval: approval, number: terms.number,
            expiresAt: now.adding(seconds: Approval.patience), network: network)
        guard let owner, let own = facts.own, own.isWelcome, own.methods.state.admits(awaited)
        else {
            terms.account = nil
            return Decision(ApprovalEvent.requested(terms), in: approval)
        }
        terms.account = owner.account
        terms.take(own.account.state.stamp)
        var decision = Decision(ApprovalEvent.requested(terms), in: approval)
        decision.append(
            TenantMethodEvent.approvalAwaited(
                awaited, account: owner.account, client: owner.client), in: owner.stream)
        return decision
    }
}
