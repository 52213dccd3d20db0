internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Another mail address for the user's own account. The page for the code that is mailed there has
/// an address of its own, so that a reload of it mails nothing.
enum AddressRoutes {
    static let table: [Route<RealmContext>] = [move, showCode, confirmMove]

    private static let confirmation = CodeAddress.Page.newAddress.rawValue

    private static let move = AccountRoute.change(
        "/account/email", id: "beginEmailChange", "Has a code mailed to a new address.",
        [.optional("email", .text(0...320), "The new address."), CodeAddress.member], from: .data
    ) { call, frame throws(Problem) in
        guard let address = PageRequest(call).typedAddress() else {
            return try await DataRoutes.page(
                call, frame, typed: call.body["email"]?.string ?? "",
                wrong: frame.say(
                    "Enter a complete e-mail address.",
                    "Geben Sie eine vollständige E-Mail-Adresse ein."
                ))
        }
        let mint = call.context.mint
        let own = try await PersonClaims(call.context).claims(of: frame.account, ["email"])[
            "email"]?.string
        if own.map(mint.mailbox) == mint.mailbox(address) {
            return try await DataRoutes.page(
                call, frame, typed: address,
                wrong: frame.say(
                    "That is already your address.", "Das ist schon Ihre Adresse."))
        }
        if let early = call.tooSoon(for: address, frame.visit, at: .newAddress) {
            return .seeOther(try call.place(of: early, frame.visit, ReturnTarget()))
        }
        async let pause: Void = call.context.hesitate()
        let (mailbox, code) = (mint.mailbox(address), call.context.newID())
        try RateCounter(call).count(.emailVerification, target: frame.account.description)
        guard let digest = mint.digest(ofMove: mint.code(code), of: frame.account, to: mailbox)
        else { throw Problem(.internalError) }
        _ = try await Commands(call).dispatch(
            RequestMailboxMove(
                account: frame.account, mailbox: mailbox,
                person: Person(email: address, language: PageRequest(call).readersLanguage),
                code: code,
                digest: digest, app: call.context.place.app, now: call.context.clock.now()),
            as: .user(frame.account))
        await pause
        let sent = call.sent(to: address, frame.visit, at: .newAddress)
        return .seeOther(try call.place(of: sent, frame.visit, ReturnTarget()))
    }

    private static let showCode = AccountRoute.show(
        confirmation, id: "showEmailCodePage", "Where the code is typed of a new address.",
        [CodeAddress.parameter]
    ) { call, frame throws(Problem) in
        guard let address = call.codeAddress(frame.visit, at: .newAddress) else {
            return .seeOther(AccountFrame.Tab.data.rawValue)
        }
        return try codePage(call, frame, address, isWrong: false)
    }

    private static func codePage(
        _ call: Call<RealmContext>, _ frame: AccountFrame, _ address: CodeAddress, isWrong: Bool
    ) throws(Problem) -> Response {
        let say = frame.say
        let words = CodeWords(call, address, say)
        var still = address
        (still.isTooSoon, still.isAnother) = (false, false)
        let sealed = try call.seal(still, frame.visit)
        return frame.page(
            .data, say("Enter the code", "Code eingeben"), status: isWrong ? .badRequest : .ok
        ) {
            Page.card {
                HTML.element(.h1) { say("Check your e-mail", "Posteingang prüfen") }
                HTML.element(.p) {
                    say("If no account uses ", "Falls kein Konto ")
                    HTML.element(.strong, .class("break")) {
                        Parts.address(address.email)
                    }
                    say(
                        " yet, a 6-digit code is on its way there.",
                        " benutzt, ist ein sechsstelliger Code dorthin unterwegs.")
                }
                Parts.note(.good, words.asked)
                frame.visit.form("\(confirmation)?\(Form.encode([("to", sealed)]))") {
                    Parts.hidden("email", address.email)
                    words.field(isWrong: isWrong).html
                    Parts.button(say("Change address", "Adresse ändern"))
                }
                HTML.element(.div, .class("links")) {
                    frame.visit.form("/account/email") {
                        Parts.hidden("email", address.email)
                        Parts.hidden("to", sealed)
                        Parts.button(say("Send a new code", "Neuen Code senden"), look: "plain")
                    }
                    Parts.link(
                        say("Use another address", "Andere Adresse verwenden"),
                        to: AccountFrame.Tab.data.rawValue)
                }
            }
        }
    }

    private static let confirmMove = AccountRoute.change(
        confirmation, id: "confirmEmailChange", "Moves the account to a new address.",
        [
            .optional("email", .text(0...320), "The new address."),
            .optional("code", .text(0...64), "The code that was mailed there."),
        ], [CodeAddress.parameter], from: .data
    ) { call, frame throws(Problem) in
        guard let address = PageRequest(call).typedAddress() else {
            return .seeOther(AccountFrame.Tab.data.rawValue)
        }
        let mint = call.context.mint
        let mailbox = mint.mailbox(address)
        // The rate limit is not by mailbox alone: one user's attempts to move there must not block
        // others.
        try RateCounter(call).count(
            .emailOTPVerify, target: "move to \(mailbox) of \(frame.account)")
        let typed = (call.body["code"]?.string ?? "").filter { $0 != " " }
        let events = try await RealmLookups(call.context).events(of: frame.account)
        guard var person = KnownPerson(events)?.person else { throw Problem(.internalError) }
        let shown = mint.shown { $0.digest(ofMove: typed, of: frame.account, to: mailbox) }
        person.move(toMail: address)
        let isMoved = try await Commands(call).dispatch(
            MoveMailbox(
                account: frame.account, mailbox: mailbox, shown: shown, person: person,
                nextSubject: call.context.newID(), mail: call.context.newID(),
                now: call.context.clock.now()),
            as: .user(frame.account))
        guard isMoved else {
            var shown =
                call.codeAddress(frame.visit, at: .newAddress)
                ?? CodeAddress(email: address, page: .newAddress)
            (shown.email, shown.isTooSoon, shown.isAnother) = (address, false, false)
            shown.wrong += 1
            return try codePage(call, frame, shown, isWrong: true)
        }
        var response = Response.seeOther(
            try call.place(
                of: CodeAddress(email: address, page: .settled), frame.visit,
                ReturnTarget(path: AccountFrame.Tab.data.rawValue)))
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        return response
    }
}

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
