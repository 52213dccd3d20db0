public import EventSourcing

/// Changes the hint of an owner's passphrase.
public struct ChangeHint: Command {
    /// The new hint; nil removes it.
    public var hint: String?

    public init(_ hint: String?) {
        self.hint = hint
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is no passphrase to be reminded of.
        case noPassphrase
        case invalid(FieldFault)
    }

    static let longest = 500

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnersPassphrase {
        try await .read(from: streams)
    }

    public func decide(_ facts: OwnersPassphrase) throws(Rejection) -> Decision {
        guard let account = facts.account, let passphrase = facts.passphrase,
            let derived = passphrase.state.derived
        else { throw .noPassphrase }
        if let hint {
            guard (1...Self.longest).contains(hint.utf8.count), !hint.utf8.contains(0) else {
                throw .invalid(FieldFault("hint", .malformed))
            }
        }
        guard derived.hint != hint else { return Decision() }
        return Decision(
            PassphraseEvent.hintChanged(hint, account: account.stream), in: passphrase.stream)
    }
}
