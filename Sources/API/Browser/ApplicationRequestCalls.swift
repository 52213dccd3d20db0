internal import Identity

extension Call<RealmContext> {
    /// The request of an application that a page is in the middle of.
    func applicationRequest(
        _ returnTarget: ReturnTarget, for browser: SignedInBrowser?
    ) async throws(Problem) -> ApplicationRequest? {
        guard let sealed = returnTarget.sealed else { return nil }
        return try await context.applicationRequests.request(sealed, for: browser, self)
    }
}
