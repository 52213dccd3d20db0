internal import HTTP
internal import JSON

extension Voice {
    /// OAuth 2: what isn't described is ignored, what is empty is not there, and refusals are `error` with
    /// `error_description` (RFC 6749 section 5.2).
    static let oauth = Voice(
        name: "oauth", reading: .ignoresUnknown,
        caution: [.saysPragma, .setsNoCookies],
        refusal: { problem, _ in problem.oauthResponse() },
        refusalSchemas: [Problem.oauthSchema, RateLimitRefusal.schema],
        sentence: { _ in
            "Parameters that are not described are ignored, and one without a value is not there."
        },
        label: { $0.oauthCode },
        content: { kinds in
            let schema =
                kinds.contains(.rateLimited) ? RateLimitRefusal.schema : Problem.oauthSchema
            return ["application/json": ["schema": schema.document]]
        })
}

extension Problem {
    fileprivate func oauthResponse() -> Response {
        if kind == .rateLimited { return rateLimitResponse() }
        var body = members
        body["error"] = .string(kind.oauthCode)
        body["error_description"] = .string(describable(detail.isEmpty ? kind.title : detail))
        return .json(kind.status, .object(body))
    }

    static let oauthSchema = Schema.named(
        "OAuthError",
        .object(
            .required("error", .text(1...100), "Error code (RFC 6749 section 5.2)."),
            .optional(
                "error_description", .text(1...1000), "Explanation of the error, for developers."),
            .optional("error_uri", .text(1...1000), "URI of the error's documentation."),
            .optional(
                "auth_session", .text(1...8192),
                "Authorization session to continue with at the challenge endpoint."),
            .optional(
                "second_factor_required", .boolean,
                "Whether a `totp_code` is missing, at the challenge endpoint."),
            .optional(
                "methods", .list(of: .text(1...100), 0...20),
                "Second factors that a browser can ask for, with the error `mfa_required`.")))
}

/// RFC 6749 section 5.2: printable ASCII without quotes and backslashes.
private func describable(_ text: String) -> String {
    let bytes = text.unicodeScalars.map { scalar -> UInt8 in
        switch scalar.value {
        case 0x22: 0x27
        case 0x5C: 0x2F
        case 0x20...0x7E: UInt8(truncatingIfNeeded: scalar.value)
        default: 0x3F
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}
