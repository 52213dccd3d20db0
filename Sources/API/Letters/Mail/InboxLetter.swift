public import Values

/// A letter that came to the inbox of a development run.
public struct InboxLetter: Sendable {
    public let id: UUID
    public let letter: Letter
    public let at: Timestamp

    public init(_ letter: Letter, id: UUID, at: Timestamp) {
        self.letter = letter
        self.id = id
        self.at = at
    }
}
