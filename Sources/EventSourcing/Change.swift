package import Values

/// Facts that are read from one stream, alone or beside the standing of its realm.
package protocol StreamFacts: Sendable {
    /// A new stream is one whose name was made up for the command, see `StreamReader.readNew`.
    static func read(
        _ stream: UUID, isNew: Bool, from streams: some StreamReader
    ) async throws(LogFailure) -> Self

    /// What the realm has to be before anything is decided.
    func requireRealm() throws(RealmRejection)
}

extension Versioned: StreamFacts {
    package static func read(
        _ stream: UUID, isNew: Bool, from streams: some StreamReader
    ) async throws(LogFailure) -> Versioned {
        isNew
            ? try await streams.readNew(State.self, stream)
            : try await streams.read(State.self, stream)
    }

    /// The realm is not looked at: it may be disabled.
    package func requireRealm() {}
}

/// A command of one stream. All changes of an aggregate stand beside each other, each as a function that makes one.
/// Whether the realm has to be open is said by the type of the facts.
package struct Change<
    Facts: StreamFacts, Rejection: Error & Equatable & Sendable
>: Command {
    package let stream: UUID
    private let isNew: Bool
    private var now: Timestamp?
    private let whenTaken: Rejection?
    private var whenKindTaken: [String: Rejection] = [:]
    private let decision: @Sendable (Facts, Timestamp?) throws(Rejection) -> Decision

    /// The decision is asked again after a conflict, and has to be pure: no I/O, no clock, no chance.
    /// - Parameter whenTaken: The rejection where another stream holds a claim.
    /// - Parameter byKind: The rejections where the claim is of a kind that has its own.
    package init(
        of stream: UUID, isNew: Bool = false, whenTaken: Rejection? = nil,
        byKind: [String: Rejection] = [:],
        decide: @escaping @Sendable (Facts) throws(Rejection) -> Decision
    ) {
        self.stream = stream
        self.isNew = isNew
        self.whenTaken = whenTaken
        whenKindTaken = byKind
        decision = { facts, _ throws(Rejection) in try decide(facts) }
    }

    /// The same for a decision that depends on the time, which is that of the node's clock or a later one, see
    /// `TimedCommand`.
    package init(
        of stream: UUID, at now: Timestamp, whenTaken: Rejection? = nil,
        decide: @escaping @Sendable (Facts, _ now: Timestamp) throws(Rejection) -> Decision
    ) {
        self.stream = stream
        isNew = false
        self.now = now
        self.whenTaken = whenTaken
        decision = { facts, later throws(Rejection) in try decide(facts, later ?? now) }
    }

    package func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        try await .read(stream, isNew: isNew, from: streams)
    }

    package func requireRealm(_ facts: Facts) throws(RealmRejection) {
        try facts.requireRealm()
    }

    package func decide(_ facts: Facts) throws(Rejection) -> Decision {
        try decision(facts, now)
    }

    package func rejection(takenClaim kind: String) -> Rejection {
        guard let rejection = whenKindTaken[kind] ?? whenTaken else {
            preconditionFailure(
                "A change that takes a claim must say what it means to be refused it.")
        }
        return rejection
    }

    package func notBefore(_ time: Timestamp) -> Change {
        guard let now, now < time else { return self }
        var later = self
        later.now = time
        return later
    }
}
