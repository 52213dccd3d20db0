internal import ReadModels

extension Call<AdminContext> {
    /// A place for an answer that goes on, until it is released.
    func openFeed() throws(Problem) -> FeedPlace {
        var key: AdminKeyView?
        if case .key(let shown) = caller { key = shown }
        do {
            return try context.feeds.open(with: key)
        } catch {
            switch error {
            case .tooManyOfKey:
                throw Problem(
                    .tooManyFeeds, "A key may have \(Feeds.mostOfKey) feeds open on a node.")
            case .tooMany: throw Problem(.busy, "This node has as many feeds as it may have.")
            }
        }
    }
}
