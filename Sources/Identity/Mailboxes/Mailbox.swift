public import EventSourcing
public import Values

/// A mail address in a realm. Its stream follows from the address under the realm's key, so that it
/// is found without a look-up, and nobody can read the address from it.
public struct Mailbox: StreamState {
    /// The account that holds it.
    public private(set) var account: UUID?
    /// Whose is what is mailed to it, where that is not the mailbox itself: the key of an earlier holder
    /// may be gone.
    public private(set) var subject: UUID?
    /// The one code that can be redeemed.
    public private(set) var code: IssuedCode?
    /// The one link that can be redeemed.
    public private(set) var link: IssuedLink?
    /// The invite that lets it join.
    public private(set) var invitation: Invitation?
    /// Wrong guesses at that code.
    public private(set) var wrongGuesses = 0
    /// When the last wrong guesses were made, whatever the code: newest last.
    private var refusals: [Timestamp] = []

    public init() {}

    /// More wrong guesses than this within an hour, and the mailbox rests until some are older.
    static let guessesPerHour = 10

    public mutating func apply(_ event: MailboxEvent) {
        switch event {
        case .assigned(let account):
            self.account = account
            invitation = nil
        case .released(let account, let next):
            if self.account == account { self.account = nil }
            subject = next ?? subject
            code = nil
            link = nil
            invitation = nil
        case .codeIssued(let code):
            self.code = code
            wrongGuesses = 0
        case .codeRenamed(let id, let person):
            if code?.id == id { code?.person = person }
        case .codeRefused(let id, let at):
            if code?.id == id { wrongGuesses += 1 }
            refusals = refusals.suffix(Self.guessesPerHour - 1) + [at]
        case .codeRedeemed(let id):
            if code?.id == id { code = nil }
            refusals = []
        case .invited(let invitation): self.invitation = invitation
        case .linkIssued(let link): self.link = link
        case .linkRedeemed(let id):
            if link?.id == id { link = nil }
        }
    }

    /// Too many wrong guesses of late: no code is sent, and none is taken.
    func isResting(at now: Timestamp) -> Bool {
        guard refusals.count == Self.guessesPerHour, let oldest = refusals.first else {
            return false
        }
        return now < oldest.adding(seconds: 3_600)
    }

    /// The code that a guess may be made at.
    func liveCode(at now: Timestamp, attempts: Int64) -> IssuedCode? {
        guard let code, now < code.expiresAt, wrongGuesses < attempts, !isResting(at: now) else {
            return nil
        }
        return code
    }
}

extension Versioned<Mailbox> {
    /// Whose is what is mailed to it.
    var subject: UUID { state.subject ?? stream }
}
