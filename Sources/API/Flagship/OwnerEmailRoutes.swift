internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How an owner moves to another mail address, with the app.
enum OwnerEmailRoutes {
    static let table: [Route<RealmContext>] = [request, again, cancel]
    static let pageTable: [Route<RealmContext>] = [confirm]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .rateLimited]
    private static let done = Answer.done("The request is accepted.")

    private static let request = Route<RealmContext>(
        .post, "/settings/email", id: "moveOwner", tag: "Flagship",
        summary: "Mails a confirmation link to the owner's new address.",
        detail: "The answer does not tell whether another account uses it.", right: .nothing,
        voice: .flagship,
        body: Body(
            schema: .openObject,
            example: ["passphrase": "…", "email": "camille@example.com"],
            maximumBytes: 16 * 1024),
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        try RateCounter(call).countRealm(.ownerSignIn)
        guard let address = PageRequest(call).typedAddress() else {
            return .jsonAPIError(
                .unprocessable, "Invalid Parameter", "email is not valid", parameter: "email")
        }
        let comparison = try await call.compareOwner(call.body["passphrase"]?.string ?? "")
        return try await call.move(.passphrase(comparison), to: address, for: client)
    }

    private static let again = Route<RealmContext>(
        .post, "/settings/email/resend", id: "resendOwnerMove", tag: "Flagship",
        summary: "Mails the link again.", right: .nothing, voice: .flagship, answer: done,
        refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        guard let address = try await call.pendingMove()?.address else {
            return .jsonAPIError(.badRequest, "Bad request", "no pending email")
        }
        return try await call.move(.again, to: address, for: client)
    }

    private static let cancel = Route<RealmContext>(
        .delete, "/settings/email", id: "cancelOwnerMove", tag: "Flagship",
        summary: "Cancels the change of the owner's mail address.", right: .nothing,
        voice: .flagship,
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        let client = try await call.everything().session.terms.client
        _ = try await Commands(call).attempt(OwnerChange.cancelMove(), as: .installation(client))
        return Response(status: .noContent)
    }

    private static let confirm = Route<RealmContext>(
        .get, "/settings/email/confirm", id: "confirmOwnerMove", tag: "Flagship",
        summary: "Shows the page that a mailed link leads to.", right: .nothing, voice: .page,
        parameters: [Parameter("token", in: .query, .text(0...128), "Token from the mail.")],
        answer: .page, refusals: Page.refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let mint = call.context.mint
        guard let code = call.text("token").flatMap(mint.readOwnerMove),
            let (move, address) = try await call.pendingMove(), move.code == code,
            let account = try await RealmLookups(call.context).folded(Owner.self, Owner.stream)
                .account,
            var person = KnownPerson(try await RealmLookups(call.context).events(of: account))?
                .person
        else { return try call.refuseLink(visit) }
        person.move(toMail: address)
        let refusal = try await Commands(call).attempt(
            ConfirmOwnerMove(
                to: move.mailbox, code: code,
                shown: mint.shown { $0.digest(ofOwnerMove: code, to: move.mailbox) },
                person: person,
                nextSubject: call.context.newID(), mail: call.context.newID(),
                now: call.context.clock.now()),
            as: .anonymous)
        switch refusal {
        case nil: return .seeOther("/account/data")
        case .linkOver?: return try call.refuseLink(visit)
        case let refusal?: throw refusal.problem
        }
    }
}

extension Call<RealmContext> {
    fileprivate func move(
        _ proof: RequestOwnerMove.Proof, to address: String, for client: UUID
    ) async throws(Problem) -> Response {
        try RateCounter(self).countRealm(.ownerMail)
        let (mailbox, code) = (context.mint.mailbox(address), context.newID())
        guard let digest = context.mint.digest(ofOwnerMove: code, to: mailbox) else {
            throw Problem(.internalError)
        }
        let outcome = try await Commands(self).dispatch(
            RequestOwnerMove(
                proof, to: mailbox,
                person: Person(email: address, language: PageRequest(self).readersLanguage),
                code: code, digest: digest,
                base: "\(context.place.links)/settings/email/confirm?token=",
                now: context.clock.now()),
            as: .installation(client))
        switch outcome {
        case .requested: return Response(status: .noContent)
        case .wrongPassphrase:
            return .jsonAPIError(.badRequest, "Bad request", "invalid passphrase")
        }
    }

    /// The pending change of the owner's mail address.
    fileprivate func pendingMove() async throws(Problem) -> (move: PendingMove, address: String)? {
        let (owner, account) = try await ownersAccount()
        guard let move = owner.pendingMove(of: account) else { return nil }
        for event in try await RealmLookups(context).events(of: move.mailbox).reversed() {
            guard case .codeIssued(let code)? = MailboxEvent(event), code.id == move.code,
                let address = code.person.email
            else { continue }
            return (move, address)
        }
        return nil
    }
}

extension RequestOwnerMove.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .noOwner: .said(.forbidden, "Not authorized")
        case .noMove: .said(.invalidRequest, "no pending email")
        case .invalid: .said(.invalidRequest, "email is not valid")
        }
    }
}

extension ConfirmOwnerMove.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .linkOver: Problem(.invalidRequest, "The link has expired or has already been used.")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
