internal import EventSourcing
internal import Identity
internal import Values

/// A stream of signals as its own events have it, with their positions: what happened while it was
/// disabled follows from them, and so does what the receiver is told of the stream itself.
struct KnownSignalStream: Sendable {
    /// Something that the receiver is told of the stream itself.
    struct Notice: Sendable {
        /// The stream's event that it comes of.
        let version: Int
        let position: Int64
        let command: UUID
        let type: String
        /// With `stream-updated`.
        var status: SignalStatus?
        var reason: String?
    }

    /// Its receiver asked for what happened after a position once more.
    struct Replay: Sendable {
        let version: Int
        let after: Int64
    }

    let id: UUID
    let realm: RealmID
    let terms: SignalTerms
    private(set) var state = SignalStream()
    private(set) var version = 0
    private(set) var notices: [Notice] = []
    private(set) var replays: [Replay] = []
    /// Nothing of what happened up to here is for the receiver.
    private(set) var floor: Int64
    /// The time since which the stream is enabled: earlier faults count no more.
    private(set) var enabledAt: Timestamp
    /// The position at which the stream was last disabled.
    private(set) var disabledAt: Int64 = 0

    /// Nil where there is no such stream, or none any more.
    init?(_ id: UUID, _ events: [Recorded]) throws(LogFailure) {
        guard let first = events.first, first.name == SignalStreamEvent.Form.created.name else {
            return nil
        }
        guard case .created(let terms, _)? = SignalStreamEvent(first) else { throw .damaged }
        self.id = id
        realm = first.realm
        enabledAt = first.at
        self.terms = terms
        floor = first.position
        for recorded in events {
            guard let event = SignalStreamEvent(recorded) else { throw .damaged }
            note(event, recorded)
            state.apply(event)
            version = recorded.version
        }
        if state.isDeleted { return nil }
    }

    private mutating func note(_ event: SignalStreamEvent, _ recorded: Recorded) {
        switch event {
        case .created: notices.append(notice(SignalOffer.verification, recorded))
        case .statusChanged(let status, let reason, let origin, _):
            let before = state.status
            if origin == .transmitter {
                var notice = notice(SignalOffer.streamUpdated, recorded)
                (notice.status, notice.reason) = (status, reason)
                notices.append(notice)
            }
            guard status != before else { return }
            if status == .disabled { disabledAt = recorded.position }
            if before == .disabled { floor = recorded.position }
            if status == .enabled {
                enabledAt = recorded.at
                notices.append(notice(SignalOffer.verification, recorded))
            }
        case .replayed(let after):
            replays.append(Replay(version: recorded.version, after: after))
        case .changed, .subjectAdded, .subjectRemoved, .deleted: break
        }
    }

    private func notice(_ type: String, _ recorded: Recorded) -> Notice {
        Notice(
            version: recorded.version, position: recorded.position, command: recorded.command,
            type: type)
    }
}
