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
        let client = try await queries.knownClient(stream.terms.clientID, in: realm)
        return SignalAddressee(
            stream: stream, realm: realm, mint: try await mint(realm),
            sector: client?.metadata.sector,
            kinds: Set(SignalOffer.delivered(stream.state.settings.requested)))
    }

    /// Whether the receiver's client is there, and an administrator still lets it receive.
    func mayReceive(_ stream: KnownSignalStream, in realm: RealmID) async throws(LogFailure) -> Bool
    {
        let client = try await queries.knownClient(stream.terms.clientID, in: realm)
        guard let client, !client.isDisabled, client.id == stream.terms.client else { return false }
        return client.metadata.scope.contains(where: SignalScope.all.contains)
    }

    /// What an event says to a receiver.
    func signals(
        of event: Recorded, for addressee: SignalAddressee
    ) async throws(LogFailure) -> [Signal] {
        let rules = SignalTable.rules[event.name] ?? []
        guard rules.contains(where: { addressee.kinds.contains($0.kind) }) else { return [] }
        let facts = try await facts(of: event)
        var signals: [Signal] = []
        for signal in SharedSignals.signals(for: event, knowing: facts)
        where addressee.kinds.contains(signal.kind) && SignalOffer.includes(signal) {
            guard let account = signal.subject.user,
                try await includes(account, addressee)
            else { continue }
            signals.append(signal)
        }
        return signals
    }

    /// What the event itself does not say stands in what its stream began with.
    private func facts(of event: Recorded) async throws(LogFailure) -> SignalFacts {
        var facts = SignalFacts()
        if event.name.hasPrefix("account.") || event.open["account"] != nil,
            event.name != "passkey.removed"
        {
            return facts
        }
        guard event.version > 1 else { return facts }
        let earlier = try await events.stream(event.stream, after: 0, in: event.realm)
        let about = earlier.last {
            $0.position < event.position && $0.open["account"]?.string != nil
        }
        facts.account = about?.open["account"]?.string.flatMap { UUID($0) }
        let transports = earlier.first?.open["transports"]?.array ?? []
        facts.transports = transports.compactMap(\.string)
        return facts
    }

    private func includes(
        _ account: UUID, _ addressee: SignalAddressee
    ) async throws(LogFailure) -> Bool {
        let state = addressee.stream.state
        var names: [NamedSubject] = [.sub(addressee.sub(of: account))]
        let namesMailboxes = state.named.contains { subject in
            if case .mailbox = subject { true } else { false }
        }
        if namesMailboxes, let mailbox = try await mailbox(of: account, addressee.realm) {
            names.append(.mailbox(mailbox))
        }
        return state.includes(names)
    }

    private func mailbox(
        of account: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> UUID? {
        try await events.stream(account, after: 0, in: realm)
            .last { $0.open["mailbox"]?.string != nil }?
            .open["mailbox"]?.string.flatMap { UUID($0) }
    }
}
