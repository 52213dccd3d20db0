public import EventSourcing
public import Values

/// The replay guard of requests that tokens have signed: `RequestSequenceStore` over the database.
public protocol RequestSequences: Sendable {
    /// Takes a number for a token, on all nodes. False: that one was used, or a higher one.
    func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID
    ) async throws(LogFailure) -> Bool
}

/// For processes that answer no signed requests.
struct NoRequestSequences: RequestSequences {
    func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        throw .unavailable
    }
}
