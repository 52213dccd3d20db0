extension Feeds {
    /// Asked before anything is read for a feed: where thousands come back at once, most find no room.
    func requireRoom() throws(Problem) {
        if isFull { throw Problem.noRoomForFeeds }
    }

    func place(for holder: FeedHolder) throws(Problem) -> FeedPlace {
        do {
            return try open(for: holder)
        } catch {
            switch error {
            case .tooManyOfKey:
                throw Problem(
                    .tooManyFeeds,
                    "A key or client may have \(Feeds.mostOfKey) feeds open on a node.")
            case .tooMany: throw Problem.noRoomForFeeds
            }
        }
    }
}

extension Problem {
    fileprivate static let noRoomForFeeds = Problem(
        .busy, "This node has as many feeds as it may have.")
}
