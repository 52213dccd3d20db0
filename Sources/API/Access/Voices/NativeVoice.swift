internal import HTTP
internal import JSON

extension Voice {
    /// Native apps: members are matched without case, what isn't described is ignored, and a problem's title is
    /// a code for programs.
    static let native = Voice(
        name: "native", reading: [.ignoresUnknown, .matchesWithoutCase],
        caution: .setsNoCookies,
        refusal: { problem, _ in problem.nativeResponse() },
        refusalSchemas: [Problem.nativeSchema, Problem.nativeSmallSchema, RateLimitRefusal.schema],
        sentence: { hasBody in
            hasBody ? "Members are matched without case; others than these are ignored." : ""
        },
        label: { $0.nativeCode },
        content: { kinds in
            var content: JSONObject = [:]
            if kinds.contains(where: { $0 != .rateLimited }) {
                content["application/problem+json"] = ["schema": Problem.nativeSchema.document]
            }
            if kinds.contains(where: {
                $0 == .rateLimited || $0 == .invalidLink || $0.status == .badRequest
            }) {
                let schema =
                    kinds.contains(.rateLimited)
                    ? RateLimitRefusal.schema : Problem.nativeSmallSchema
                content["application/json"] = ["schema": schema.document]
            }
            return content
        })
}

/// Problems as native apps are told them.
extension ProblemKind {
    /// What a native app finds in a problem's title: a code for programs. Those that have no name
    /// of their own there get Urd's, as names are spelled there.
    var nativeCode: String {
        nativeCodes[self]
            ?? rawValue.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined()
    }

    /// Whether a native app reads no more of it than one sentence.
    fileprivate var isSmall: Bool { smallKinds.contains(self) }
}

private let nativeCodes: [ProblemKind: String] = [
    .nativeGrantsDisabled: "NativeGrants.Disabled",
    .internalLoginDisabled: "LoginExperience.InternalDisabled",
    .passkeyUnavailable: "Passkey.Unavailable",
    .forwarderNotTrusted: "Auth.ForwarderNotTrusted",
    .forwardedAddressRequired: "Auth.ForwardedAddressRequired",
    .reauthenticationRequired: "Account.ReauthenticationRequired",
]

private let smallKinds: Set<ProblemKind> = [
    .missingField, .invalidField, .malformedJSON, .malformedForm, .repeatedParameter,
    .invalidParameter, .missingParameter,
]

extension Problem {
    fileprivate func nativeResponse() -> Response {
        let sentence = detail.isEmpty ? kind.title : detail
        if kind == .rateLimited { return rateLimitResponse() }
        if kind == .invalidEnrollment || kind == .invalidLink {
            return .json(kind.status, ["Message": .string(sentence)])
        }
        if kind.isSmall { return .json(kind.status, ["error": .string(sentence)]) }
        var body = members
        body["status"] = .integer(Int64(kind.status.code))
        body["title"] = .string(kind.nativeCode)
        body["detail"] = .string(sentence)
        var response = Response.json(kind.status, .object(body))
        response.headers["Content-Type"] = "application/problem+json"
        return response
    }

    /// A problem whose title is a code.
    static let nativeSchema = Schema.named(
        "NativeProblem",
        .object(
            .required("title", .text(1...100), "Error code for programs."),
            .required("status", .integer(400...599), "HTTP status of the response."),
            .required("detail", .text(1...1000), "Explanation of the error.")))

    /// What is said of a single member, of an enrolment, or of a link.
    static let nativeSmallSchema = Schema.named(
        "NativeError",
        .object(
            .optional("error", .text(1...1000), "Explanation of an invalid member."),
            .optional("Message", .text(1...1000), "Explanation of a failed enrolment or link.")))
}
