internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import OneTimeCodes
internal import PhoneNumbers
internal import Values

/// Where a native app begins to sign a user in, without a browser and without a cookie.
enum NativeRoutes {
    static let table: [Route<RealmContext>] = [requestOTP, register]

    private static let person: [Member] = [
        .optional("Email", .text(0...320), "Mail address.", example: "ann@example.org"),
        .optional(
            "Phone", .text(0...128),
            "Phone number with its country code, in place of a mail address, if "
                + "`phone_sign_in` is on."),
        .optional("FirstName", .text(0...100), "First name, if the realm asks for it."),
        .optional("LastName", .text(0...100), "Last name, if the realm asks for it."),
        .optional("InviteCode", .text(0...100), "Invite code, if registration needs one."),
    ]

    private static let requestOTP = Route<RealmContext>(
        .post, "/api/account/native/otp/request", id: "requestOTP", tag: "Native sign-in",
        summary: "Sends a one-time code, by mail or to a phone.",
        detail: "The answer is the same whether there is an account or not.", right: .nothing,
        voice: .native, body: Body(schema: .object(person), example: ["Email": "a@example.org"]),
        answer: uniform(mailed), refusals: Place.refusals + [.nativeGrantsDisabled, .rateLimited],
        traits: .needsForwardedAddress
    ) { call throws(Problem) in
        try await call.requestCode(.signIn, answer: mailed)
    }

    private static let register = Route<RealmContext>(
        .post, "/api/account/native/register", id: "registerNatively", tag: "Native sign-in",
        summary: "Mails a one-time code to register with.",
        detail: "Works where registration is `explicit_endpoint`; the answer is always the same.",
        right: .nothing, voice: .native,
        body: Body(schema: .object(person), example: ["Email": "a@example.org"]),
        answer: uniform(available),
        refusals: Place.refusals + [.nativeGrantsDisabled, .rateLimited],
        traits: .needsForwardedAddress
    ) { call throws(Problem) in
        try await call.requestCode(.registration, answer: available)
    }

    private static let mailed = "If your email is registered, you will receive a verification code."
    private static let available =
        "If registration is available, you will receive a verification code."

    static func uniform(_ message: String) -> Answer {
        .ok(
            "The same message, whether or not the account exists.",
            .object(.required("Message", .text(1...200), "Message for the user.")),
            example: ["Message": .string(message)])
    }
}

extension Call<RealmContext> {
    /// Against account enumeration, the response is always the same, at a time that was chosen
    /// beforehand.
    fileprivate func requestCode(
        _ route: RequestOTP.Route, answer message: String
    ) async throws(Problem) -> Response {
        async let pause: Void = context.hesitate()
        let settings = context.place.settings
        guard settings[SettingCatalogue.nativeGrants] else { throw Problem(.nativeGrantsDisabled) }
        let address = try addressGiven(settings)
        var person =
            address?.person(language: PageRequest(self).readersLanguage) ?? Person()
        (person.firstName, person.lastName) = (given("FirstName"), given("LastName"))
        for (name, demand, value) in [
            ("FirstName", settings[SettingCatalogue.registrationFirstName], person.firstName),
            ("LastName", settings[SettingCatalogue.registrationLastName], person.lastName),
        ] where demand == .required && value == nil {
            throw Problem(.missingField, "\(name) is required.")
        }
        if let address {
            let mailbox = context.mint.mailbox(address.text)
            try RateCounter(self).countCode(to: address, mailbox)
            try await issue(route, mailbox, person, by: address.channel(settings))
        } else {
            try RateCounter(self).count(.nativeOTP)
        }
        await pause
        return .native(.ok, ["Message": .string(message)])
    }

    /// Of a phone number it is told what is wrong with it: that says nothing of who has it.
    private func addressGiven(_ settings: Settings) throws(Problem) -> SignInAddress? {
        guard given("Email") == nil, let phone = given("Phone") else {
            return given("Email").flatMap { try? MailAddress($0) }.map { SignInAddress($0) }
        }
        do throws(PhoneFault) {
            return SignInAddress(try PhoneNumber(typed: phone, settings))
        } catch {
            throw error.problem("Phone")
        }
    }

    private func issue(
        _ route: RequestOTP.Route, _ mailbox: UUID, _ person: Person, by channel: Channel
    ) async throws(Problem) {
        let code = context.newID()
        let mint = context.mint
        guard let digest = mint.digest(ofCode: mint.code(code), for: mailbox)
        else { throw Problem(.internalError) }
        var command = RequestOTP(
            route: route, app: context.place.app, mailbox: mailbox, person: person, code: code,
            digest: digest,
            invite: given("InviteCode").flatMap { InviteCode(typed: $0) }
                .map(context.mint.invite),
            mayJoin: false, now: context.clock.now())
        command.channel = channel
        command.isReadable = { mint.digits(of: $0, for: mailbox) != nil }
        command.source = context.signInPlace(of: request).source
        let outcome = try await asked(command)
        // Only what would make an account counts as one more sign-up of its source.
        guard outcome == .nothing(.wouldJoin), RateCounter(self).allowsSignUp() else { return }
        command.mayJoin = true
        _ = try await asked(command)
    }

    /// A fault is told under the name that the member has in the request.
    private func asked(_ command: RequestOTP) async throws(Problem) -> RequestOTP.Outcome {
        switch try await Commands(self).attempt(command, as: .anonymous) {
        case .success(let outcome): return outcome
        case .failure(.invalid(let fault)):
            let member = fault.field.split(separator: "_")
                .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            throw Problem(of: FieldFault(member, fault.reason, at: fault.index))
        case .failure(let refusal): throw refusal.problem
        }
    }

    /// A member that says something.
    func given(_ name: String) -> String? {
        guard let text = body[name]?.string,
            text.unicodeScalars.contains(where: { !$0.properties.isWhitespace })
        else { return nil }
        return text
    }
}
