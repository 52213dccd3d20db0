public import EventSourcing
public import Values

/// The codes that are good now for one purpose of one account: each until its own end, so that of two
/// sign-ins that are under way neither ends the other's. Guesses at all of them are counted together.
public struct MailedCode: StreamState {
    public enum Purpose: String, Sendable, CaseIterable {
        /// Beside a passphrase.
        case secondFactor = "second_factor"
        /// That an installation may be trusted for which no store vouches. An installation has one: another
        /// takes its place.
        case certification
    }

    public static let lifetime: Int64 = 900
    public static let attempts = 5
    /// Maximum number of remembered codes; older ones are forgotten.
    private static let most = 20

    /// The valid codes, the newest last.
    private var live: [IssuedMailedCode] = []
    private var wrongGuesses: [UUID: Int] = [:]
    private var refusals = RecentGuesses()

    public init() {}

    /// Follows from the account, so that it needs no look-up. What is typed is digested for such a name
    /// as well: that of the account, or of the installation that is certified.
    public static func stream(of holder: UUID, _ purpose: Purpose) -> UUID {
        let mark: UInt64 =
            switch purpose {
            case .secondFactor: 0x0000_6D32_0000_0000
            case .certification: 0x0000_6D63_0000_0000
            }
        return UUID(high: holder.high, low: holder.low ^ mark)
    }

    public mutating func apply(_ event: MailedCodeEvent) {
        switch event {
        case .issued(let code):
            // What ended the proofs before needed more than guesses.
            if let last = live.last, last.generation != code.generation {
                refusals = RecentGuesses()
            }
            drop {
                $0.expiresAt <= code.issuedAt || $0.generation != code.generation
                    || $0.installation != nil && $0.installation == code.installation
            }
            if live.count == Self.most, let oldest = live.first { drop { $0.id == oldest.id } }
            live.append(code)
        case .refused(let id, let at):
            if live.contains(where: { $0.id == id }) { wrongGuesses[id, default: 0] += 1 }
            refusals.add(at)
        case .redeemed(let id):
            drop { $0.id == id }
            refusals = RecentGuesses()
        }
    }

    private mutating func drop(_ isOver: (IssuedMailedCode) -> Bool) {
        for code in live where isOver(code) { wrongGuesses[code.id] = nil }
        live.removeAll(where: isOver)
    }

    /// The code that was typed, where its name was not: the one of these digits, or the last one, for
    /// which it counts as a guess.
    public func code(
        typedAs shown: ShownSecret, of account: Account, at now: Timestamp
    ) -> UUID? {
        let known = live.compactMap { code($0.id, of: account, at: now) }
        return (known.last { shown.matches($0.digest) } ?? known.last)?.id
    }

    /// Whether no other code took the place of this one, and it was not used.
    public func holds(_ id: UUID) -> Bool { live.contains { $0.id == id } }

    /// The code of this name, while it can be typed.
    func code(_ id: UUID, of account: Account, at now: Timestamp) -> IssuedMailedCode? {
        guard let code = live.last(where: { $0.id == id }), now < code.expiresAt,
            wrongGuesses[id, default: 0] < Self.attempts, !refusals.isFull(at: now),
            code.generation == account.proofGeneration
        else { return nil }
        return code
    }
}

public struct IssuedMailedCode: Sendable, Equatable {
    /// The digits follow from it under the realm's key. It is the name of its mail as well.
    public var id: UUID
    public var purpose: MailedCode.Purpose
    public var account: UUID
    public var digest: SecretDigest
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp
    /// The installation that the code certifies, if any.
    public var installation: UUID?
    /// Of the account's proofs, as it was then.
    public var generation: Int

    public init(
        id: UUID, purpose: MailedCode.Purpose, account: UUID, digest: SecretDigest,
        issuedAt: Timestamp, installation: UUID? = nil, generation: Int = 0
    ) {
        self.installation = installation
        self.generation = generation
        self.id = id
        self.purpose = purpose
        self.account = account
        self.digest = digest
        self.issuedAt = issuedAt
        expiresAt = issuedAt.adding(seconds: MailedCode.lifetime)
    }
}

public enum MailedCodeEvent: FormedEvent {
    case issued(IssuedMailedCode)
    case refused(UUID, at: Timestamp)
    case redeemed(UUID)

    package enum Form {
        package static let issued = EventForm(
            "mailed_code.issued", .audit, .codeMailed, "A code was mailed to the account's person.",
            .issuedCode, make: MailedCodeEvent.issued)
        package static let refused = EventForm(
            "mailed_code.refused", .audit, .step(.refused), "A wrong code was typed.", .carrier,
            .refusedAt, make: MailedCodeEvent.refused)
        package static let redeemed = EventForm(
            "mailed_code.redeemed", .internal, .detail, "The mailed code was redeemed.", .carrier,
            make: MailedCodeEvent.redeemed)
    }

    public static let forms: EventForms<Self> = [Form.issued, Form.refused, Form.redeemed]

    public var subject: UUID? {
        switch self {
        case .issued(let code): code.account
        case .refused, .redeemed: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .issued(let code): Form.issued(code)
        case .refused(let id, let at): Form.refused(id, at)
        case .redeemed(let id): Form.redeemed(id)
        }
    }
}

extension Field<UUID> {
    fileprivate static let carrier = uuid("mail", "Mail that carries the code.")
}

extension Field<IssuedMailedCode> {
    fileprivate static let issuedCode = record(
        .carrier, .choice("purpose", "What the code is for."), .account, .codeDigest, .issuedAt,
        .expiresAt, .optional(.uuid("client", "Installation that the code certifies.")),
        .generation,
        make: {
            var code = IssuedMailedCode(
                id: $0, purpose: $1, account: $2, digest: $3, issuedAt: $4, installation: $6,
                generation: $7)
            code.expiresAt = $5
            return code
        },
        take: {
            (
                $0.id, $0.purpose, $0.account, $0.digest, $0.issuedAt, $0.expiresAt,
                $0.installation, $0.generation
            )
        })
}
