internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import ReadModels
internal import Values

/// What the routes of the second factor have in common.
extension Call<RealmContext> {
    /// Whose access token was shown.
    var accountOfCaller: UUID {
        get throws(Problem) { try caller.signedIn.account }
    }

    /// The account of a user who signed in recently, as changing a second factor requires.
    var accountToChange: UUID {
        get throws(Problem) {
            let (account, session) = try caller.signedIn
            try requireRecentSignIn(session)
            return account
        }
    }

    /// The account and the code that it shows. A code that can't be one is as wrong as any other.
    func counted() throws(Problem) -> (UUID, TypedFactor) {
        let account = try accountToChange
        try RateCounter(self).count(.twoFactor, target: account.description)
        guard let typed = SecondFactors(self).typed(body["Code"]?.string) else {
            throw TwoFactorRejection.wrongCode.problem
        }
        return (account, typed)
    }

    func change<C: Command>(_ command: C) async throws(Problem) where C.Rejection: Refusal {
        let account = try accountOfCaller
        try await Commands(self).dispatch(command, as: .user(account))
    }

    func prove<C: AnsweringCommand>(_ change: C) async throws(Problem)
    where
        C.Facts == OwnTwoFactor, C.Outcome == TwoFactorOutcome, C.Rejection == TwoFactorRejection
    {
        let (account, session) = try caller.signedIn
        let outcome = try await Commands(self).dispatch(
            ChangeTwoFactor(
                change, in: .client(session.terms), attempt: context.newID(),
                from: context.signInPlace(of: request)),
            as: .user(account))
        if case .failure(let rejection) = outcome { throw rejection.problem }
    }

    /// What the authenticator app is to read: only while it is to be enrolled.
    func offeredURI() async throws(Problem) -> String {
        let account = try accountToChange
        try RateCounter(self).count(.twoFactor, target: account.description)
        return try await SecondFactors(self).offeredURI(for: account).uri
    }
}
