public import EventSourcing
public import Values

/// Writes down that an installation has everything. One that says so all the time is written down once
/// a minute.
public struct MarkSynchronized: TimedCommand {
    public static let pause: Int64 = 60

    public var installation: UUID
    public var now: Timestamp

    public init(installation: UUID, now: Timestamp) {
        self.installation = installation
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        case notFound
    }

    public struct Facts: Sendable {
        let inRealm: InRealm<Client>
        let use: Versioned<InstallationUse>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            inRealm: try await .read(installation, from: streams),
            use: try await streams.read(
                InstallationUse.self, InstallationUse.stream(of: installation)))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        try facts.inRealm.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard facts.inRealm.thing.installation(at: now) != nil else { throw .notFound }
        if let last = facts.use.state.synchronizedAt, now < last.adding(seconds: Self.pause) {
            return Decision()
        }
        return Decision(
            InstallationUseEvent.synchronized(installation, at: now), in: facts.use.stream)
    }
}
