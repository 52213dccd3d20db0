/// How strong a sign-in can be, in the words of `acr`.
enum AuthenticationLevel {
    static let single = "urn:modgud:acr:single"
    static let multiple = "urn:modgud:acr:multi"

    /// The authentication levels (acr values) of a list that this server knows.
    static func known(_ levels: [String]) -> [String] {
        levels.filter { $0 == single || $0 == multiple }
    }

    /// A stronger sign-in satisfies a weaker level.
    static func reaches(_ level: String?, oneOf levels: [String]) -> Bool {
        guard let level else { return false }
        return levels.contains(level) || level == multiple && levels.contains(single)
    }
}
