internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

extension Call<RealmContext> {
    /// Carries a command out for whoever is signed in with this browser.
    @discardableResult
    func carryOut<C: Command>(
        _ command: C, for browser: SignedInBrowser
    ) async throws(Problem) -> Dispatched where C.Rejection: Refusal {
        let origin = Origin(
            actor: "user:\(browser.subject)", address: context.place.address,
            userAgent: request.headers["User-Agent"].map { String($0.unicodeScalars.prefix(512)) },
            at: context.clock.now())
        do {
            return try await context.commands.dispatch(
                command, in: context.place.realm, id: newID(), digest: [], origin: origin)
        } catch let refusal as C.Rejection {
            throw refusal.problem
        } catch let failure as LogFailure {
            throw Problem(of: failure)
        } catch {
            throw Problem(.internalError)
        }
    }
}

extension EndBrowserSession.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchSession)
        }
    }
}
