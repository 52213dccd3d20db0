public import EventSourcing
public import Values

/// Says that a realm's owner reads his mailbox: for a while a code of ours stands for those that would be
/// mailed to him. It is for whoever has just mailed him something himself.
public struct VouchForMailbox: TimedCommand {
    public var code: UUID
    public var now: Timestamp

    public static let lifetime: Int64 = 900

    public init(code: UUID, now: Timestamp) {
        self.code = code
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        /// The realm is nobody's.
        case noOwner
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnersCode {
        try await .read(from: streams)
    }

    public func decide(_ facts: OwnersCode) throws(Rejection) -> Decision {
        try facts.owner.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard let account = facts.account else { throw .noOwner }
        return Decision(
            OwnerEvent.mailboxVouched(
                TimedName(
                    code, until: now.adding(seconds: Self.lifetime),
                    generation: account.state.proofGeneration)), in: Owner.stream)
    }
}
