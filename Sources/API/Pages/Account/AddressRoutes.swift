internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Another mail address for somebody's own account. The page for the code that is mailed there has an
/// address of its own, so that a reload of it mails nothing.
enum AddressRoutes {
    static let table: [Route<RealmContext>] = [move, showCode, confirmMove]

    private static let confirmation = CodeAddress.Page.newAddress.rawValue

    private static let move = AccountRoute.change(
        "/account/email", id: "beginEmailChange", "Has a code mailed to a new address.",
        [.optional("email", .text(0...320), "The new address.")], from: .data
    ) { call, frame throws(Problem) in
        guard let address = call.typedAddress() else {
            return try await DataRoutes.page(
                call, frame, typed: call.body["email"]?.string ?? "",
                wrong: frame.say(
                    "Enter a whole mail address.", "Geben Sie eine vollständige E-Mail-Adresse ein."
                ))
        }
        async let pause: Void = call.context.hesitate()
        let mint = call.context.mint
        let (mailbox, code) = (mint.mailbox(address), call.newID())
        try call.count(.emailVerification, target: frame.account.description)
        guard let digest = mint.digest(ofMove: mint.code(code), of: frame.account, to: mailbox)
        else { throw Problem(.internalError) }
        _ = try await call.ask(
            RequestMailboxMove(
                account: frame.account, mailbox: mailbox,
                person: Person(email: address, language: call.readersLanguage), code: code,
                digest: digest, app: call.context.place.app, now: call.context.clock.now()),
            as: "user:\(frame.account)")
        await pause
        return .seeOther(try place(of: address, call, frame))
    }

    private static func place(
        of address: String, _ call: Call<RealmContext>, _ frame: AccountFrame
    ) throws(Problem) -> String {
        try call.place(
            of: CodeAddress(email: address, page: .newAddress), frame.visit, Onward())
    }

    private static let showCode = AccountRoute.show(
        confirmation, id: "showEmailCodePage", "Where the code is typed of a new address.",
        [CodeAddress.parameter]
    ) { call, frame throws(Problem) in
        guard let address = call.codeAddress(frame.visit, at: .newAddress) else {
            return .seeOther(AccountFrame.Tab.data.rawValue)
        }
        return try codePage(call, frame, address.email, isWrong: false)
    }

    private static func codePage(
        _ call: Call<RealmContext>, _ frame: AccountFrame, _ address: String, isWrong: Bool
    ) throws(Problem) -> Response {
        let say = frame.say
        let place = try place(of: address, call, frame)
        return frame.page(
            .data, say("Enter the code", "Code eingeben"), status: isWrong ? .badRequest : .ok
        ) {
            Page.card {
                HTML.element(.h1) { say("Check your mail", "Posteingang prüfen") }
                HTML.element(.p) {
                    say("If nobody uses ", "Falls niemand ")
                    HTML.element(.strong, .class("break")) { Parts.address(address) }
                    say(
                        " here, a code is on its way there.",
                        " hier benutzt, ist ein Code dorthin unterwegs.")
                }
                frame.visit.form(place) {
                    Parts.hidden("email", address)
                    Field(
                        name: "code", label: say("Code", "Code"), autocomplete: "one-time-code",
                        isCode: true, isFocused: true, limit: 12,
                        wrong: isWrong
                            ? say(
                                "That code is not valid, or no longer.",
                                "Dieser Code gilt nicht oder nicht mehr.") : nil
                    ).html
                    Parts.button(say("Change address", "Adresse ändern"))
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
        guard let address = call.typedAddress() else {
            return .seeOther(AccountFrame.Tab.data.rawValue)
        }
        let mint = call.context.mint
        let mailbox = mint.mailbox(address)
        try call.count(.emailOTPVerify, target: mailbox.description)
        let typed = (call.body["code"]?.string ?? "").filter { $0 != " " }
        let events = try await call.recorded(frame.account)
        guard let digest = mint.digest(ofMove: typed, of: frame.account, to: mailbox),
            var person = KnownPerson(events)?.person
        else { throw Problem(.internalError) }
        person.email = address
        let isMoved = try await call.ask(
            MoveMailbox(
                account: frame.account, mailbox: mailbox, digest: digest, person: person,
                nextSubject: call.newID(), mail: call.newID(), now: call.context.clock.now()),
            as: "user:\(frame.account)")
        guard isMoved else { return try codePage(call, frame, address, isWrong: true) }
        var response = Response.seeOther(
            try call.place(
                of: CodeAddress(email: address, page: .moved), frame.visit,
                Onward(path: AccountFrame.Tab.data.rawValue)))
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        return response
    }
}
