public import EventSourcing
public import Values

/// Makes a stream of security signals for a client, which receives them from then on.
public struct CreateSignalStream: Command {
    public var id: UUID
    public var terms: SignalTerms
    public var settings: SignalSettings

    public init(id: UUID, terms: SignalTerms, settings: SignalSettings) {
        self.id = id
        self.terms = terms
        self.settings = settings
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        /// The client is gone, or may have no streams any more.
        case notAllowed
        /// Another stream of the client has its slot.
        case slotTaken
        case invalid(FieldFault)
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let stream: Versioned<SignalStream>
        let client: Versioned<Client>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            stream: try await streams.readNew(SignalStream.self, id),
            client: try await streams.read(Client.self, terms.client))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard !facts.stream.exists else { throw .idTaken }
        guard !facts.client.state.isDisabled,
            facts.client.aliveMetadata?.scope.contains(SignalScope.manage) == true
        else { throw .notAllowed }
        guard (0..<SignalTerms.mostPerClient).contains(terms.slot) else { throw .slotTaken }
        do {
            try settings.check()
        } catch {
            throw .invalid(error)
        }
        var decision = Decision(SignalStreamEvent.created(terms, settings), in: id)
        decision.take(terms.claim, for: id)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .slotTaken }
}
