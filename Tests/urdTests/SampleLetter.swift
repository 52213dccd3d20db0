import EventSourcing
import Identity

@testable import API

extension Letter {
    /// A mail that says hello.
    static func sample(to address: String) -> Letter {
        guard let realm = RealmID("acme") else { preconditionFailure("It is a realm's name.") }
        return Letter(
            realm: realm, channel: .mail, otherChannels: [], to: address, from: nil,
            fromName: "Urd", subject: "Hello", text: "Hello", html: "Hello", code: nil,
            language: "en", deadline: nil)
    }
}
