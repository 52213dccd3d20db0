import JSON
import Testing
import Values

/// What a token says of itself, looked at without any key.
func header(of token: String) throws -> JSON { try part(0, of: token) }

func payload(of token: String) throws -> JSON { try part(1, of: token) }

private func part(_ index: Int, of token: String) throws -> JSON {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    return try JSON.parse(try #require(Base64URL.decode(String(parts[index]))))
}
