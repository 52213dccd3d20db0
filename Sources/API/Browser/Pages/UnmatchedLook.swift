public import HTTP

extension RealmContexts {
    /// The look of a page that no route answers; nil where no realm is.
    public func look(of request: Request) async -> PageLook? {
        (try? await places.place(of: request)).map { PageLook($0, request) }
    }
}
