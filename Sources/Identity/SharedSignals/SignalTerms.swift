internal import EventSourcing
public import Values

/// What holds of a stream of signals for as long as there is one.
public struct SignalTerms: Sendable, Equatable {
    /// The client that receives.
    public var client: UUID
    public var clientID: String
    /// Of all its signals.
    public var issuer: String
    /// Which of its client's streams it is: there are so many and no more.
    public var slot: Int
    public var defaultSubjects: DefaultSubjects

    public init(
        client: UUID, clientID: String, issuer: String, slot: Int,
        defaultSubjects: DefaultSubjects = .all
    ) {
        self.client = client
        self.clientID = clientID
        self.issuer = issuer
        self.slot = slot
        self.defaultSubjects = defaultSubjects
    }

    /// How many streams a client may have.
    public static let mostPerClient = 10

    /// Held by each stream, so that no two requests at once make one too many.
    var claim: Claim { Claim("ssf_stream", "\(client)/\(slot)") }
}

/// The subjects of a stream before its receiver adds any.
public enum DefaultSubjects: String, Sendable, CaseIterable {
    case all = "ALL"
    case none = "NONE"
}
