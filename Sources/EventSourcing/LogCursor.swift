/// Where a reader of a realm's log is: it has everything up to this position, as the log was in this
/// epoch. As text: `3:48211`.
public struct LogCursor: Sendable, Hashable, CustomStringConvertible {
    /// Before the first event, in whichever epoch.
    public static let start = LogCursor(epoch: 0, position: 0)

    public let epoch: Int
    public let position: Int64

    public init(epoch: Int, position: Int64) {
        self.epoch = epoch
        self.position = position
    }

    public init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Self.number(parts[0], digits: 9),
            let position = Self.number(parts[1], digits: 15)
        else { return nil }
        self.init(epoch: Int(epoch), position: position)
    }

    public var description: String { "\(epoch):\(position)" }

    /// Digits alone, without a leading zero: each place has one text.
    private static func number(_ text: Substring.UTF8View, digits: Int) -> Int64? {
        guard (1...digits).contains(text.count), text.count == 1 || text.first != UInt8(ascii: "0"),
            text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(Substring(text))
    }
}
