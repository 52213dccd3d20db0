internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

extension Call<RealmContext> {
    /// Carries a command out for the user who is signed in with this browser.
    func dispatch<C: Command>(
        _ command: C, for browser: SignedInBrowser
    ) async throws(Problem) where C.Rejection: Refusal {
        if let rejection = try await attempt(command, for: browser) { throw rejection.problem }
    }

    /// The same, where the page says itself why it was refused.
    func attempt<C: Command>(
        _ command: C, for browser: SignedInBrowser
    ) async throws(Problem) -> C.Rejection? {
        try await attempt(command, as: "user:\(browser.subject)")
    }
}

extension EndBrowserSession.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchSession)
        }
    }
}

extension RequestMailboxMove.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .realmNotFound: Problem(.unknownHost)
        case .realmDisabled: Problem(.realmClosed)
        case .accountBlocked: Problem(.forbidden)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension MoveMailbox.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .realmNotFound: Problem(.unknownHost)
        case .realmDisabled: Problem(.realmClosed)
        case .accountBlocked: Problem(.forbidden)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension TokenMint {
    /// A code that moves an account to a mailbox is good for that account alone, and for nothing else.
    func digest(ofMove code: String, of account: UUID, to mailbox: UUID) -> SecretDigest? {
        SecretDigest(
            derive(.mailboxMoveDigest, account.bytes + mailbox.bytes + Array(code.utf8)))
    }
}
