public import Values

/// What a stream amounts to: its events, folded.
public protocol StreamState: Sendable {
    associatedtype Event: EventSourcing.Event
    init()
    /// Total: an event that happened cannot be refused.
    mutating func apply(_ event: Event)
}

/// A state and the version of the stream at which it holds. Version 0: there is no such stream.
public struct Versioned<State: StreamState>: Sendable {
    public let stream: UUID
    public let version: Int
    public let state: State

    public init(stream: UUID, version: Int, state: State) {
        self.stream = stream
        self.version = version
        self.state = state
    }

    public var exists: Bool { version > 0 }
}

/// Reads streams for a command. Every stream read is asserted when the command's events are
/// appended (optimistic concurrency), so a decision holds without a lock.
public protocol StreamReader: Sendable {
    func read<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State>

    /// The same for a stream whose name was made up for this command: it is taken to be new without
    /// looking, and the append finds out if it is not.
    func readNew<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State>
}

extension StreamReader {
    public func readNew<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State> {
        try await read(type, stream)
    }
}

/// An immutable request to change something, with one pure decision.
public protocol Command: Sendable {
    /// What the decision looks at.
    associatedtype Facts: Sendable
    /// Why the domain may say no.
    associatedtype Rejection: Error, Equatable, Sendable

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts

    /// What the realm has to be before anything is decided. It is asked on every attempt, first.
    func requireRealm(_ facts: Facts) throws(RealmRejection)

    /// No I/O, no clock, no chance: they came in with the command.
    func decide(_ facts: Facts) throws(Rejection) -> Decision

    /// What it means to this command that a claim is held by another.
    func rejection(takenClaim kind: String) -> Rejection

    /// The same command, decided at a time that is no earlier than this one: what it reads is known
    /// to have happened by then.
    func notBefore(_ time: Timestamp) -> Self

    /// The epoch of the log that the command speaks of by positions, if it does: it is refused as fenced in any
    /// other epoch, where other events stand at them.
    var epoch: Int? { get }
}

/// A command whose decision depends on the time: what is over, and until when what it makes is good.
public protocol TimedCommand: Command {
    /// The time of the decision. A node's clock may be behind events that are on record already: then it is
    /// the time of the latest of them.
    var now: Timestamp { get set }
}

extension TimedCommand {
    public func notBefore(_ time: Timestamp) -> Self {
        guard now < time else { return self }
        var later = self
        later.now = time
        return later
    }
}

extension Command {
    public var epoch: Int? { nil }

    /// For the many commands that take no claim and so can't hear that one is taken.
    public func rejection(takenClaim kind: String) -> Rejection {
        preconditionFailure("A command that takes a claim must say what it means to be refused it.")
    }

    /// For the commands that run in any realm, open or not.
    public func requireRealm(_ facts: Facts) throws(RealmRejection) {}

    /// For the many commands that don't look at the time.
    public func notBefore(_ time: Timestamp) -> Self { self }
}

/// What a command decided: events by stream, in order, and the claims that they take or release.
public struct Decision: Sendable, Equatable {
    public private(set) var events: [NewEvent] = []
    public private(set) var claims: [ClaimChange] = []

    public init() {}

    /// One event in one stream, the common case.
    public init(_ event: some Event, in stream: UUID, of subject: UUID? = nil) {
        append(event, in: stream, of: subject)
    }

    /// The subject is whose the event is, where the event itself does not say it.
    public mutating func append(_ event: some Event, in stream: UUID, of subject: UUID? = nil) {
        events.append(NewEvent(event, in: stream, of: subject))
    }

    /// All of another decision behind this one.
    public mutating func append(_ other: Decision) {
        events += other.events
        claims += other.claims
    }

    public mutating func take(_ claim: Claim, for stream: UUID) {
        claims.append(.take(claim, for: stream))
    }

    public mutating func release(_ claim: Claim, by stream: UUID) {
        claims.append(.release(claim, by: stream))
    }
}
