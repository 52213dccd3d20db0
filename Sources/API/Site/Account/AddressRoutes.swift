internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Another mail address or phone number for the user's own account, in the place of one or beside it. The page
/// for the code that is sent there has an address of its own, so that a reload of it sends nothing.
enum AddressRoutes {
    static let table: [Route<RealmContext>] =
        AddressKind.allCases.map(begin) + [showCode, confirmMove, removePhone]

    private static let confirmation = CodeAddress.Page.newAddress.rawValue

    private static func begin(_ kind: AddressKind) -> Route<RealmContext> {
        AccountRoute.change(
            kind.path, id: kind == .mail ? "beginEmailChange" : "beginPhoneChange",
            kind == .mail
                ? "Has a code mailed to a new address." : "Has a code sent to a new phone number.",
            [
                .optional(
                    kind.field, .text(0...320),
                    kind == .mail ? "New mail address." : "New phone number."),
                CodeAddress.member,
            ], from: .data
        ) { call, frame throws(Problem) in
            var card = try await AddressCard(call, frame)
            let typed = call.body[kind.field]?.string ?? ""
            guard let address = call.newAddress(typed, kind) else {
                card.wrong = (kind, typed, call.fault(ofNew: typed, kind, frame.say))
                return try await DataRoutes.page(call, frame, card)
            }
            let own = kind.address(of: card.person).map(call.context.mint.mailbox)
            guard own != call.context.mint.mailbox(address.text) else {
                card.wrong = (kind, address.text, kind.isAlreadyYours(frame.say))
                return try await DataRoutes.page(call, frame, card)
            }
            if let early = call.tooSoon(for: address.text, frame.visit, at: .newAddress) {
                return .seeOther(try call.place(of: early, frame.visit, ReturnTarget()))
            }
            async let pause: Void = call.context.hesitate()
            try await call.requestMove(of: frame.account, to: address)
            await pause
            let sent = call.sent(to: address.text, frame.visit, at: .newAddress)
            return .seeOther(try call.place(of: sent, frame.visit, ReturnTarget()))
        }
    }

    private static let showCode = AccountRoute.show(
        confirmation, id: "showEmailCodePage",
        "Shows the form for the code that was mailed to a new address.",
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
        let kind: AddressKind = address.isPhone ? .phone : .mail
        return frame.page(
            .data, say("Enter the code", "Code eingeben"), status: isWrong ? .badRequest : .ok
        ) {
            Page.card {
                HTML.element(.h1) {
                    address.isPhone
                        ? say("Check your phone", "Telefon prüfen")
                        : say("Check your e-mail", "Posteingang prüfen")
                }
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
                    Parts.button(say("Confirm", "Bestätigen"))
                }
                HTML.element(.div, .class("links")) {
                    frame.visit.form(kind.path) {
                        Parts.hidden(kind.field, address.email)
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
            .optional("email", .text(0...320), "New mail address."),
            .optional("code", .text(0...64), "Code that was mailed to the new address."),
        ], [CodeAddress.parameter], from: .data
    ) { call, frame throws(Problem) in
        guard let address = PageRequest(call).typedSignInAddress() else {
            return .seeOther(AccountFrame.Tab.data.rawValue)
        }
        let mint = call.context.mint
        let mailbox = mint.mailbox(address.text)
        // The rate limit is not by mailbox alone: one user's attempts to move there must not block
        // others.
        try RateCounter(call).count(
            .emailOTPVerify, target: "move to \(mailbox) of \(frame.account)")
        let typed = (call.body["code"]?.string ?? "").filter { $0 != " " }
        let before = try await AddressCard(call, frame).person
        var person = before
        if address.isPhone { person.phone = address.text } else { person.email = address.text }
        let shown = mint.shown { $0.digest(ofMove: typed, of: frame.account, to: mailbox) }
        let isMoved = try await Commands(call).dispatch(
            MoveMailbox(
                account: frame.account, addresses: mint.addresses(of: person), shown: shown,
                person: person, next: call.context.nextSubjects(), mail: call.context.newID(),
                now: call.context.clock.now()),
            as: .user(frame.account))
        guard isMoved else {
            var shown =
                call.codeAddress(frame.visit, at: .newAddress)
                ?? CodeAddress(email: address.text, page: .newAddress)
            (shown.email, shown.isTooSoon, shown.isAnother) = (address.text, false, false)
            shown.wrong += 1
            return try codePage(call, frame, shown, isWrong: true)
        }
        let isAdded = address.isPhone ? before.phone == nil : before.email == nil
        return isAdded
            ? .seeOther(.data, .addressAdded)
            : try call.signedOut(frame.visit, to: address.text)
    }

    private static let removePhone = AccountRoute.change(
        "/account/phone/remove", id: "removePhone",
        "Takes the phone number from an account that has a mail address.", from: .data
    ) { call, frame throws(Problem) in
        var person = try await AddressCard(call, frame).person
        guard let email = person.email, person.phone != nil else {
            return .seeOther(AccountFrame.Tab.data.rawValue)
        }
        person.phone = nil
        let refusal = try await Commands(call).attempt(
            ChangePerson(
                account: frame.account, person: person,
                addresses: call.context.mint.addresses(of: person), isConfirmed: false,
                next: call.context.nextSubjects(), mail: call.context.newID()),
            as: .user(frame.account))
        switch refusal {
        case nil: break
        // Something else was changed meanwhile: the page shows what there is now.
        case .invalid?, .mailboxTaken?: return .seeOther(AccountFrame.Tab.data.rawValue)
        case .notFound?: throw Problem(.forbidden)
        }
        return try call.signedOut(frame.visit, to: email)
    }
}

extension Call<RealmContext> {
    fileprivate func newAddress(_ typed: String, _ kind: AddressKind) -> SignInAddress? {
        guard let address = SignInAddress(typed: typed, context.place.settings),
            address.isPhone == (kind == .phone)
        else { return nil }
        return address
    }

    fileprivate func fault(
        ofNew typed: String, _ kind: AddressKind, _ say: LocalizedText
    ) -> String {
        guard kind == .phone else { return say.wholeAddress }
        return typed.utf8.contains(UInt8(ascii: "@"))
            ? say.wholeNumber : say.whatIsWrong(with: typed, context.place.settings)
    }

    fileprivate func requestMove(
        of account: UUID, to address: SignInAddress
    ) async throws(Problem) {
        let mint = context.mint
        let (mailbox, code) = (mint.mailbox(address.text), context.newID())
        try RateCounter(self).count(.emailVerification, target: account.description)
        if address.isPhone { try RateCounter(self).countCode(to: address, mailbox) }
        guard let digest = mint.digest(ofMove: mint.code(code), of: account, to: mailbox) else {
            throw Problem(.internalError)
        }
        var command = RequestMailboxMove(
            account: account, mailbox: mailbox,
            person: address.person(language: PageRequest(self).readersLanguage), code: code,
            digest: digest, app: context.place.app, now: context.clock.now())
        command.channel = address.channel(context.place.settings)
        _ = try await Commands(self).dispatch(command, as: .user(account))
    }

    /// All sessions of the account have ended, this one as well.
    fileprivate func signedOut(_ visit: PageVisit, to address: String) throws(Problem) -> Response {
        var response = Response.seeOther(
            try place(
                of: CodeAddress(email: address, page: .settled), visit,
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
