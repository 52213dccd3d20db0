internal import EventSourcing
internal import Values

/// The codes that were mailed to one mailbox to sign in, to join or to reset a PIN, and the guesses at them.
///
/// A request for a code ends no code of another request: a client that asks for the same while a code is young has that
/// very code mailed again, so that few are good at once and a guess is a guess at few. Of codes of digits two are
/// good at most: one is repeated until it is as old as its lifetime, and good for one lifetime more.
struct LivingCodes: Sendable {
    /// One code of digits, however often it was mailed, or one link.
    private struct Living: Sendable {
        /// The code as it was mailed last.
        var code: IssuedCode
        let since: Timestamp
        var isConfirmed = false
        var wrongGuesses = 0
        var askers: [CodeAsker]
    }

    /// Of more links than these that wait to be confirmed no other one is sent.
    static let mostLinks = 16
    /// What a mailbox has at once, with codes that too many guesses ended: the oldest of more is forgotten.
    private static let most = 32
    private static let mostAskers = 8

    /// The valid codes, the newest last.
    private var codes: [Living] = []
    private(set) var refusals = RecentGuesses()

    mutating func issue(_ code: IssuedCode) {
        let asker = CodeAsker(code.person, from: code.source)
        if let place = codes.firstIndex(where: { $0.code.isSame(as: code) }) {
            var known = codes.remove(at: place)
            known.code = code
            codes.append(known)
            return ask(code.id, asker)
        }
        codes.removeAll {
            $0.code.expiresAt <= code.issuedAt || $0.code.generation != code.generation
        }
        if codes.count == Self.most { codes.removeFirst() }
        codes.append(Living(code: code, since: code.issuedAt, askers: [asker]))
    }

    mutating func ask(_ id: UUID, _ asker: CodeAsker) {
        guard let place = codes.firstIndex(where: { $0.code.id == id }),
            codes[place].askers.count < Self.mostAskers, !codes[place].askers.contains(asker)
        else { return }
        codes[place].askers.append(asker)
    }

    func knows(_ asker: CodeAsker, of id: UUID) -> Bool {
        guard let code = living(id) else { return true }
        return code.askers.contains(asker) || code.askers.count >= Self.mostAskers
    }

    func joiner(of id: UUID, from source: String?) -> Person? {
        guard let code = living(id) else { return nil }
        var person = code.code.person
        let near = code.askers.filter { $0.source != nil && $0.source == source }
        let names = Set((near.isEmpty ? code.askers : near).map(\.names))
        (person.firstName, person.lastName) = (nil, nil)
        // Of so many there may be more, under other names.
        let isKnown = !near.isEmpty || code.askers.count < Self.mostAskers
        guard names.count == 1, isKnown, let only = names.first else { return person }
        return only.naming(person)
    }

    /// A wrong guess was one at every code of digits of the same kind that was good then.
    mutating func refuse(_ id: UUID, at moment: Timestamp) {
        refusals.add(moment)
        guard let kind = living(id)?.code.isForPINReset else { return }
        for place in codes.indices
        where codes[place].code.isForPINReset == kind && codes[place].code.base == nil
            && moment < codes[place].code.expiresAt
        {
            codes[place].wrongGuesses += 1
        }
    }

    /// Its person is there: what else was mailed for the same is of no use.
    mutating func redeem(_ id: UUID) {
        if let kind = living(id)?.code.isForPINReset {
            codes.removeAll { $0.code.isForPINReset == kind }
        }
        refusals = RecentGuesses()
    }

    mutating func confirm(_ id: UUID) {
        guard let place = codes.firstIndex(where: { $0.code.id == id }) else { return }
        codes[place].isConfirmed = true
    }

    mutating func end() { codes = [] }

    // MARK: - What is good

    func newest(where isMeant: (IssuedCode) -> Bool) -> IssuedCode? {
        codes.last { isMeant($0.code) }?.code
    }

    /// The valid codes, the newest first.
    func live(at now: Timestamp, _ attempts: Int64, _ generation: Int) -> [IssuedCode] {
        codes.reversed().filter {
            now < $0.code.expiresAt && $0.wrongGuesses < attempts
                && $0.code.generation == generation
        }.map(\.code)
    }

    func holds(_ code: IssuedCode) -> Bool { codes.contains { $0.code.isSame(as: code) } }

    func isConfirmed(_ id: UUID) -> Bool { living(id)?.isConfirmed ?? false }

    func firstIssued(_ code: IssuedCode) -> Timestamp? { living(code.id)?.since }

    private func living(_ id: UUID) -> Living? { codes.first { $0.code.id == id } }
}

extension IssuedCode {
    fileprivate var isForPINReset: Bool { purpose == .pinReset }

    /// Whether the digits are those of another mail for the same.
    fileprivate func isSame(as other: IssuedCode) -> Bool {
        root == other.root && purpose == other.purpose && generation == other.generation
    }
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
