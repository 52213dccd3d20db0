public import EventSourcing
public import Values

/// Uses a delegated code up for a browser.
public struct UseDelegatedCode: Command {
    public var code: UUID

    public init(_ code: UUID) {
        self.code = code
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The code does not exist, or was used.
        case codeOver
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<DelegatedCode> {
        try await .read(code, from: streams)
    }

    public func decide(_ facts: InRealm<DelegatedCode>) throws(Rejection) -> Decision {
        guard facts.thing.state.terms != nil, !facts.thing.state.isUsed else { throw .codeOver }
        return Decision(DelegatedCodeEvent.used(installation: .zero), in: code)
    }
}
