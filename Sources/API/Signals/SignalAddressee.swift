internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The receiver of a stream: what it gets, and how it knows people.
struct SignalAddressee: Sendable {
    let stream: KnownSignalStream
    let realm: RealmID
    let mint: TokenMint
    /// Of the client's pairwise subjects; nil where it knows people by their accounts.
    let sector: String?
    let kinds: Set<SignalKind>

    func sub(of account: UUID) -> String { mint.subject(account, in: sector) }
}

extension SignalReader {
    /// A client that is gone has no sector any more: nothing is sent to it then, see `mayReceive`.
    func addressee(
        of stream: KnownSignalStream, in realm: RealmID
    ) async throws(LogFailure) -> SignalAddressee {
        let client = try await queries.ask(KnownClient.byClientID, stream.terms.clientID, in: realm)
        return SignalAddressee(
            stream: stream, realm: realm, mint: try await mint(realm),
            sector: client?.metadata.sector, kinds: stream.kinds)
    }

    /// Whether the receiver's client is there, and an administrator still lets it receive: by the log itself, so that
    /// it holds from the moment on that a client is disabled.
    func mayReceive(_ stream: KnownSignalStream, in realm: RealmID) async throws(LogFailure) -> Bool
    {
        var client = Client()
        for recorded in try await events.stream(stream.terms.client, after: 0, in: realm) {
            guard let event = ClientEvent(recorded) else { throw .damaged }
            client.apply(event)
        }
        guard !client.isDisabled, !client.isDeleted, let metadata = client.metadata else {
            return false
        }
        return metadata.scope.contains(where: SignalScope.all.contains)
    }

    /// What an event says to a receiver.
    func signals(
        of source: SignalSource, for addressee: SignalAddressee
    ) async throws(LogFailure) -> [Signal] {
        guard source.kinds.contains(where: addressee.kinds.contains) else { return [] }
        var all = source.signals
        if addressee.kinds.contains(.tokenClaimsChange) {
            var facts = source.facts
            facts.claims = try await changedClaims(of: source.event, for: addressee)
            if !facts.claims.isEmpty {
                all = SharedSignals.signals(for: source.event, knowing: facts)
            }
        }
        var signals: [Signal] = []
        for signal in all
        where addressee.kinds.contains(signal.kind) && SignalOffer.includes(signal) {
            guard try await includes(signal.subject, addressee) else { continue }
            signals.append(signal)
        }
        return signals
    }

    /// Of a device without a sign-in, the receivers of all subjects hear; a session without an account is a client's
    /// own, and no signal.
    private func includes(
        _ subject: SignalSubject, _ addressee: SignalAddressee
    ) async throws(LogFailure) -> Bool {
        let state = addressee.stream.state
        guard let account = subject.user else {
            return subject.device != nil && state.includes([])
        }
        var names: [NamedSubject] = [.sub(addressee.sub(of: account))]
        let namesMailboxes = state.named.contains { subject in
            if case .mailbox = subject { true } else { false }
        }
        if namesMailboxes, let mailbox = try await mailbox(of: account, addressee.realm) {
            names.append(.mailbox(mailbox))
        }
        return state.includes(names)
    }

    func mailbox(
        of account: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> UUID? {
        try await events.stream(account, after: 0, in: realm)
            .last { $0.open["mailbox"]?.string != nil }?
            .open["mailbox"]?.string.flatMap { UUID($0) }
    }

    // MARK: - New values of claims

    /// The claims of a person that an event of the account changed, as far as the sessions that the receiver's
    /// client has with the person let it know them. UserInfo would tell it the same.
    private func changedClaims(
        of event: Recorded, for addressee: SignalAddressee
    ) async throws(LogFailure) -> JSONObject {
        let names = SharedSignals.changedClaims(of: event.name)
        guard !names.isEmpty else { return [:] }
        let realm = addressee.realm
        let sessions = try await queries.sessions(
            of: event.stream, in: realm, at: now(realm)
        ) { $0.terms.client == addressee.stream.terms.client }.map(\.terms)
        guard !sessions.isEmpty else { return [:] }
        let scope = Set(sessions.flatMap(\.scope)).sorted()
        let resources = Set(sessions.flatMap(\.resources)).sorted()
        var roles = Settings().roles
        if names.contains("resource_access") {
            roles = try await settings(of: realm).roles
        }
        let account = try await events.stream(event.stream, after: 0, in: realm)
        func claims(through version: Int) -> JSONObject {
            guard let known = KnownPerson(account.filter { $0.version <= version }),
                !known.isErased
            else { return [:] }
            var claims = PersonClaims.claims(of: known, scope)
            claims["resource_access"] = ResourceAccess.access(known.roles, roles, scope, resources)
            return claims.filter { names.contains($0.key) }
        }
        let before = claims(through: event.version - 1)
        return claims(through: event.version).filter { $0.value != before[$0.key] }
    }

    private func settings(of realm: RealmID) async throws(LogFailure) -> Settings {
        var state = Realm()
        for recorded in try await events.stream(Realm.stream, after: 0, in: realm) {
            guard let event = RealmEvent(recorded) else { throw .damaged }
            state.apply(event)
        }
        return state.settings
    }
}

extension KnownSignalStream {
    /// What its receiver gets.
    var kinds: Set<SignalKind> { Set(SignalOffer.delivered(state.settings.requested)) }
}
