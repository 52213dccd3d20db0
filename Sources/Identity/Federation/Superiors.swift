internal import EventSourcing
public import Values

/// The sessions above one in the tree of a device, each with its client and account: what a decision asserts about them
/// holds when it is committed, so that none outlives a revocation that came first.
struct Superiors: Sendable {
    private struct Link: Sendable {
        let session: Versioned<Session>
        let client: Versioned<Client>
        /// A device's own session has none.
        let account: Versioned<Account>?
    }

    private let links: [Link]
    /// What the browser was opened by that the session came of.
    private let openers: OpenerLine

    static func read(
        _ sessions: [UUID], opener: Opener? = nil, from streams: some StreamReader
    ) async throws(LogFailure) -> Superiors {
        var links: [Link] = []
        for id in sessions {
            let session = try await streams.read(Session.self, id)
            let client = try await streams.read(Client.self, session.state.terms?.client ?? .zero)
            var account: Versioned<Account>?
            if let holder = session.state.terms?.account {
                account = try await streams.read(Account.self, holder)
            }
            links.append(Link(session: session, client: client, account: account))
        }
        return Superiors(
            links: links, openers: try await .read(opener, from: streams))
    }

    /// And whether the issuers by whose assertions they were opened are trusted still.
    func areAlive(at desk: GrantDesk) -> Bool {
        areAlive(at: desk.request.now)
            && links.allSatisfy { $0.session.state.terms?.isTrusted(in: desk.settings) == true }
    }

    func areAlive(at now: Timestamp) -> Bool {
        openers.isStanding(at: now)
            && links.allSatisfy { link in
                guard let terms = link.session.state.terms, link.session.state.end == nil,
                    now < terms.expiresAt
                else { return false }
                if let account = link.account, !account.state.keeps(terms) { return false }
                return link.client.aliveMetadata != nil && !link.client.state.isDisabled
            }
    }

    /// The lowest of them: what the next token is issued under.
    var last: Versioned<Session>? { links.last?.session }
}

extension FederatedToken {
    /// The line that a token below this one has above it.
    public func line(below session: UUID) -> [UUID] { superiors + [session] }
}
