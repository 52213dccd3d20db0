public import EventSourcing
public import Values

/// The replay guard of requests that tokens have signed: `RequestSequenceStore` over the database.
public protocol RequestSequences: Sendable {
    /// Takes a number for a token, on all nodes. False: that number or a higher one was used (replay).
    func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID
    ) async throws(LogFailure) -> Bool

    /// Remembers what a token or a device has signed without a number, on all nodes. False: it was shown before, or
    /// so many of it are remembered that there is no room.
    func remember(
        _ digest: [UInt8], of token: UUID, most: Int32, lasts: Bool, in realm: RealmID
    ) async throws(LogFailure) -> Bool
}
