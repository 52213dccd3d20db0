public import EventSourcing
public import Values

/// A mail address or a phone number in a realm. Its stream follows from the address under the realm's key, so that it
/// is found without a look-up, and the address cannot be read from it.
public struct Mailbox: StreamState {
    /// The account that holds it.
    public private(set) var account: UUID?
    /// Whose is what is mailed to it, where that is not the mailbox itself: the key of an earlier holder
    /// may be gone.
    public private(set) var subject: UUID?
    /// The codes to sign in or to join with, and to reset a PIN: a newer one ends none of those before. Codes
    /// that move accounts here are kept apart, so that a request to move here does not keep the mailbox's owner
    /// from joining.
    private var codes = LivingCodes()
    /// The codes that move accounts here, one for each account, newest last.
    private var moves: [IssuedCode] = []
    private var wrongMoves: [UUID: Int] = [:]
    private var moveRefusals = RecentGuesses()
    /// The links that were mailed and not used, newest last: a request for another link ends none of them.
    private var links: [IssuedLink] = []
    /// The invite that lets it join.
    public private(set) var invitation: Invitation?

    public init() {}

    /// Of more accounts than these that want to move here the first ones have to ask again.
    private static let mostMoves = 16

    /// Of more links than these that are good at once no other one is mailed.
    static let mostLinks = 8

    /// The code that was mailed last, to sign in, to join or to reset a PIN, unless it was used.
    public var code: IssuedCode? { codes.newest { _ in true } }
    /// The link that was mailed last, unless it was used.
    var newestLink: IssuedLink? { links.last }

    public mutating func apply(_ event: MailboxEvent) {
        switch event {
        case .assigned(let account):
            self.account = account
            endProofs()
        case .released(let account, let next):
            if self.account == account { self.account = nil }
            subject = next ?? subject
            endProofs()
        case .codeIssued(let code):
            guard let account = code.account else { return codes.issue(code) }
            drop { $0.account == account || $0.expiresAt <= code.issuedAt }
            if moves.count == Self.mostMoves, let oldest = moves.first {
                drop { $0.id == oldest.id }
            }
            moves.append(code)
        case .codeRenamed(let id, let person, let source):
            codes.ask(id, CodeAsker(person, from: source))
        case .codeRefused(let id, let at):
            guard moves.contains(where: { $0.id == id }) else { return codes.refuse(id, at: at) }
            wrongMoves[id, default: 0] += 1
            moveRefusals.add(at)
        case .codeConfirmed(let id): codes.confirm(id)
        case .codeRedeemed(let id):
            guard moves.contains(where: { $0.id == id }) else { return codes.redeem(id) }
            drop { $0.id == id }
            moveRefusals = RecentGuesses()
        case .invited(let invitation): self.invitation = invitation
        case .linkIssued(let link):
            links.removeAll { $0.expiresAt <= link.issuedAt || $0.generation != link.generation }
            links.append(link)
        // Its person signed in: the others are of no use.
        case .linkRedeemed(let id):
            if links.contains(where: { $0.id == id }) { links = [] }
        }
    }

    /// A mailed code or link proves the mailbox of the account that held it then, or of none.
    private mutating func endProofs() {
        codes.end()
        moves = []
        wrongMoves = [:]
        links = []
        invitation = nil
    }

    private mutating func drop(_ isOver: (IssuedCode) -> Bool) {
        for code in moves where isOver(code) { wrongMoves[code.id] = nil }
        moves.removeAll(where: isOver)
    }

    /// Too many wrong guesses of late: no code is sent, and none is taken.
    func isResting(at now: Timestamp) -> Bool { codes.refusals.isFull(at: now) }

    /// The same of codes that move accounts here.
    func isRestingFromMoves(at now: Timestamp) -> Bool { moveRefusals.isFull(at: now) }

    /// The codes that a guess may be made at, to sign in with an account of this generation of proofs, or
    /// to join, newest first.
    func liveCodes(at now: Timestamp, attempts: Int64, generation: Int) -> [IssuedCode] {
        isResting(at: now)
            ? [] : codes.live(at: now, attempts, generation).filter { $0.purpose != .pinReset }
    }

