internal import HTTP
internal import JSON

extension Voice {
    /// People: forms are read as OAuth reads them, and refusals are pages.
    static let page = Voice(
        name: "page", reading: .ignoresUnknown, caution: .isOfPages,
        refusal: { problem, request in
            let look =
                (problem.owner as? Place).map { PageLook($0, request) } ?? PageLook(request)
            return problem.pageResponse(request, in: look)
        },
        label: { _ in "" }, content: { _ in ["text/html": ["schema": ["type": "string"]]] })
}

extension Place: PageOwner {}

extension RealmContexts {
    /// How browsers are answered where no context was made for them: in the look of the host's realm, where
    /// there is one.
    public var pages: Router.Pages {
        Router.Pages(voice: .page) { request throws(Problem) in try await places.place(of: request)
        }
    }
}
