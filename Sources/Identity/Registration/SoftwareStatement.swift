public import JSON

/// What a maker says of a client whom the realm trusts (RFC 7591 section 2.3): signed, and good now.
public struct SoftwareStatement: Sendable, Equatable {
    /// As the client sent it, and is told it again.
    public let text: String
    let claims: JSONObject

    public init(_ text: String, claims: JSONObject) {
        self.text = text
        self.claims = claims
    }

    /// What a client says of itself, with its maker's words in the place of its own.
    public static func lay(_ statement: SoftwareStatement?, over own: JSONObject) -> JSONObject {
        guard let statement else { return own }
        let said = statement.claims.filter {
            OwnMetadata.names.contains($0.key) && !$0.value.isNull
        }
        return own.merging(said) { _, said in said }
    }
}
