/// A page of a list, and how far in the log it was when it was read: both are of one snapshot.
public struct ListPage<Item: Sendable>: Sendable, RandomAccessCollection {
    public let items: [Item]
    /// Up to this position of the log the list has everything.
    public let position: Int64
    /// Where the log ends.
    public let head: Int64

    /// Of a log in which nothing ever happened.
    public static var empty: Self { Self([], position: 0, head: 0) }

    public init(_ items: [Item], position: Int64, head: Int64) {
        self.items = items
        self.position = position
        self.head = head
    }

    public var startIndex: Int { items.startIndex }
    public var endIndex: Int { items.endIndex }
    public subscript(index: Int) -> Item { items[index] }
}

extension ListPage: Equatable where Item: Equatable {}
