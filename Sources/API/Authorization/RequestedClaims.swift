internal import JSON
internal import Values

/// What a request asks for by name (OpenID Connect Core section 5.5), as far as there is any of it.
struct RequestedClaims: Equatable {
    var idToken: [String] = []
    var userInfo: [String] = []
    /// Who must be signed in.
    var subject: String?
    /// How strongly somebody must have signed in, one of these.
    var levels: [String] = []
    /// Without it there is to be no answer at all.
    var needsLevel = false

    /// All that can be asked for so; what else is asked for is passed over.
    static let known = [
        "name", "given_name", "family_name", "locale", "updated_at", "email", "email_verified",
    ]

    /// The scope that a claim belongs to (OpenID Connect Core section 5.4). Who asks for it by name must be
    /// allowed that scope, and its person must agree to it, as if the scope had been asked for.
    static func scope(of claim: String) -> String {
        claim.hasPrefix("email") ? "email" : "profile"
    }

    init() {}

    /// Nil for what is no such object.
    init?(_ text: String) {
        guard text.utf8.count <= 8192, let members = (try? JSON.parse(Array(text.utf8)))?.object
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
            subject = asked["sub"]?["value"]?.string
            if let level = asked["acr"] {
                levels =
                    level["values"]?.array?.compactMap(\.string)
                    ?? level["value"]?.string.map { [$0] } ?? []
                needsLevel = level["essential"]?.bool == true && !levels.isEmpty
            }
        }
    }
}
