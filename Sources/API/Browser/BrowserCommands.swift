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
