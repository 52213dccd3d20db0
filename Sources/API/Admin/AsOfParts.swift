internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// A state that can be shown as it was: its open members alone, so that nothing of it has to be opened.
protocol ShownState: StreamState {
    /// Where it stands in what it is a part of: the names of the members that lead to it.
    static func place(of stream: UUID) -> [String]

    /// Nil where there is nothing to show, such as a passkey that was removed.
    func members(_ context: ShownContext) -> JSONObject?
}

/// What a state does not know of itself.
struct ShownContext {
    let stream: UUID
    /// The account whose parts are shown.
    let account: UUID?
    let first: Recorded
    let last: Recorded
}

/// One stream of what is shown, folded with the code that decisions fold it with.
protocol AsOfPart: Sendable {
    mutating func apply(_ recorded: Recorded) throws(Problem)

    /// Where its members stand.
    var place: [String] { get }

    var members: JSONObject? { get }
}

struct FoldedPart<State: ShownState>: AsOfPart {
    let stream: UUID
    let account: UUID?
    private var state = State()
    private var ends: (first: Recorded, last: Recorded)?

    init(stream: UUID, account: UUID?) {
        self.stream = stream
        self.account = account
    }

    mutating func apply(_ recorded: Recorded) throws(Problem) {
        guard let event = State.Event(recorded.unopened) else { throw Problem(.logDamaged) }
        state.apply(event)
        ends = (ends?.first ?? recorded, recorded)
    }

    var place: [String] { State.place(of: stream) }

    var members: JSONObject? {
        ends.flatMap { first, last in
            state.members(
                ShownContext(stream: stream, account: account, first: first, last: last))
        }
    }
}

/// The kinds of streams that can be shown as they were.
enum AsOfKind: CaseIterable, Sendable {
    case account, client, session, browser, passkey, twoFactor, passphrase, identity

    /// Of which kind the stream of an event is.
    init?(ofEvent name: String) {
        guard let kind = Self.kinds[name] else { return nil }
        self = kind
    }

    private static let kinds: [String: AsOfKind] = allCases.reduce(into: [:]) { kinds, kind in
        for shape in kind.catalogue { kinds[shape.name] = kind }
    }

    private var catalogue: [EventShape] {
        switch self {
        case .account: Account.Event.catalogue
        case .client: Client.Event.catalogue
        case .session: Session.Event.catalogue
        case .browser: BrowserSession.Event.catalogue
        case .passkey: Passkey.Event.catalogue
        case .twoFactor: TwoFactor.Event.catalogue
        case .passphrase: Passphrase.Event.catalogue
        case .identity: ProviderIdentity.Event.catalogue
        }
    }

    /// - Parameter account: whose parts are shown.
    func part(_ stream: UUID, of account: UUID?) -> any AsOfPart {
        switch self {
        case .account: FoldedPart<Account>(stream: stream, account: account)
        case .client: FoldedPart<Client>(stream: stream, account: account)
        case .session: FoldedPart<Session>(stream: stream, account: account)
        case .browser: FoldedPart<BrowserSession>(stream: stream, account: account)
        case .passkey: FoldedPart<Passkey>(stream: stream, account: account)
        case .twoFactor: FoldedPart<TwoFactor>(stream: stream, account: account)
        case .passphrase: FoldedPart<Passphrase>(stream: stream, account: account)
        case .identity: FoldedPart<ProviderIdentity>(stream: stream, account: account)
        }
    }
}

extension Recorded {
    /// The event without its personal fields, also where the log was read with them opened.
    var unopened: Recorded {
        guard case .opened = personal else { return self }
        return Recorded(
            realm: realm, position: position, stream: stream, version: version, name: name,
            revision: revision, at: at, command: command, subject: subject, actor: actor,
            client: client, correlation: correlation, leaf: leaf, open: open, personal: .sealed)
    }
}
