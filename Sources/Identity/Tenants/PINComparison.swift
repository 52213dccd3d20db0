internal import EventSourcing
internal import Values

/// How a typed PIN compares with what the log keeps. The adapter compares, because that takes a while; the
/// decision sees to it that this is still what the log keeps.
public enum PINComparison: Equatable, Sendable {
    case right(hash: String)
    case wrong(hash: String)
    /// The person has no PIN to compare with.
    case nothing
}

extension OwnMethods {
    enum PINProof {
        /// With what has to be put on record, if anything.
        case right(TenantMethodEvent?)
        case wrong(TenantMethodEvent)
    }

    /// While it is locked, the answer does not tell whether the PIN is right.
    func examine(
        _ comparison: PINComparison, of owner: MethodOwner, at now: Timestamp
    ) throws(TenantMethodRejection) -> PINProof {
        guard let kept = methods.state.pin else { throw .notEnrolled }
        guard !methods.state.isLocked else { throw .pinLocked }
        switch comparison {
        case .right(let hash) where hash == kept:
            let used = TenantMethodEvent.pinUsed(account: owner.account, client: owner.client)
            return .right(methods.state.wasGuessed ? used : nil)
        case .wrong(let hash) where hash == kept:
            return .wrong(
                .pinRefused(account: owner.account, client: owner.client, at: now))
        // It was changed just now.
        case .right, .wrong, .nothing: throw .wrongPIN
        }
    }
}
