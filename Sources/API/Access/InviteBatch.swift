internal import Identity
internal import Mail
internal import Values

/// Invites that one request makes.
struct InviteBatch {
    let invites: [(id: UUID, code: InviteCode)]

    /// A repeat makes the codes that were made first, of which the first one's stream is known.
    init(
        _ count: Int, of command: UUID, _ mint: TokenMint, earlier: UUID?
    ) throws(Problem) {
        func invites(_ mint: TokenMint) -> [(id: UUID, code: InviteCode)] {
            mint.inviteCodes(count, of: command).map { (mint.invite($0), $0) }
        }
        guard let earlier else {
            self.invites = invites(mint)
            return
        }
        guard let mint = mint.version(where: { invites($0).first?.id == earlier }) else {
            throw Problem.secretRetired
        }
        self.invites = invites(mint)
    }

    /// The address goes through the one form that all addresses go through.
    func command(
        app: UUID?, email: String?, _ field: String, days: Int64?, now: Timestamp,
        _ mint: TokenMint
    ) throws(Problem) -> CreateInvites {
        var mailbox: UUID?
        if let email {
            guard let address = try? MailAddress(email) else {
                throw Problem(.invalidField, "\(field) is no mail address.", field: field)
            }
            mailbox = mint.mailbox(address.text)
        }
        return CreateInvites(
            invites: invites.map(\.id), app: app, mailbox: mailbox, days: days, now: now)
    }
}

extension CreateInvites.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .appNotFound: Problem(.noSuchApp)
        // Of names that follow from a new id none is there before.
        case .idTaken: Problem(.internalError)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension InviteChange.RevokeRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchInvite)
        case .used: Problem(.inviteUsed)
        }
    }
}
