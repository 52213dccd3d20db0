internal import HTTP
internal import JSON

/// The parameters of an authorization request, before anything of them is believed.
struct AuthorizationParameters {
    /// Those that came once; one without a value is not there (RFC 6749 section 3.1).
    private(set) var values: [String: String] = [:]
    /// The one that may come several times (RFC 8707).
    private(set) var resources: [String] = []
    /// Of these nobody can say which was meant.
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

    /// What a request object says (RFC 9101 section 4): its members under the same names.
    init(claims: JSONObject) {
        for (name, value) in claims where !Self.ofTheObject.contains(name) {
            switch value {
            case .string(let text): if !text.isEmpty { values[name] = text }
            case .integer(let number): values[name] = String(number)
            case .object: values[name] = String(decoding: value.canonical(), as: UTF8.self)
            default: break
            }
        }
        values["resource"] = nil
        resources =
            claims["resource"]?.array?.compactMap(\.string)
            ?? claims["resource"]?.string.map { [$0] } ?? []
    }

    private static let ofTheObject: Set<String> = [
        "iss", "aud", "exp", "nbf", "iat", "jti", "sub", "request", "request_uri",
    ]

    subscript(_ name: String) -> String? { values[name] }
}

extension Call<RealmContext> {
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
