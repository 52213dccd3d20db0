internal import EventSourcing
internal import HTTP
internal import Values

extension Call<AdminContext> {
    /// Where the page begins that is asked for. It is read before the page: should the log be restored
    /// in between, then the page's cursor is of the epoch that was, and is refused.
    func logPlace(
        in standing: ListStanding? = nil
    ) async throws(Problem) -> LogPlace {
        let realm = try realm
        var cursor: LogCursor?
        if let text = text("after") {
            guard let known = LogCursor(text) else {
                throw Problem(
                    .invalidParameter, "after must be a cursor such as 3:48211.", field: "after")
            }
            cursor = known
        }
        let position = max(1, cursor?.position ?? 1)
        let page = try await reading { () throws(LogFailure) in
            try await context.commands.events.page(from: position, limit: 1, in: realm)
        }
        let place = try cursor.map { cursor throws(Problem) in
            try page.epochs.place(of: cursor, field: "after")
        }
        return LogPlace(
            after: place, event: page.events.first { $0.position == place?.position },
            epochs: page.epochs, standing: standing)
    }
}
