internal import JSON
internal import Values

/// What a request asks for by name (OpenID Connect Core section 5.5), as far as there is any of it.
struct RequestedClaims: Equatable {
    var idToken: [String] = []
    var userInfo: [String] = []
    /// The subjects, one of which must be signed in; empty: any user.
    var subjects: [String] = []
    /// The levels (`acr`), one of which the sign-in must have.
    var levels: [String] = []
    /// Whether the `acr` claim is essential: without the level the request is refused.
    var needsLevel = false

    /// The claims that can be requested; others are ignored.
    static let known = [
        "name", "given_name", "family_name", "locale", "updated_at", "email", "email_verified",
        "phone_number", "phone_number_verified",
    ]

    /// The scope that a claim belongs to (OpenID Connect Core section 5.4). Who asks for it by name must be
    /// allowed that scope, and its person must agree to it, as if the scope had been asked for.
    static func scope(of claim: String) -> String {
        if claim.hasPrefix("phone") { return "phone" }
        return claim.hasPrefix("email") ? "email" : "profile"
    }

    init() {}

    /// Nil for what is no `claims` object.
    init?(_ text: String) {
        guard text.utf8.count <= 8192,
            let members = (try? JSON.parse(Array(text.utf8), limits: .ofRequests))?.object
        else { return nil }
        for (part, value) in members where part == "id_token" || part == "userinfo" {
            guard let asked = value.object else { return nil }
            guard asked.values.allSatisfy({ $0.isNull || $0.object != nil }) else { return nil }
            let names = Self.known.filter { asked[$0] != nil }
            if part == "userinfo" {
                userInfo = names
                continue
            }
            idToken = names
            guard let subjects = Self.texts(asked["sub"]) else { return nil }
            self.subjects = subjects
            guard let levels = Self.texts(asked["acr"]) else { return nil }
            self.levels = levels
            switch asked["acr"]?["essential"] {
            case nil: break
            case .bool(let isEssential)?: needsLevel = isEssential && !levels.isEmpty
            default: return nil
            }
        }
    }

    /// Nil where it cannot be told what is wanted: to pass that over would be to answer with anything.
    private static func texts(_ claim: JSON?) -> [String]? {
        switch (claim?["value"], claim?["values"]) {
        case (nil, nil): return []
        case (let value?, nil): return value.string.map { [$0] }
        case (nil, let values?):
            let names = values.array?.compactMap(\.string) ?? []
            return names.isEmpty || names.count != values.array?.count ? nil : names
        case (.some, .some): return nil
        }
    }
}
