internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Whose state is asked for, and what it is made of.
struct AsOfSubject: Sendable {
    enum Streams: Sendable {
        /// One stream alone.
        case one(UUID)
        /// All that are about an account.
        case about(UUID)
    }

    let streams: Streams
    let kinds: Set<AsOfKind>
    /// The problem of a subject without events.
    let missing: ProblemKind

    static func account(_ id: UUID) -> AsOfSubject {
        AsOfSubject(streams: .one(id), kinds: [.account], missing: .noSuchAccount)
    }

    static func client(_ id: UUID) -> AsOfSubject {
        AsOfSubject(streams: .one(id), kinds: [.client], missing: .noSuchClient)
    }

    static func session(_ id: UUID) -> AsOfSubject {
        AsOfSubject(streams: .one(id), kinds: [.session, .browser], missing: .noSuchSession)
    }

    static func sessions(of account: UUID) -> AsOfSubject {
        AsOfSubject(
            streams: .about(account), kinds: [.account, .session, .browser],
            missing: .noSuchAccount)
    }

    static func credentials(of account: UUID) -> AsOfSubject {
        AsOfSubject(
            streams: .about(account),
            kinds: [.account, .passkey, .twoFactor, .passphrase, .identity],
            missing: .noSuchAccount)
    }

    var fold: AsOfFold {
        switch streams {
        case .one: AsOfFold(of: kinds)
        case .about(let account): AsOfFold(of: kinds, account: account)
        }
    }
}

extension Call<AdminContext> {
    /// What the subject is made of, up to a moment, in the order of the log.
    func events(of subject: AsOfSubject, upTo moment: AsOfMoment) async throws(Problem)
        -> [Recorded]
    {
        let realm = try realm
        let events: [Recorded]
        switch subject.streams {
        case .one(let stream): events = try await whole(stream, in: realm)
        case .about(let account):
            try await wait(for: .eventIndex, upTo: moment)
            events = try await self.events(about: account, subject.kinds, upTo: moment, in: realm)
        }
        let wanted = events.filter { event in
            event.position <= moment.position
                && AsOfKind(ofEvent: event.name).map(subject.kinds.contains) == true
        }
        guard !wanted.isEmpty else {
            try await knownRealm()
            throw Problem(subject.missing, "There was none at position \(moment.position).")
        }
        return wanted
    }

    func wait(for list: FollowingList, upTo moment: AsOfMoment) async throws(Problem) {
        let realm = try realm
        guard moment.position > 0 else { return }
        let reached = try await context.ask(
            FollowedPosition.reached, (list, moment.position, moment.epoch), in: realm)
        switch reached {
        case .yes: return
        case .notYet(let now): throw Problem(notReached: moment.position, now)
        case .never: throw Problem(.positionLost)
        }
    }

    private func whole(_ stream: UUID, in realm: RealmID) async throws(Problem) -> [Recorded] {
        try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(stream, after: 0, in: realm)
        }
    }

    /// By the index. A stream of which it knows a part alone, because it was another account's before, is read
    /// as a whole.
    private func events(
        about account: UUID, _ kinds: Set<AsOfKind>, upTo moment: AsOfMoment, in realm: RealmID
    ) async throws(Problem) -> [Recorded] {
        var streams: [UUID: [Recorded]] = [:]
        let pageSize = 1000
        var position: Int64 = 0
        while position < moment.position {
            let place = position
            let (found, page) = try await reading { () throws(LogFailure) in
                let found = try await context.queries.ask(
                    EventReferences.positions, (EventReferences(account: account), place, pageSize),
                    in: realm)
                return (
                    found.value, try await context.commands.events.page(at: found.value, in: realm)
                )
            }
            guard page.events.count == found.count else { throw Problem(.logDamaged) }
            for event in page.events where AsOfKind(ofEvent: event.name).map(kinds.contains) == true
            {
                streams[event.stream, default: []].append(event)
            }
            guard let last = found.last, found.count == pageSize else { break }
            position = last
        }
        for (stream, known) in streams
        where zip(known, 1...).contains(where: { $0.version != $1 }) {
            streams[stream] = try await whole(stream, in: realm)
        }
        return streams.values.joined().sorted { $0.position < $1.position }
    }
}
