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
    /// The code to sign in or to join with, or to reset a PIN: a newer one of these ends the one before. Codes
    /// that move accounts here are kept apart, so that a request to move here does not keep the mailbox's owner
    /// from joining.
    private var codes = GuessedCode()
    /// The codes that move accounts here, one for each account, newest last.
    private var moves: [IssuedCode] = []
    private var wrongMoves: [UUID: Int] = [:]
    private var moveRefusals = RecentGuesses()
    /// The one link that can be redeemed.
    public private(set) var link: IssuedLink?
    /// The invite that lets it join.
    public private(set) var invitation: Invitation?

    public init() {}

    /// Of more accounts than these that want to move here the first ones have to ask again.
    private static let mostMoves = 16

    /// The one code to sign in or to join with, or to reset a PIN, that can be redeemed.
    public var code: IssuedCode? { codes.code }

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
        case .linkIssued(let link): self.link = link
        case .linkRedeemed(let id):
            if link?.id == id { link = nil }
        }
    }

    /// A mailed code or link proves the mailbox of the account that held it then, or of none.
    private mutating func endProofs() {
        codes.end()
        moves = []
        wrongMoves = [:]
        link = nil
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

    /// The code that a guess may be made at, to sign in with an account of this generation of proofs, or
    /// to join.
    func liveCode(at now: Timestamp, attempts: Int64, generation: Int) -> IssuedCode? {
        guard let code = live(at: now, attempts, generation), code.purpose != .pinReset else {
            return nil
        }
        return code
    }

    /// The code that a guess may be made at, to reset a PIN of an account of this generation of proofs.
    func livePINReset(at now: Timestamp, attempts: Int64, generation: Int) -> IssuedCode? {
        guard let code = live(at: now, attempts, generation), code.purpose == .pinReset else {
            return nil
        }
        return code
    }

    private func live(
        at now: Timestamp, _ attempts: Int64, _ generation: Int
    ) -> IssuedCode? {
        guard let code, now < code.expiresAt, codes.wrongGuesses < attempts,
            code.generation == generation, !isResting(at: now)
        else { return nil }
        return code
    }

    /// Whether no other code took the place of this one, and it was not used.
    public func holds(_ code: IssuedCode) -> Bool {
        self.code?.id == code.id || moves.contains { $0.id == code.id }
    }

    /// Whether its link was opened, so that the page that asked for it may go on.
    public func isConfirmed(_ id: UUID) -> Bool { codes.confirmed == id && code?.id == id }

    /// The person of a new account, where the request that redeems the code has no names. A
    /// stranger who knows the address may have asked for a code as well, so only names without
    /// contradiction count: of the requests from the network that the code is redeemed from, or of
    /// all where none came from there.
    func joiner(from source: String?) -> Person? { codes.joiner(from: source) }

    /// Whether it is known already that the code was asked for like this, or by so many that it does not
    /// matter any more.
    func wasAsked(by asker: CodeAsker) -> Bool { codes.knows(asker) }

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
    /// Whose is what is mailed to it.
    var subject: UUID { state.subject ?? stream }
}

/// The code to sign in or to join with, or to reset a PIN, and the guesses at it and at those before.
private struct GuessedCode: Sendable {
    private(set) var code: IssuedCode?
    /// Its name, once it was confirmed.
    private(set) var confirmed: UUID?
    private(set) var wrongGuesses = 0
    private(set) var refusals = RecentGuesses()
    private var askers: [CodeAsker] = []

    private static let mostAskers = 8

    mutating func issue(_ code: IssuedCode) {
        self.code = code
        confirmed = nil
        askers = [CodeAsker(code.person, from: code.source)]
        wrongGuesses = 0
    }

    mutating func ask(_ id: UUID, _ asker: CodeAsker) {
        if code?.id == id, !knows(asker) { askers.append(asker) }
    }

    func knows(_ asker: CodeAsker) -> Bool {
        askers.contains(asker) || askers.count >= Self.mostAskers
    }

    func joiner(from source: String?) -> Person? {
        guard var person = code?.person else { return nil }
        let near = askers.filter { $0.source != nil && $0.source == source }
        let names = Set((near.isEmpty ? askers : near).map(\.names))
        (person.firstName, person.lastName) = (nil, nil)
        guard names.count == 1, let only = names.first else { return person }
        return only.naming(person)
    }

    mutating func refuse(_ id: UUID, at moment: Timestamp) {
        if code?.id == id { wrongGuesses += 1 }
        refusals.add(moment)
    }

    mutating func redeem(_ id: UUID) {
        if code?.id == id { code = nil }
        refusals = RecentGuesses()
    }

    mutating func confirm(_ id: UUID) {
        if code?.id == id { confirmed = id }
    }

    mutating func end() { code = nil }
}

/// A request for a code: its names and its network.
struct CodeAsker: Sendable, Equatable {
    let names: JoinerNames
    let source: String?

    init(_ person: Person, from source: String?) {
        names = JoinerNames(of: person)
        self.source = source
    }
}

/// When the last wrong guesses were made, across all codes. They are events: another node, a
/// restart or another code does not reset them.
struct RecentGuesses: Sendable {
    /// More than these within an hour, and none is taken until some are older.
    static let most = 10
    static let span: Int64 = 3_600

    /// Newest last.
    private var moments: [Timestamp] = []

    mutating func add(_ moment: Timestamp) {
        moments = moments.suffix(Self.most - 1) + [moment]
    }

    func isFull(at now: Timestamp) -> Bool {
        guard moments.count == Self.most, let oldest = moments.first else { return false }
        return now < oldest.adding(seconds: Self.span)
    }
}
