internal import EventSourcing

/// Which events ask for a mail, and for which. The head of `Projections/mails.sql` lists the same events.
struct MailRule: Sendable {
    typealias Order = @Sendable (_ event: Recorded, _ mint: TokenMint) -> MailOrder?

    /// By their types.
    let events: [String]
    /// Nil for an event of the type that asks for no mail.
    let order: Order

    init(_ events: String..., order: @escaping Order) {
        self.events = events
        self.order = order
    }
}

/// The rules of all surfaces, by event.
struct MailRules: Sendable {
    private let byEvent: [String: MailRule]

    /// An event asks for one mail: it has one rule.
    init(_ rules: [MailRule]) {
        byEvent = Dictionary(
            uniqueKeysWithValues: rules.flatMap { rule in rule.events.map { ($0, rule) } })
    }

    var events: Set<String> { Set(byEvent.keys) }

    /// Nil for an event that asks for no mail.
    func order(for event: Recorded, _ mint: TokenMint) -> MailOrder? {
        byEvent[event.name]?.order(event, mint)
    }
}
