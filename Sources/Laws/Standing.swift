import Values

/// What several laws ask of an account, a client and a session.
extension Past {
    /// Whether what was opened stands under its account's stamp, its clients and what it came of.
    mutating func judge(_ opened: Opened, _ what: String) {
        judgeAccount(of: opened, what)
        judgeClient(opened.client, of: opened, what)
        judgeClient(opened.openerClient, of: opened, what)
        for id in opened.above {
            guard let session = sessions[id] else {
                missing(14, "\(what) came of a session that was never opened, or is long over")
                continue
            }
            if session.hasEnded { broken(14, "\(what) came of a session that has ended") }
        }
    }

    private mutating func judgeAccount(of opened: Opened, _ what: String) {
        guard let id = opened.account else { return }
        guard let account = accounts[id] else {
            return missing(12, "\(what) is of an account that was never registered")
        }
        judge(account, for: 10, what)
        if account.stamp != opened.stamp {
            broken(12, "\(what) is of stamp \(opened.stamp); the account's is \(account.stamp)")
        } else if account.moves != opened.moves, opened.restsOnMailbox {
            broken(12, "\(what) rests on a mailbox that the account has left")
        }
        guard !account.removed.isEmpty else { return }
        for place in opened.places where account.removed[place, default: 0] > opened.removals {
            broken(12, "\(what) is of a place from which access was removed")
        }
    }

    private mutating func judgeClient(_ id: UUID?, of opened: Opened, _ what: String) {
        guard let id else { return }
        guard let client = clients[id] else {
            return missing(13, "\(what) is of a client that was never registered")
        }
        if client.isDeleted || client.isDisabled {
            let state = client.isDeleted ? "deleted" : "disabled"
            broken(13, "\(what) is of a client that is \(state)")
        } else if opened.isFlagship, id == opened.client, !client.isCertified {
            broken(21, "\(what) has scope * and its client is not certified")
        }
    }

    mutating func judge(_ account: Account, for law: Int, _ what: String) {
        guard let obstacle = account.obstacle else { return }
        broken(law, "\(what) is of an account that is \(obstacle)")
    }

    /// Changes an account that is there; of one that is not, nothing is known then either.
    mutating func changeAccount(_ event: Event, _ change: (inout Account) -> Void) {
        if !accounts.change(event.stream, change) {
            missing(10, "\(event.type) of an account that was never registered")
        }
    }

    mutating func changeClient(_ event: Event, _ change: (inout Client) -> Void) {
        if !clients.change(event.stream, change) {
            missing(13, "\(event.type) of a client that was never registered")
        }
    }
}
