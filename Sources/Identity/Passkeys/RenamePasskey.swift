public import EventSourcing
public import Values

/// Gives a passkey the name that its owner knows it by.
public struct RenamePasskey: Command {
    public var passkey: UUID
    public var account: UUID
    public var name: String

    public init(passkey: UUID, account: UUID, name: String) {
        self.passkey = passkey
        self.account = account
        self.name = name
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is none, or it is another account's.
        case notFound
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Passkey> {
        try await .read(passkey, from: streams)
    }

    public func decide(_ facts: InRealm<Passkey>) throws(Rejection) -> Decision {
        guard facts.thing.alive(of: account) != nil else { throw .notFound }
        do {
            try TextRule.label(name, limit: 100)
        } catch {
            throw .invalid(FieldFault("DisplayName", error))
        }
        return Decision(PasskeyEvent.renamed(name, account: account), in: passkey)
    }
}
