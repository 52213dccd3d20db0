internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import QRCode
internal import Values

/// Where people put an authenticator app beside their mailbox, see to it, and take it away.
enum TOTPRoutes {
    static let table: [Route<RealmContext>] = [
        begin, svg, png, finish, status, remove, renew,
    ]

    private static let begin = Route<RealmContext>(
        .post, "/connect/totp/enroll/begin", id: "beginTOTPEnrollment", tag: "Two factors",
        summary: "Starts the enrolment of an authenticator app.",
        detail: "It asks for no code before the app has shown one; that has to be soon.",
        right: .account, voice: .native,
        answer: .ok(
            "What the app needs.",
            .object(
                .required(
                    "Secret", .text(32...32),
                    "TOTP secret in Base32, for authenticator apps without a camera."),
                .required("OtpAuthUri", .text(1...1000), "Key URI (`otpauth://`) in the QR code."),
                .required("QrSvg", .text(1...200_000), "QR code as SVG."),
                .required("ExpiresIn", .integer(1...3_600), "Lifetime of the enrolment in seconds.")
            ),
            example: [
                "Secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "OtpAuthUri": "otpauth://totp/…",
                "QrSvg": "<svg …", "ExpiresIn": 600,
            ]),
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        let account = try call.accountToChange
        try RateCounter(call).count(.twoFactor, target: account.description)
        let totp = TOTP.generate()
        try await call.change(
            EnrollTOTP(
                account: account, totp: call.context.newID(), secret: totp.kept,
                now: call.context.clock.now()))
        let uri = try await SecondFactors(call).enrolmentURI(of: totp, for: account)
        return .native(
            .ok,
            [
                "Secret": .string(totp.text), "OtpAuthUri": .string(uri),
                "QrSvg": .string(try QRCode.picture(of: uri).svg),
                "ExpiresIn": .integer(EnrollTOTP.lifetime),
            ])
    }

    private static let svg = Route<RealmContext>(
        .get, "/connect/totp/enroll/qr.svg", id: "getTOTPPicture", tag: "Two factors",
        summary: "Shows the QR code for the authenticator app during enrolment.",
        right: .account, voice: .native,
        answer: Answer(
            status: .ok, description: "A QR code.", content: .text("image/svg+xml")),
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        .text(.ok, "image/svg+xml", try QRCode.picture(of: try await call.offeredURI()).svg)
    }

    private static let png = Route<RealmContext>(
        .get, "/connect/totp/enroll/qr.png", id: "getTOTPPixels", tag: "Two factors",
        summary: "Shows the same QR code in pixels.", right: .account, voice: .native,
        answer: Answer(status: .ok, description: "A QR code.", content: .bytes("image/png")),
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        var response = Response.bytes(
            .ok, try QRCode.picture(of: try await call.offeredURI()).png())
        response.headers["Content-Type"] = "image/png"
        return response
    }

    private static let finish = Route<RealmContext>(
        .post, "/connect/totp/enroll", id: "enrollTOTP", tag: "Two factors",
        summary: "Confirms the authenticator app with its first code.",
        right: .account, voice: .native, body: code, answer: recoveryCodes,
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        let (account, typed) = try call.counted()
        let codes = RecoveryCode.generateSet()
        try await call.change(
            ConfirmTOTP(
                account: account, typed: typed,
                recoveryCodes: try SecondFactors(call).digests(of: codes, for: account),
                mail: call.context.newID(),
                now: call.context.clock.now()))
        return shown(codes)
    }

    private static let status = Route<RealmContext>(
        .get, "/connect/totp", id: "getTOTP", tag: "Two factors",
        summary: "Shows whether the account has an authenticator app.", right: .account,
        voice: .native,
        answer: .ok("State of the authenticator app.", shape), refusals: Place.refusals
    ) { call throws(Problem) in
        let factor = try await SecondFactors(call).state(of: try call.accountOfCaller)
        return .native(.ok, shape.json(factor))
    }

    private static let shape = Shape<TwoFactor>(
        .required(
            "Enabled", "Whether signing in needs a TOTP code.", { $0.enrolled != nil },
            example: false),
        .optional("EnrolledAt", "Enrolment time.", \.enrolledAt),
        .required(
            "RecoveryCodesLeft", .integer(0...100), "Number of unused recovery codes.",
            \.recoveryCodes.count, example: 0))

    private static let remove = Route<RealmContext>(
        .delete, "/connect/totp", id: "removeTOTP", tag: "Two factors",
        summary: "Removes the authenticator app.",
        detail: "Needs a code of the app, or a recovery code.", right: .account,
        voice: .native, body: code,
        answer: .done("The authenticator app is removed."),
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        let (account, typed) = try call.counted()
        try await call.prove(
            RemoveTOTP(
                account: account, typed: typed, mail: call.context.newID(),
                now: call.context.clock.now()))
        return Response(status: .noContent)
    }

    private static let renew = Route<RealmContext>(
        .post, "/connect/totp/recovery-codes", id: "renewRecoveryCodes", tag: "Two factors",
        summary: "Replaces the recovery codes.",
        right: .account, voice: .native, body: code, answer: recoveryCodes,
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        let (account, typed) = try call.counted()
        let codes = RecoveryCode.generateSet()
        try await call.prove(
            RenewRecoveryCodes(
                account: account, typed: typed,
                recoveryCodes: try SecondFactors(call).digests(of: codes, for: account),
                now: call.context.clock.now()))
        return shown(codes)
    }

    private static let refusals: [ProblemKind] = [
        .invalidEnrollment, .noTwoFactor, .rateLimited, .reauthenticationRequired,
    ]

    private static let code = Body(
        schema: .object(
            .required(
                "Code", .text(0...128), "TOTP code of the authenticator app, or a recovery code.")),
        example: ["Code": "123456"])

    private static let recoveryCodes = Answer.ok(
        "Shown this once. Each signs in once, in the place of a code of the app.",
        .object(
            .required(
                "RecoveryCodes", .list(of: .text(14...14), 10...10),
                "Recovery codes, to be written down.")),
        example: [
            "RecoveryCodes": .array((0..<10).map { .string("0123-4567-89A\($0)") })
        ])

    private static func shown(_ codes: [RecoveryCode]) -> Response {
        .native(.ok, ["RecoveryCodes": .array(codes.map { .string($0.text) })])
    }
}

extension TwoFactorRejection: Refusal {
    var problem: Problem {
        switch self {
        // Its tokens are over: this one came a moment too late.
        case .accountBlocked: Problem(.invalidToken)
        case .enrolledAlready:
            Problem(.invalidEnrollment, "An authenticator app is enrolled already.")
        case .notEnrolled: Problem(.noTwoFactor)
        case .notOffered:
            Problem(.invalidEnrollment, "Enrollment session expired. Please try again.")
        case .wrongCode: Problem(.invalidEnrollment, "The two-factor code is invalid.")
        }
    }
}
