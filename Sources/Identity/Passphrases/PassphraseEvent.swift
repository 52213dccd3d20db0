public import EventSourcing
public import Values

/// What happens to an account's passphrase.
public enum PassphraseEvent: FormedEvent {
    /// Its owner is told by the mail, if there is one. The hash is nil where the owner is erased.
    case set(hash: String?, account: UUID, mail: UUID?, at: Timestamp)
    /// The same, where a device hashes it first: see `DerivedPassphrase`.
    case derived(DerivedPassphrase, account: UUID, mail: UUID, at: Timestamp)
    /// A hash that another system made, which stands until the passphrase is typed.
    case imported(hash: String?, account: UUID, at: Timestamp)
    /// The passphrase was typed, and a hash of our own took the place of the imported one.
    case rehashed(hash: String?, account: UUID)
    /// A wrong passphrase was typed. Its owner is told by the mail, where guesses begin to rest.
    case refused(at: Timestamp, account: UUID? = nil, mail: UUID? = nil)
    /// It was right, after guesses that were not.
    case used
    case removed(account: UUID, mail: UUID)
    /// Its owner has another hint. Nil without a hint, or after its erasure.
    case hintChanged(String?, account: UUID)
    /// The owner asked for the hint: the mail has these words.
    case hintRequested(String?, account: UUID, mail: UUID)

    package enum Form {
        package static let set = EventForm(
            "passphrase.set", .services, .secretSet(.passphrase), "The person set a passphrase.",
            .passphraseHash, .account, .optional(.notice), .setAt, make: PassphraseEvent.set)
        package static let derived = EventForm(
            "passphrase.derived", .services, .secretSet(.derivedPassphrase),
            "The person set a passphrase that their device derives.", .derived, .account, .notice,
            .setAt, make: PassphraseEvent.derived)
        package static let imported = EventForm(
            "passphrase.imported", .audit, .accountChanged,
            "A hash that another system made of the passphrase was imported.", .passphraseHash,
            .account, .setAt, make: PassphraseEvent.imported)
        package static let rehashed = EventForm(
            "passphrase.rehashed", .internal, .secretUsed(.passphrase),
            "A hash of our own replaced the imported one.", .passphraseHash, .account,
            make: PassphraseEvent.rehashed)
        package static let refused = EventForm(
            "passphrase.refused", .audit, .secretRefused(.passphrase),
            "A wrong passphrase was typed.", .refusedAt, .optional(.account), .optional(.notice),
            make: PassphraseEvent.refused)
        package static let used = EventForm(
            "passphrase.used", .internal, .secretUsed(.passphrase),
            "The right passphrase was typed after wrong ones.",
            make: { PassphraseEvent.used })
        package static let removed = EventForm(
            "passphrase.removed", .services, .secretRemoved(.passphrase),
            "The passphrase was removed.", .account, .notice, make: PassphraseEvent.removed)
        package static let hintChanged = EventForm(
            "passphrase.hint_changed", .audit, .recoveryChanged,
            "The person changed the hint of their passphrase.", .hint, .account,
            make: PassphraseEvent.hintChanged)
        package static let hintRequested = EventForm(
            "passphrase.hint_requested", .audit, .recoveryRequested,
            "The person had the hint mailed to them.", .hint, .account,
            .uuid("mail", "Mail that contains the hint."), make: PassphraseEvent.hintRequested)
    }

    public static let forms: EventForms<Self> = [
        Form.set, Form.derived, Form.imported, Form.rehashed, Form.refused, Form.used, Form.removed,
        Form.hintChanged,
        Form.hintRequested,
    ]

    public var subject: UUID? {
        switch self {
        case .set(_, let account, _, _), .derived(_, let account, _, _), .removed(let account, _),
            .hintChanged(_, let account), .hintRequested(_, let account, _),
            .imported(_, let account, _), .rehashed(_, let account):
            account
        case .refused, .used: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .set(let hash, let account, let mail, let at): Form.set(hash, account, mail, at)
        case .derived(let derived, let account, let mail, let at):
            Form.derived(derived, account, mail, at)
        case .imported(let hash, let account, let at): Form.imported(hash, account, at)
        case .rehashed(let hash, let account): Form.rehashed(hash, account)
        case .refused(let at, let account, let mail): Form.refused(at, account, mail)
        case .used: Form.used()
        case .removed(let account, let mail): Form.removed(account, mail)
        case .hintChanged(let hint, let account): Form.hintChanged(hint, account)
        case .hintRequested(let hint, let account, let mail):
            Form.hintRequested(hint, account, mail)
        }
    }
}

extension Field<Timestamp> {
    fileprivate static let setAt = time("set_at", "Time at which the passphrase was set.")
}

extension Field<String?> {
    fileprivate static let passphraseHash = optional(
        .text("hash", "Hash of the passphrase.", .neverLeaves(.sealed)))
    fileprivate static let hint = optional(
        .text("hint", "Hint that the person wrote for themselves.", .personal(.person)))
}

extension Field<DerivedPassphrase> {
    fileprivate static let derived = record(
        .integer("rounds", "PBKDF2 rounds that the device runs."), .passphraseHash, .hint,
        .optional(.text("key", "Key of the app, wrapped on the device.", .neverLeaves(.sealed))),
        .optional(.text("public_key", "Public key of the app.", .personal(.person))),
        .optional(
            .text(
                "private_key", "Private key of the app, wrapped on the device.",
                .neverLeaves(.sealed))),
        make: {
            DerivedPassphrase(
                rounds: $0, hash: $1, hint: $2, key: $3, publicKey: $4, privateKey: $5)
        },
        take: { ($0.rounds, $0.hash, $0.hint, $0.key, $0.publicKey, $0.privateKey) })
}
