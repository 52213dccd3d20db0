internal import HTTP
internal import JSON

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
    func nativeResponse() -> Response {
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
            .required("title", .text(1...100), "A code for programs."),
            .required("status", .integer(400...599), "The status of the response."),
            .required("detail", .text(1...1000), "What is wrong.")))

    /// What is said of a single member, of an enrolment, or of a link.
    static let nativeSmallSchema = Schema.named(
        "NativeError",
        .object(
            .optional("error", .text(1...1000), "What is wrong with a member."),
            .optional("Message", .text(1...1000), "What is wrong with an enrolment, or a link.")))
}
