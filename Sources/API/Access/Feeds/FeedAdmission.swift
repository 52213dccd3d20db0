extension Feeds {
    func place(for holder: FeedHolder) throws(Problem) -> FeedPlace {
        do {
            return try open(for: holder)
        } catch {
            switch error {
            case .tooManyOfKey:
                throw Problem(
                    .tooManyFeeds,
                    "A key or client may have \(Feeds.mostOfKey) feeds open on a node.")
            case .tooMany: throw Problem(.busy, "This node has as many feeds as it may have.")
            }
        }
    }
}
