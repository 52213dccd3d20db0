internal import HTTP
internal import Identity
internal import Values

extension Call<RealmContext> {
    /// Seconds in which somebody presses Enter a second time.
    private static let moment: Int64 = 60

    /// Where a form of the sign-in leads that was sent twice: the first one signed its person in, and so the
    /// second is of a browser that nobody is signed in with. Nothing of it is taken; but whoever is signed in
    /// since a moment ago as the very one that it names has what he wanted. Nil for any other form.
    func onwardIfSentAgain() async throws(Problem) -> Response? {
        guard let browser = try await browser(),
            request.isSent(fromPagesOf: context.place.host),
            !Visit(self, browser).bears(shownCSRFToken),
            context.clock.now() < browser.authenticatedAt.adding(seconds: Self.moment),
            let address = typedAddress(),
            try await folded(Mailbox.self, context.mint.mailbox(address)).account
                == browser.subject
        else { return nil }
        return .seeOther(ReturnTarget(self).target)
    }
}
