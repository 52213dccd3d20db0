public import EventSourcing
public import Values

/// What an account's person knows, as the log keeps it: not itself, but what is expensive to guess it
/// from.
public struct Passphrase: StreamState {
    /// Nil: there is none, or its person was erased.
    public private(set) var hash: String?
    public private(set) var setAt: Timestamp?
    /// How a device hashes it before it is sent; nil where it is typed as it is.
    public private(set) var derived: DerivedPassphrase?
    /// Another system made the hash: it is verified as that system did.
    public private(set) var isForeign = false
    /// The hash of another system that ours took the place of: of the same passphrase.
    private var replaced: String?
    private var wrongGuesses = 0
    private var lastGuess: Timestamp?

    public init() {}

    /// Follows from the account, so that it needs no look-up.
    public static func stream(of account: UUID) -> UUID {
        UUID(high: account.high, low: account.low ^ 0x0000_7073_7068_0000)
    }

    public mutating func apply(_ event: PassphraseEvent) {
        switch event {
        case .set(let hash, _, _, let at):
            self.hash = hash
            derived = nil
            isForeign = false
            replaced = nil
            setAt = at
            wrongGuesses = 0
        case .derived(let derived, _, _, let at):
            hash = derived.hash
            isForeign = false
            replaced = nil
            self.derived = derived
            setAt = at
            wrongGuesses = 0
        case .imported(let hash, _, let at):
            self.hash = hash
            isForeign = true
            setAt = at
        case .rehashed(let hash, _):
            replaced = self.hash
            self.hash = hash
            isForeign = false
            wrongGuesses = 0
        case .refused(let at, _, _):
            wrongGuesses += 1
            lastGuess = at
        case .used: wrongGuesses = 0
        case .removed:
            hash = nil
            derived = nil
            replaced = nil
            setAt = nil
            wrongGuesses = 0
        case .hintChanged(let hint, _): derived?.hint = hint
        case .hintRequested: break
        }
    }
}

extension Passphrase {
    /// An owner's apps resend their credentials by themselves, and there is no name to guess
    /// beside: a stranger who knows only the address must not lock the owner out by a handful of
    /// guesses. A guess that a device sends took work to make.
    private var guessesBeforeRest: Int { derived == nil ? 5 : 20 }
    private static let longestRest: Int64 = 900

    /// Back-off: the wait doubles with each wrong guess; but a stranger's guesses lock no owner out
    /// for long, and never from the other ways to sign in.
    func isResting(at now: Timestamp) -> Bool {
        guard wrongGuesses >= guessesBeforeRest, let lastGuess else { return false }
        let doublings = min(wrongGuesses - guessesBeforeRest, 16)
        return now < lastGuess.adding(seconds: min(15 << Int64(doublings), Self.longestRest))
    }

    /// With one wrong guess more none is taken for a while: its owner is told once, and not again until
    /// he was in.
    var isAboutToRest: Bool { wrongGuesses + 1 == guessesBeforeRest }

    var wasGuessed: Bool { wrongGuesses > 0 }

    /// Whether a hash is of the passphrase that holds now: of two sign-ins at once one compares with the hash that the
    /// other replaces.
    func keeps(_ hash: String) -> Bool { hash == self.hash || hash == replaced }
}
