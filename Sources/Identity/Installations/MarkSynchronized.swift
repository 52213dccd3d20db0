public import EventSourcing
public import Values

/// Records that an installation has synchronized all data. A repeated report is recorded at most once
/// a minute.
public struct MarkSynchronized: TimedCommand {
    public static let pause: Int64 = 60

    public var installation: UUID
    public var now: Timestamp

    public init(installation: UUID, now: Timestamp) {
        self.installation = installation
        self.now = now
    }

    public typealias Rejection = NotFound<Client>

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Client>
        let use: Versioned<InstallationUse>

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            inRealm: try await .read(installation, from: streams),
            use: try await streams.read(
                InstallationUse.self, InstallationUse.stream(of: installation)))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.inRealm.thing.installation(at: now) != nil else { throw .notFound }
        if let last = facts.use.state.synchronizedAt, now < last.adding(seconds: Self.pause) {
            return Decision()
        }
        return Decision(
            InstallationUseEvent.synchronized(installation, at: now), in: facts.use.stream)
    }
}
