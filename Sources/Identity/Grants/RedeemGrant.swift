public import EventSourcing
public import Values

/// Exchanges a grant for tokens. One sign-in opens one session; all its tokens follow from the
/// session and a number. A refused sign-in is put on record.
public struct RedeemGrant<Shown: Grant>: AnsweringCommand {
    public var grant: Shown
    public var request: GrantRequest

    public init(_ grant: Shown, _ request: GrantRequest) {
        self.grant = grant
        self.request = request
    }

    public typealias Rejection = GrantRefusal
    public typealias Outcome = GrantOutcome

    /// One object: all of it is much to be handed from place to place.
    public final class Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let client: Versioned<Client>
        /// The app that the client belongs to is gone: what was set there would hold no more.
        let isOrphan: Bool
        /// Replay: the grant has been shown before, and opened this session.
        let repeated: Versioned<Session>?
        let shown: Shown.Facts

        init(
            realm: Versioned<Realm>, settings: Settings, client: Versioned<Client>,
            isOrphan: Bool, repeated: Versioned<Session>?, shown: Shown.Facts
        ) {
            self.realm = realm
            self.settings = settings
            self.client = client
            self.isOrphan = isOrphan
            self.repeated = repeated
            self.shown = shown
        }
    }

    public func notBefore(_ time: Timestamp) -> Self {
        var later = self
        later.request.now = max(later.request.now, time)
        return later
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let client = try await streams.read(Client.self, request.client)
        let own = client.state.metadata?.appID
        let (realm, settings) = try await Realm.settings(of: own ?? request.app, from: streams)
        var isOrphan = false
        if let own { isOrphan = try await streams.read(App.self, own).state.isDeleted }
        var repeated: Versioned<Session>?
        if Shown.opensSession {
            // The stream that is written has to be read.
            if let name = grant.sessionName {
                let session = try await streams.readNew(Session.self, name)
                if session.exists { repeated = session }
            }
            if grant.sessionName == nil || repeated != nil {
                _ = try await streams.readNew(Session.self, request.session)
            }
        }
        return Facts(
            realm: realm, settings: settings, client: client, isOrphan: isOrphan,
            repeated: repeated, shown: try await grant.gather(streams))
    }

    /// A client's assertion is used up by any outcome that is put on record.
    public func settle(_ facts: Facts) throws(GrantRefusal) -> SettledDecision<Outcome> {
        var settled = try settleGrant(facts)
        if case .assertion(let assertion) = request.proof {
            settled.decision.take(assertion.claim(by: request.clientID), for: request.client)
        }
        return settled
    }

    /// A proof of a key is used up with it. To tell that something was used before no proof is needed, so that no
    /// proof that is over hides it.
    private func usingProof(_ settled: SettledDecision<Outcome>) -> SettledDecision<Outcome> {
        guard let proof = request.keyProof else { return settled }
        var settled = settled
        settled.decision.take(proof.claim, for: request.client)
        return settled
    }

    public func rejection(takenClaim kind: String) -> GrantRefusal {
        switch Claim.purpose(of: kind) {
        case UsedProof.claimKind: .usedProof
        case JWTBearerGrant.claimKind: .invalidAssertion
        case DeviceGrant.claimKind: .askedTooSoon
        default: .usedAssertion
        }
    }

    private func settleGrant(_ facts: Facts) throws(GrantRefusal) -> SettledDecision<Outcome> {
        let desk = try desk(facts)
        // An attempt that repeats another one needs a name of its own.
        let attempt = facts.repeated == nil ? desk.request.session : request.session
        do throws(GrantRefusal) {
            if let session = facts.repeated {
                return try grant.settleRepeated(session, facts.shown, at: desk)
            }
            if let reuse = grant.settleReuse(facts.shown, at: desk) { return reuse }
            guard !request.isFaulty else { throw GrantRefusal.faultyRequest }
            if desk.metadata.bindsTokens, request.keyProof == nil { throw GrantRefusal.proofNeeded }
            try requireResources(at: desk)
            var settled = try grant.settle(facts.shown, at: desk)
            if case .failure(let refusal) = settled.outcome, let record = record(refusal, facts) {
                settled.decision.append(
                    record, in: attempt, of: grant.subject(facts.shown))
            }
            return usingProof(settled)
        } catch {
            guard let record = record(error, facts) else { throw error }
            return usingProof(
                SettledDecision(
                    Decision(record, in: attempt, of: grant.subject(facts.shown)),
                    .failure(error)))
        }
    }

    /// What holds before anything is known of the grant.
    private func desk(_ facts: Facts) throws(GrantRefusal) -> GrantDesk {
        guard let metadata = facts.client.aliveMetadata, !facts.client.state.isDisabled,
            !facts.isOrphan, facts.client.state.clientID == request.clientID,
            isProven(metadata, facts.client.state.secret)
        else { throw .invalidClient }
        if Shown.type.isNative, !facts.settings[SettingCatalogue.nativeGrants] {
            throw .unsupportedGrant
        }
        guard metadata.grantTypes.contains(Shown.type) else { throw .unauthorizedClient }
        var request = request
        request.session = grant.sessionName ?? request.session
        var desk = GrantDesk(
            request: request, settings: facts.settings, metadata: metadata, method: Shown.type)
        desk.appMethod = grant.appMethod
        return desk
    }

    private func isProven(_ metadata: ClientMetadata, _ secret: SecretDigest?) -> Bool {
        request.proof.isGood(for: metadata.authenticationMethod, secret)
            || metadata.rules.redeemsByName && request.proof == .none
    }

    private func requireResources(at desk: GrantDesk) throws(GrantRefusal) {
        switch Shown.type {
        // What an exchange may reach has a list of its own.
        case .tokenExchange:
            for resource in request.resources where !ResourceRule.isResource(resource) {
                throw .invalidResource
            }
        case .authorizationCode, .refreshToken, .clientCredentials, .deviceCode, .jwtBearer,
            .nativeOTP,
            .nativeMagicLink, .nativePasskey, .password, .flagship:
            try desk.require(request.resources)
        }
    }

    private func record(_ refusal: GrantRefusal, _ facts: Facts) -> SessionEvent? {
        let inVain = grant.isUsedInVain ? refusal.reasonInVain : nil
        guard Shown.signsIn, let reason = refusal.recordedReason ?? inVain else { return nil }
        var refused = RefusedSignIn(
            method: Shown.type, reason: reason, account: grant.account(facts.shown),
            client: request.client, clientID: request.clientID,
            app: facts.client.state.metadata?.appID ?? request.app, from: request.from)
        refused.appMethod = grant.appMethod
        refused.from.channel = grant.channel(facts.shown) ?? refused.from.channel
        return .refused(refused)
    }
}

extension GrantType {
    /// Signs people in without a browser: only where the realm allows it.
    public var isNative: Bool {
        switch self {
        case .nativeOTP, .nativeMagicLink, .nativePasskey: true
        case .authorizationCode, .refreshToken, .clientCredentials, .deviceCode, .jwtBearer,
            .tokenExchange, .password, .flagship:
            false
        }
    }
}
