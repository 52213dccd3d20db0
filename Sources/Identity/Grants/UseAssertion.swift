public import EventSourcing

/// Uses up a client's signed assertion where nothing else is put on record: on every node it was used then.
public struct UseAssertion: Command {
    public var assertion: UsedAssertion
    public var clientID: String

    public init(_ assertion: UsedAssertion, by clientID: String) {
        self.assertion = assertion
        self.clientID = clientID
    }

    public enum Rejection: Error, Equatable, Sendable {
        case used
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) {}

    public func decide(_ facts: Void) throws(Rejection) -> Decision {
        var decision = Decision()
        decision.take(assertion.claim(by: clientID), for: Realm.stream)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .used }
}
