import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A realm's own words in mails` {
    @Test func `a realm's own mail words are checked when they are set`() async throws {
        let world = try await World()
        _ = try await world.send(
            .post, "/api/admin/realms", body: ["realm": "acme", "display_name": "Acme"])
        let path = "/api/admin/realms/acme/settings"
        let good: JSON = ["EmailOtp": ["en": ["subject": "{product} lets you in for {minutes}"]]]
        #expect(try await world.send(.patch, path, body: ["mail_words": good]).status == .ok)
        let bad: [JSON] = [
            ["EmailOtp": ["en": ["subject": "{url} is no word of this mail"]]],
            ["EmailOtp": ["fr": ["subject": "Votre code"]]], ["EmailOtp": ["en": ["title": "x"]]],
            ["Nonsense": ["en": ["subject": "x"]]], ["EmailOtp": ["en": ["subject": "  "]]],
            ["EmailOtp": ["en": ["heading": "\u{200B}"]]],
            ["EmailOtp": ["en": ["subject": "x\nBcc: eve@example.org"]]],
            "words",
        ]
        let refused = try await world.send(
            .patch, path,
            body: ["mail_words": ["MagicLink": ["de": ["subject": "{url} ist kein Wort dafür"]]]])
        #expect(
            refused.json["detail"]?.string?.hasSuffix(
                "has {url}, which this mail does not know there, but {minutes}, {name}, {product}")
                == true, "\(refused.json)")
        for words in bad {
            let answer = try await world.send(.patch, path, body: ["mail_words": words])
            #expect(answer.status == .badRequest, "\(words)")
        }
    }
}
