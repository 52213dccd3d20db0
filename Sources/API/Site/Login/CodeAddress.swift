internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The mail address that a code went to, as it stands in the address of the page on which the code
/// is typed: sealed, and good in the browser alone that asked for the code. So the page can be
/// opened again, by a reload or after a phone dropped it, and nothing is mailed once more. Other
/// pages are handed what the user typed in the same way: no other party can make the address, and
/// no log has what is in it.
struct CodeAddress {
    /// The pages on which one is typed, and those that go on with an address.
    enum Page: String {
        case login = "/login/code"
        case newAddress = "/account/email/confirm"
        case forgotten = "/passphrase/forgotten"
        /// After an account moved to it, or got another passphrase.
        case settled = "/login"
    }

    /// Or a phone number.
    var email: String
    var isPhone: Bool { email.utf8.first == UInt8(ascii: "+") && !email.utf8.contains(0x40) }
    var page = Page.login
    /// Where a user registers: another code is requested with the same details.
    var newcomer: RegistrationDetails?
    /// When this browser asked for the code.
    var askedAt: Timestamp?
    /// Whether another code was requested before the minimum interval was over.
    var isTooSoon = false
    /// Whether an earlier code was sent.
    var isAnother = false
    /// Seconds until another code is sent, where all clients together asked for too many.
    var limitedFor: Int64?
    /// Codes that were typed here and were wrong.
    var wrong: Int64 = 0
    /// It is the passphrase that is new.
    var hasNewPassphrase = false

    /// What a user who registers says of themselves.
    struct RegistrationDetails {
        var firstName: String?
        var lastName: String?
        var invite: String?
    }

    static let parameter = Parameter(
        "to", in: .query, .text(0...2048), "Sealed mail address.")
    static let member = Member.optional(
        "to", .text(0...2048), "Sealed address of the previous code.")

    /// Seconds that the user has to look into their mail.
    fileprivate static let patience: Int64 = 3600
}

extension Call<RealmContext> {
    /// The page on which a code is typed.
    func place(
        of address: CodeAddress, _ visit: PageVisit, _ returnTarget: ReturnTarget
    ) throws(Problem) -> String {
        returnTarget.link(address.page.rawValue, [("to", try seal(address, visit))])
    }

    func seal(_ address: CodeAddress, _ visit: PageVisit) throws(Problem) -> String {
        let until = context.clock.now().adding(seconds: CodeAddress.patience)
        var members: JSONObject = [
            "email": .string(address.email), "page": .string(address.page.rawValue),
            "soon": .bool(address.isTooSoon), "form": .string(visit.formName),
            "until": .integer(until.seconds),
        ]
        members["joins"] = address.newcomer.map { .object($0.members) }
        members["asked"] = address.askedAt.map { .integer($0.seconds) }
        if address.isAnother { members["another"] = true }
        if address.wrong > 0 { members["wrong"] = .integer(address.wrong) }
        if address.hasNewPassphrase { members["passphrase"] = true }
        guard let sealed = context.mint.seal(.object(members), for: .codeAddress) else {
            throw Problem(.internalError)
        }
        return sealed
    }

    /// Seconds until another code can be had, as far as this browser knows, which knows only when
    /// it asked itself: so that is the same for every address, whether an account has it or not.
    func wait(for address: CodeAddress) -> Int64 {
        let delay = context.place.settings[SettingCatalogue.otpResendDelay]
        guard delay > 0, let asked = address.askedAt else { return 0 }
        // One more, for a part of a second was dropped.
        return max(0, asked.seconds + delay + 1 - context.clock.now().seconds)
    }

    /// Where a form for another code leads that comes too soon.
    func tooSoon(
        for email: String, _ visit: PageVisit, at page: CodeAddress.Page = .login
    ) -> CodeAddress? {
        guard var address = codeAddress(visit, at: page, shown: body["to"]?.string),
            address.email == email, wait(for: address) > 0
        else { return nil }
        address.isTooSoon = true
        return address
    }

    /// The form for a code, where no other one is sent because too many were asked for: strangers may have done
    /// that, and the person has the mails.
    func codePage(
        after refusal: Problem, for email: String, _ visit: PageVisit, _ returnTarget: ReturnTarget,
        newcomer: CodeAddress.RegistrationDetails? = nil
    ) throws(Problem) -> Response {
        guard refusal.kind == .rateLimited else { throw refusal }
        var address = CodeAddress(email: email, newcomer: newcomer)
        if let before = codeAddress(visit, shown: body["to"]?.string), before.email == email {
            address = before
        }
        (address.isTooSoon, address.isAnother) = (false, false)
        address.limitedFor = refusal.members["retryAfterSeconds"]?.integer ?? 60
        var response = try CodePage(self, visit, returnTarget, address)
            .response(.tooManyRequests)
        for (name, value) in refusal.headers { response.headers.append(name, value) }
        return response
    }

    /// Where a code went to just now. Whether it is another one, the form says that asked for it.
    func sent(
        to email: String, _ visit: PageVisit, at page: CodeAddress.Page = .login
    ) -> CodeAddress {
        CodeAddress(
            email: email, page: page, askedAt: context.clock.now(),
            isAnother: codeAddress(visit, at: page, shown: body["to"]?.string)?.email == email)
    }

    /// Whether the code is over for what was typed here, which is the same for every address.
    func isSpent(_ address: CodeAddress) -> Bool {
        address.wrong >= context.place.settings[SettingCatalogue.otpAttempts]
    }

    /// Nil for what was not sealed here, elsewhere than in its browser, and when it is too late.
    func codeAddress(
        _ visit: PageVisit, at page: CodeAddress.Page = .login, shown: String? = nil
    ) -> CodeAddress? {
        guard let text = shown ?? text("to"),
            let members = context.mint.unseal(text, for: .codeAddress)?.object,
            let email = members["email"]?.string,
            members["page"]?.string == page.rawValue,
            members["form"]?.string == visit.formName, let until = members["until"]?.integer,
            context.clock.now().seconds < until
        else { return nil }
        return CodeAddress(
            email: email, page: page,
            newcomer: members["joins"]?.object.map(CodeAddress.RegistrationDetails.init),
            askedAt: members["asked"]?.integer.map { Timestamp(seconds: $0) },
            isTooSoon: members["soon"]?.bool ?? false,
            isAnother: members["another"]?.bool ?? false, wrong: members["wrong"]?.integer ?? 0,
            hasNewPassphrase: members["passphrase"]?.bool ?? false)
    }
}

extension CodeAddress.RegistrationDetails {
    fileprivate init(_ members: JSONObject) {
        self.init(
            firstName: members["first_name"]?.string, lastName: members["last_name"]?.string,
            invite: members["invite"]?.string)
    }

    fileprivate var members: JSONObject {
        JSONObject(fields.map { ($0.name, .string($0.value)) })
    }

    /// As the form has them on which people join.
    var fields: [(name: String, value: String)] {
        let all = [("first_name", firstName), ("last_name", lastName), ("invite", invite)]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}
