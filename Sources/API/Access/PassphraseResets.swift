internal import EventSourcing
internal import Identity
internal import Values

/// The mailed links by which passphrases are reset.
struct PassphraseResets {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// The link of this token, while it is good, and the address that it was mailed to: it is not good any
    /// more once the account has another one. A look does not use the link up.
    func link(
        _ text: String
    ) async throws(Problem) -> (link: IssuedMailedLink, email: String?)? {
        guard let (id, account) = context.mint.readResetToken(text) else { return nil }
        let links = try await RealmLookups(context).folded(
            MailedLink.self, MailedLink.stream(of: account, .passphraseReset))
        // Both from one reading, or a move between two would show the other address.
        let events = try await RealmLookups(context).events(of: account)
        guard AccountEvent.catalogue.contains(where: { $0.name == events.first?.name }),
            let link = links.link(
                id, of: Account(folding: events), at: context.clock.now())
        else { return nil }
        return (link, Person.latest(events)?.email)
    }
}
