internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

extension RequestMailboxMove.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .accountBlocked: Problem(.forbidden)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension MoveMailbox.Rejection: Refusal {
    var problem: Problem {
        switch self {
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
