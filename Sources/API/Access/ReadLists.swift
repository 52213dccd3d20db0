internal import HTTP
internal import JSON
internal import ReadModels

/// Pages of read models, which say themselves how far in the log they are.
extension Lists {
    static func page<Item: Sendable>(
        _ limit: Int, of items: ListPage<Item>, item: (Item) -> JSON, next: (Item) -> String
    ) -> Response {
        page(limit, of: items, at: ListStanding(items), item: item, next: next)
    }
}

extension ListStanding {
    init<Item: Sendable>(_ list: ListPage<Item>) {
        self.init(position: list.position, head: list.head)
    }
}
