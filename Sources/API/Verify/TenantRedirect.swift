internal import HTTP
internal import Identity

/// Redirect URLs whose own query has a member that the answer has too. Who reads the first one of two would read
/// what the author of the link wrote there, and not what comes from here.
enum TenantRedirect {
    /// What the page adds, and the frame's tenant with it.
    static let ofCodes = ["code", "state", "challenge_id", "error"]
    /// What the way back from a provider's connection adds.
    static let ofConnections = ["provider", "error"]

    /// Throws, in words for the app's developer, where the query has one of these members.
    static func check(_ redirect: String, for names: [String]) throws(Problem) {
        guard let name = own(redirect).first(where: names.contains) else { return }
        throw Problem(
            .invalidRequest,
            "The redirect URL \(redirect.prefix(400)) has a \(name) in its own query, as the answer has. It must have "
                + "none of \(names.joined(separator: ", ")).")
    }

    /// The names in its query, as lenient readers take them: without regard to case, to spaces around and to
    /// brackets behind, and divided by semicolons too.
    private static func own(_ redirect: String) -> [String] {
        guard let start = redirect.utf8.firstIndex(of: 0x3F) else { return [] }
        let query = redirect[redirect.utf8.index(after: start)...]
        return query.split { $0 == "&" || $0 == ";" }.map { member in
            let name = member.prefix { $0 != "=" }.map { $0 == "+" ? " " : $0 }
            let text = Percent.decode(String(name)) ?? String(name)
            return trimmed(String(text.prefix { $0 != "[" })).lowercased()
        }
    }
}