    /// The codes that a guess may be made at, to reset a PIN of an account of this generation of proofs.
    func livePINResets(at now: Timestamp, attempts: Int64, generation: Int) -> [IssuedCode] {
        isResting(at: now)
            ? [] : codes.live(at: now, attempts, generation).filter { $0.purpose == .pinReset }
    }

    /// The code that is mailed again where one for the same is asked for, while it is no older than a code may get.
    func repeatableCode(
        like code: IssuedCode, at now: Timestamp, attempts: Int64
    ) -> IssuedCode? {
        guard code.base == nil else { return nil }
        let lifetime = code.expiresAt.seconds - code.issuedAt.seconds
        return codes.live(at: now, attempts, code.generation).first {
            $0.base == nil && $0.purpose == code.purpose
                && codes.firstIssued($0).map { now < $0.adding(seconds: lifetime) } ?? false
        }
    }

    func newestCode(where isMeant: (IssuedCode) -> Bool) -> IssuedCode? {
        codes.newest(where: isMeant)
    }

    /// The code of the same kind that was mailed last, unless it was used.
    func newestCode(isForPINReset: Bool) -> IssuedCode? {
        codes.newest { ($0.purpose == .pinReset) == isForPINReset }
    }

    /// Whether so many links wait to be confirmed that no other one is sent.
    func hasMostLinks(at now: Timestamp, generation: Int) -> Bool {
        codes.live(at: now, .max, generation).count { $0.base != nil } >= LivingCodes.mostLinks
    }

    /// The links by which an account can be signed in to now, newest first.
    public func liveLinks(of account: Account, at now: Timestamp) -> [IssuedLink] {
        links.reversed().filter { $0.isLive(of: account, at: now) }
    }

    /// Whether no other code ended this one, and it was not used.
    public func holds(_ code: IssuedCode) -> Bool {
        codes.holds(code) || moves.contains { $0.id == code.id }
    }

    /// Whether its link was opened, so that the page that asked for it may go on.
    public func isConfirmed(_ id: UUID) -> Bool { codes.isConfirmed(id) }

    /// The code that is confirmed by this link.
    public func code(ofLink shown: ShownSecret) -> IssuedCode? {
        codes.newest { $0.base != nil && shown.matches($0.digest) }
    }

    /// Whether this link was mailed and is not used.
    public func holds(_ link: IssuedLink) -> Bool { links.contains { $0.id == link.id } }

    /// The person of a new account, where the request that redeems the code has no names. A
    /// stranger who knows the address may have asked for a code as well, so only names without
    /// contradiction count: of the requests from the network that the code is redeemed from, or of
    /// all where none came from there.
    func joiner(of code: IssuedCode, from source: String?) -> Person? {
        codes.joiner(of: code.id, from: source)
    }

    /// Whether it is known already that the code was asked for like this, or by so many that it does not
    /// matter any more.
    func wasAsked(for code: IssuedCode, by asker: CodeAsker) -> Bool {
        codes.knows(asker, of: code.id)
    }

    /// The last code that was mailed to move this account here, unless it was used.
    func move(of account: Versioned<Account>) -> IssuedCode? {
        moves.last {
            $0.account == account.stream && $0.generation == account.state.proofGeneration
        }
    }

    /// The code that a guess may be made at, to move this account here.
    func liveMove(
        of account: Versioned<Account>, at now: Timestamp, attempts: Int64
    ) -> IssuedCode? {
        guard let code = move(of: account), now < code.expiresAt,
            wrongMoves[code.id, default: 0] < attempts, !isRestingFromMoves(at: now)
        else { return nil }
        return code
    }
}

extension Versioned<Mailbox> {
    /// The subject of the mails to this mailbox.
    var subject: UUID { state.subject ?? stream }
}

/// When the last wrong guesses were made, across all codes. They are events: another node, a
/// restart or another code does not reset them.
struct RecentGuesses: Sendable {
    /// Maximum number of wrong guesses within an hour; above it no code is accepted.
    static let most = 10
    static let span: Int64 = 3_600

    /// Times of the wrong guesses, the newest last.
    private var moments: [Timestamp] = []

    mutating func add(_ moment: Timestamp) {
        moments = moments.suffix(Self.most - 1) + [moment]
    }

    func isFull(at now: Timestamp) -> Bool {
        guard moments.count == Self.most, let oldest = moments.first else { return false }
        return now < oldest.adding(seconds: Self.span)
    }
}
