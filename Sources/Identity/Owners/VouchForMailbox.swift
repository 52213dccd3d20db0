public import EventSourcing
public import Values

/// Vouches that a realm's owner reads their mailbox: for a while a code of ours replaces those that
/// would be mailed to them. It is for a caller that has just mailed the owner something itself.
public struct VouchForMailbox: TimedCommand {
    public var code: UUID
    public var now: Timestamp

    public static let lifetime: Int64 = 900

    public init(code: UUID, now: Timestamp) {
        self.code = code
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The realm has no owner.
        case noOwner
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnersCode {
        try await .read(from: streams)
    }

    public func decide(_ facts: OwnersCode) throws(Rejection) -> Decision {
        guard let account = facts.account else { throw .noOwner }
        return Decision(
            OwnerEvent.mailboxVouched(
                TimedName(
                    code, until: now.adding(seconds: Self.lifetime),
                    generation: account.state.proofGeneration)), in: Owner.stream)
    }
}
