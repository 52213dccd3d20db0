import Foundation
import UrdClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app on a phone, from the first code to the last sign-out, against the realm of `urd dev`. Says
/// what it did, a line each; ends with a failure at the first thing that is not as it should be.
///
///     NativeApp <app URL> <inbox URL> <client id> <mail address>
@main struct Main {
    static func main() async {
        do {
            try await Journey(Array(CommandLine.arguments.dropFirst())).run()
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }
}

private struct Wrong: Error {
    let what: String
}

private struct Journey {
    let client: UrdClient
    let inbox: URL
    let email: String
    let phone: Phone

    init(_ arguments: [String]) throws {
        guard arguments.count == 4, let realm = URL(string: arguments[0]),
            let inbox = URL(string: arguments[1]), let port = realm.port
        else { throw Wrong(what: "NativeApp <app URL> <inbox URL> <client id> <mail address>") }
        client = UrdClient(realm, clientID: arguments[2])
        self.inbox = inbox
        email = arguments[3]
        phone = Phone(origin: "http://localhost:\(port)")
    }

    func run() async throws {
        try await client.requestCode(email: email, person: NewPerson(firstName: "Ann"))
        try await client.signIn(email: email, code: try await mailedCode())
        let who = try await client.userInfo()
        try expect(who.email == email && who.isEmailVerified == true, "signed in by a code")

        try await client.enrolPasskey(with: phone)
        let passkeys = try await client.passkeys()
        try expect(passkeys.count == 1, "enrolled a passkey")

        try await client.signOut()
        try expect(try await !client.isSignedIn(), "signed out")
        do {
            _ = try await client.accessToken()
            throw Wrong(what: "a token after signing out")
        } catch UrdError.signedOut {}

        try await client.signIn(with: phone)
        try expect(try await client.userInfo().sub == who.sub, "signed in by the passkey")

        let first = try await client.accessToken()
        let second = try await client.refresh().access
        try expect(first != second, "refreshed")
        try expect(try await client.userInfo().sub == who.sub, "is still the same")

        try await client.removePasskey(passkeys[0].id)
        try expect(try await client.passkeys().isEmpty, "removed the passkey")
        do {
            try await client.signIn(with: phone)
            throw Wrong(what: "a removed passkey signed in")
        } catch UrdError.refused(400, "invalid_grant", _) {
            print("was refused with the removed passkey")
        }
        try await client.signOut()
    }

    private func mailedCode() async throws -> String {
        struct Mail: Decodable { let text: String }
        for _ in 0..<500 {
            var request = URLComponents(url: inbox, resolvingAgainstBaseURL: false)
            request?.queryItems = [URLQueryItem(name: "to", value: email)]
            guard let url = request?.url else { throw Wrong(what: "the inbox's address") }
            let (data, _) = try await URLSession.shared.data(from: url)
            if let mail = try JSONDecoder().decode([Mail].self, from: data).first,
                let code = mail.text.split(whereSeparator: { !$0.isNumber }).first(where: {
                    $0.count == 6
                })
            {
                return String(code)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Wrong(what: "no mail came")
    }

    private func expect(_ isSo: Bool, _ what: String) throws {
        guard isSo else { throw Wrong(what: what) }
        print(what)
    }
}
