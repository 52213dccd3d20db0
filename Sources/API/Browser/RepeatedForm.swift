internal import HTTP
internal import Identity
internal import Values

extension Call<RealmContext> {
    /// Seconds in which a user presses Enter a second time.
    private static let moment: Int64 = 60

    /// Where a sign-in form leads that was sent twice: the first one signed the user in, and the
    /// second still has the CSRF token of a signed-out browser. Nothing of it is taken; but if the
    /// browser has just been signed in to the account that the form names, the user is led on. Nil
    /// for any other form.
    func onwardIfSentAgain() async throws(Problem) -> Response? {
        guard let browser = try await browser(),
            request.isSent(fromPagesOf: context.place.host),
            !Visit(self, browser).bears(shownCSRFToken),
            context.clock.now() < browser.authenticatedAt.adding(seconds: Self.moment),
            let address = typedAddress(),
            try await RealmLookups(context).folded(Mailbox.self, context.mint.mailbox(address)).account
                == browser.subject
        else { return nil }
        return .seeOther(ReturnTarget(self).target)
    }
}
