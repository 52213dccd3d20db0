public import EventSourcing
public import Values

/// What a person shows within a tenant's app to agree to something: a device's signature, or the PIN. The
/// adapter verified it; the decision compares it with what is known now.
public struct DeviceProof: SignInProof {
    public enum Shown: Equatable, Sendable {
        case signature(key: UUID)
        case pin(PINComparison)
        /// In words for programs, for the record.
        case refused(reason: String)
    }

    public var approval: UUID
    public var owner: MethodOwner
    public var terms: ApprovalTerms
    public var shown: Shown
    /// What was typed as a second factor, if anything.
    public var second: TypedFactor?
    /// The key of another device, which a trusted one lets in.
    public var newKey: DeviceKey?
    /// The mail that tells the person of that key.
    public var mail: UUID

    public init(
        approval: UUID, owner: MethodOwner, terms: ApprovalTerms, shown: Shown,
        second: TypedFactor? = nil, newKey: DeviceKey? = nil,
        mail: UUID
    ) {
        self.approval = approval
        self.owner = owner
        self.terms = terms
        self.shown = shown
        self.second = second
        self.newKey = newKey
        self.mail = mail
    }

    public struct Facts: RealmFacts {
        public var realm: Versioned<Realm> { own.realm }
        let own: OwnMethods
        let approval: Versioned<Approval>
        let second: Versioned<TwoFactor>
    }

    public var sessionName: UUID? { Approval.session(of: approval) }
    public var appMethod: AppSignInMethod? { AppSignInMethod(terms.method) }

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
        guard terms.signsIn else { throw .methodRefused("signs_nobody_in") }
        let (decision, refusal) = try examine(facts, at: desk.request.now)
        if let refusal { return SettledDecision(decision, .failure(refusal)) }
        return desk.open(
            after: decision, orKeeping: Decision(), account: facts.own.account,
            second: facts.second, second, scope: [], factors: [terms.method.factor])
    }

    /// The result of the proof, apart from signing in.
    func examine(
        _ facts: Facts, at now: Timestamp
    ) throws(GrantRefusal) -> (Decision, GrantRefusal?) {
        let own = facts.own
        guard own.isWelcome else { throw .accountBlocked }
        // Replay: the stream's name follows from what was signed.
        guard !facts.approval.exists else { throw .methodRefused("used") }
        guard terms.isFresh(at: now) else { throw .methodRefused("stale") }
        var decision = Decision()
        var used: UUID?
        switch shown {
        case .refused(let reason): throw .methodRefused(reason)
        case .signature(let key):
            guard own.methods.state.key(key)?.method == terms.method else {
                throw .methodRefused("unknown_key")
            }
            used = key
        case .pin(let comparison):
            guard terms.method == .pin else { throw .methodRefused("other_method") }
            do throws(TenantMethodRejection) {
                switch try own.examine(comparison, of: owner, at: now) {
                case .wrong(let guess):
                    return (Decision(guess, in: owner.stream), .methodRefused("wrong_pin"))
                case .right(let event):
                    if let event { decision.append(event, in: owner.stream) }
                }
            } catch {
                throw .methodRefused(error == .pinLocked ? "pin_locked" : "wrong_pin")
            }
        }
        if var newKey {
            guard let used, terms.method == .trustedDevice else {
                throw .methodRefused("not_trusted")
            }
            do throws(TenantMethodRejection) {
                try own.methods.state.requireRoom(for: newKey)
            } catch {
                throw .methodRefused(error == .tooMany ? "too_many_keys" : "key_taken")
            }
            newKey.approvedBy = used
            decision.append(
                TenantMethodEvent.keyEnrolled(
                    newKey, account: owner.account, client: owner.client,
                    mail: own.account.mail(mail)),
                in: owner.stream)
        }
        var terms = terms
        (terms.account, terms.at) = (owner.account, now)
        terms.take(own.account.state.stamp)
        decision.append(ApprovalEvent.given(terms, key: used), in: approval)
        return (decision, nil)
    }
}
