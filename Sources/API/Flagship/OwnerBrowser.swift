internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What the pages of an owner do.
extension Call<RealmContext> {
    func owner() async throws(Problem) -> (state: Owner, passphrase: Passphrase) {
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        return (
            owner,
            try await RealmLookups(context).folded(
                Passphrase.self, Passphrase.stream(of: owner.account ?? .zero))
        )
    }

    /// The owner, with what their account's events amount to.
    func ownersAccount() async throws(Problem) -> (owner: Owner, account: Account) {
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        guard let id = owner.account else { return (owner, Account()) }
        return (owner, try await RealmLookups(context).folded(Account.self, id))
    }

    /// The hash that a device made of a passphrase; where it made none, it is made here.
    func deviceHash(
        _ members: JSONObject, rounds: Int64
    ) async throws(Problem) -> String? {
        if let hash = members["passphrase"]?.string, !hash.isEmpty { return hash }
        guard let typed = members["typed"]?.string, !typed.isEmpty, typed.utf8.count <= 1024,
            DerivedPassphrase.rounds.contains(rounds)
        else { return nil }
        do {
            return try await context.passphrases.derive(
                SecretBytes(Array(typed.utf8)), Array("me@\(context.place.host)".utf8),
                Int(clamping: rounds), Passphrases(self).turn(about: Owner.stream))
        } catch {
            throw Problem(.busy)
        }
    }

    /// A passphrase that the owner chose on a page, or what is wrong with it.
    func chosenPassphrase(
        _ members: JSONObject, _ say: LocalizedText
    ) async throws(Problem) -> Result<DerivedPassphrase, WrongChoice> {
        let rounds =
            members["iterations"]?.integer ?? members["iterations"]?.string.flatMap { Int64($0) }
            ?? OwnerPassphraseForm.usualRounds
        guard DerivedPassphrase.rounds.contains(rounds) else {
            throw Problem.said(.invalidRequest, "The number of rounds is not allowed.")
        }
        if members["passphrase"]?.string.map(\.isEmpty) ?? true,
            let fault = PassphraseRule.check(members["typed"]?.string ?? "", of: nil)
        {
            return .failure(WrongChoice(said: fault.said(say)))
        }
        let hint = members["hint"]?.string.map(trimmed) ?? ""
        guard hint.utf8.count <= 500, !hint.utf8.contains(0) else {
            throw Problem.said(.invalidRequest, "hint is not valid")
        }
        let derived = try await hashed(try await deviceHash(members, rounds: rounds))
        return .success(
            DerivedPassphrase(
                rounds: rounds, hash: derived, hint: hint.isEmpty ? nil : hint))
    }

    struct WrongChoice: Error {
        let said: String
    }

    /// What a program is told that signed a browser in: where to go, with the cookie.
    func answerOfBrowser(
        _ response: Response, to redirect: RealmRedirect, trust: String? = nil
    ) -> Response {
        var response = response
        if let trust {
            response.headers.append(
                "Set-Cookie",
                PageCookie.trust.line(trust, seconds: OwnerPassphraseProof.trust))
        }
        guard wantsJSON else { return response }
        var members: JSONObject = ["redirect": .string(redirect.target)]
        members["two_factor_trusted_device_token"] = trust.map { .string($0) }
        var answer = Response.json(.ok, .object(members))
        for line in response.headers.all("Set-Cookie") {
            answer.headers.append("Set-Cookie", line)
        }
        return answer
    }

    /// Forgets nothing of what is wrong where links are guessed.
    func refuseLink(_ visit: PageVisit) throws(Problem) -> Response {
        try RateCounter(self).countRealm(.ownerLinkCheck)
        return OwnerNotice.linkOver(visit)
    }
}

extension PassphraseRule.Fault {
    func said(_ say: LocalizedText) -> String {
        switch self {
        case .tooShort: say("That passphrase is too short.", "Diese Passphrase ist zu kurz.")
        case .tooLong: say("That passphrase is too long.", "Diese Passphrase ist zu lang.")
        case .known:
            say(
                "That passphrase is easy to guess: it stands in a list of those that were stolen elsewhere, is too simple, or is little more than your address.",
                "Diese Passphrase ist leicht zu erraten: Sie steht in einer Liste anderswo gestohlener, ist zu einfach oder kaum mehr als Ihre Adresse."
            )
        }
    }
}
