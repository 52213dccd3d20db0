internal import HTTP
internal import Identity
internal import JSON

/// Private keys where none belongs. What administrators write goes on record, and stays readable in the log for ever.
enum DisclosedKeys {
    /// The members that take secrets, by operation: they are sealed, or kept nowhere.
    static let secrets: [String: Set<String>] = [
        "configureProvider": ["client_secret"], "setAppleProvider": ["private_key"],
        "setFirebaseProvider": ["service_account"],
        "setMessageGateway": ["secret", "receipt_secret", "verify_token"],
        "setCaptchaSecret": ["secret"], "planConfiguration": ["secrets"],
        "applyConfiguration": ["secrets"], "compareConfiguration": ["secrets"],
    ]

    /// Refuses a member with a private key in it, by its name, and repeats nothing of it.
    static func check(
        _ members: JSONObject, of operation: String, as kind: ProblemKind = .invalidField
    ) throws(Problem) {
        let secrets = secrets[operation] ?? []
        for (name, value) in members.sorted(by: { $0.key < $1.key })
        where !secrets.contains(name) && DisclosedKey.isFound(in: value) {
            let index = value.array?.firstIndex(where: DisclosedKey.isFound(in:))
            let place = index.map { "\(name)/\($0)" } ?? name
            throw Problem(
                kind,
                "\(place) has a private key in it, which would stay readable in the log.",
                field: place)
        }
    }
}
