internal import HTTP
internal import JSON
internal import Values

/// A part of a list that clients of the profile expect as an array: a header leads to the next one.
struct FederatedPage: Sendable {
    struct Items<Item: Sendable>: Sendable {
        var items: [Item]
        /// The name of the last item, where there are more items.
        var next: UUID?
    }

    static let most = 1000

    static let parameters = [
        Parameter(
            "limit", in: .query, .integer(1...Int64(most)), "Maximum number of items.", example: 50),
        Parameter(
            "after", in: .query, .text(36...36, Names.uuid),
            "Last item of the previous page, as the header Link names it.",
            example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"),
    ]

    let limit: Int
    let after: UUID?

    init(limit: Int = FederatedPage.most, after: UUID?) {
        (self.limit, self.after) = (limit, after)
    }

    init(_ call: Call<RealmContext>) {
        self.init(
            limit: call.integer("limit").map { Int($0) } ?? Self.most,
            after: call.text("after").flatMap { UUID($0) })
    }

    /// The items behind `after`, in their order: one more than the limit shows that there are more.
    func items<Item: Sendable>(of all: [Item], _ name: (Item) -> UUID) -> Items<Item> {
        let part = all.prefix(limit)
        return Items(items: Array(part), next: part.count < all.count ? part.last.map(name) : nil)
    }

    func link(_ path: String, to next: UUID?) -> (String, String)? {
        next.map { ("Link", "<\(path)?limit=\(limit)&after=\($0)>; rel=\"next\"") }
    }
}
