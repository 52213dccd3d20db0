public import EventSourcing
public import Values

/// Has a code mailed to a realm's owner before they turn on mailed codes for each passphrase
/// sign-in: so an owner is not locked out by a mailbox that they can't read.
public struct RequestMailedCode: TimedCommand {
    public var code: UUID
    public var digest: SecretDigest
    public var now: Timestamp

    public init(code: UUID, digest: SecretDigest, now: Timestamp) {
        self.code = code
        self.digest = digest
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case noOwner
    }

    public typealias Facts = OwnersCode

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnersCode {
        try await .read(from: streams)
    }

    public func decide(_ facts: OwnersCode) throws(Rejection) -> Decision {
        guard let code = facts.code, let account = facts.account, account.isWelcome,
            facts.owner.thing.state.isOnboarded
        else { throw .noOwner }
        return Decision(
            MailedCodeEvent.issued(
                IssuedMailedCode(
                    id: self.code, purpose: .secondFactor, account: account.stream,
                    digest: digest, issuedAt: now,
                    generation: account.state.proofGeneration)), in: code.stream)
    }
}
