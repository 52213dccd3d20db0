internal import HTTP
internal import JSON

/// The parameters of an authorization request, before anything of them is believed.
struct AuthorizationParameters {
    /// Those that came once; one without a value is not there (RFC 6749 section 3.1).
    private(set) var values: [String: String] = [:]
    /// The one that may come several times (RFC 8707).
    private(set) var resources: [String] = []
    /// Parameters sent more than once, so that which value was meant is unknown.
    private(set) var repeated: Set<String> = []

    init(_ pairs: [Form.Pair]) {
        var seen: Set<String> = []
        for (name, value) in pairs {
            if name == "resource" {
                if !value.isEmpty { resources.append(value) }
                continue
            }
            guard seen.insert(name).inserted else {
                repeated.insert(name)
                continue
            }
            if !value.isEmpty { values[name] = value }
        }
        for name in repeated { values[name] = nil }
    }

    /// What a request object says (RFC 9101 section 4): its members under the same names. Nil where
    /// one that is known here has a type that the parameter has not: to ignore it would be to
    /// answer another request than the client's.
    init?(claims: JSONObject) {
        for (name, value) in claims where !Self.ofTheObject.contains(name) {
            switch (name, value) {
            case ("resource", .string(let resource)): resources = [resource]
            case ("resource", .array(let list)):
                resources = list.compactMap(\.string)
                guard resources.count == list.count else { return nil }
            case ("max_age", .integer(let seconds)): values[name] = String(seconds)
            case ("claims", .object), ("registration", .object):
                values[name] = String(decoding: value.canonical(), as: UTF8.self)
            case (_, .string(let text)): if !text.isEmpty { values[name] = text }
            default:
                guard !Self.known.contains(name) else { return nil }
            }
        }
    }

    private static let ofTheObject: Set<String> = [
        "iss", "aud", "exp", "nbf", "iat", "jti", "sub", "request", "request_uri",
    ]
    private static let known: Set<String> = [
        "acr_values", "claims", "claims_locales", "client_id", "code_challenge",
        "code_challenge_method", "display", "dpop_jkt", "id_token_hint", "login_hint", "max_age",
        "nonce", "prompt", "redirect_uri", "registration", "resource", "response_mode",
        "response_type", "scope", "state", "ui_locales",
    ]

    subscript(_ name: String) -> String? { values[name] }
}

extension Call<RealmContext> {
    /// A form that may come from a page of another site: browsers send it without the cookie that says
    /// who is signed in (RFC 6265bis section 5.6.7.1). An address that it leads to by GET has it.
    var isFormWithoutBrowser: Bool {
        request.method == .post && request.cookie(PageCookie.session.rawValue) == nil
    }

    /// From the query of a GET, or the form of a POST (OpenID Connect Core section 3.1.2.1).
    func authorizationParameters() throws(Problem) -> AuthorizationParameters {
        var bytes = Array((request.query ?? "").utf8)
        if request.method == .post {
            let type = request.headers["Content-Type"]?.lowercased() ?? ""
            guard type.hasPrefix("application/x-www-form-urlencoded") else {
                throw Problem(.unsupportedMediaType, "Send it as a form.")
            }
            bytes = request.body
        }
        guard let pairs = Form.parse(bytes, maximumPairs: 64, maximumBytes: 64 << 10) else {
            throw Problem(.invalidRequest, "The request cannot be read.")
        }
        return AuthorizationParameters(pairs)
    }
}
