/// Where a tile stands (C2SP tlog-tiles): a run of up to 256 hashes of one level. Level 0 holds
/// leaves; each hash above stands for a whole tile below.
public struct TileAddress: Hashable, Sendable {
    public static let height = 8
    public static let fullWidth = 256

    public enum Kind: Hashable, Sendable {
        case hashes(level: Int)
        /// The records themselves.
        case entries
    }

    public let kind: Kind
    public let index: Int64
    public let width: Int

    /// Nil for a place that no tree of 2⁶² leaves has.
    public init?(_ kind: Kind, index: Int64, width: Int = TileAddress.fullWidth) {
        if case .hashes(let level) = kind {
            guard (0...6).contains(level) else { return nil }
        }
        guard (0..<(1 << 54)).contains(index), (1...TileAddress.fullWidth).contains(width) else {
            return nil
        }
        self.kind = kind
        self.index = index
        self.width = width
    }

    /// The part after the log's prefix, such as `tile/0/x001/x234/067.p/12`.
    public init?(path: String) {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "tile" else { return nil }
        let kind: Kind
        if parts[1] == "entries" {
            kind = .entries
        } else if let level = number(parts[1]) {
            kind = .hashes(level: Int(level))
        } else {
            return nil
        }
        var width = TileAddress.fullWidth
        if parts.count >= 4, parts[parts.count - 2].hasSuffix(".p") {
            guard let last = parts.popLast(), let partial = number(last),
                (1..<Int64(TileAddress.fullWidth)).contains(partial),
                let name = parts.popLast()
            else { return nil }
            width = Int(partial)
            parts.append(name.dropLast(2))
        }
        guard let index = tileIndex(parts[2...]) else { return nil }
        self.init(kind, index: index, width: width)
    }

    public var path: String {
        let level =
            switch kind {
            case .hashes(let level): String(level)
            case .entries: "entries"
            }
        let partial = width == TileAddress.fullWidth ? "" : ".p/\(width)"
        return "tile/\(level)/\(TileAddress.indexPath(index))\(partial)"
    }

    static func indexPath(_ index: Int64) -> String {
        var path = threeDigits(index % 1000)
        var rest = index / 1000
        while rest > 0 {
            path = "x\(threeDigits(rest % 1000))/\(path)"
            rest /= 1000
        }
        return path
    }

    /// How many hashes the last tile of a level has in a tree of a size: 0 where it ends even.
    static func partialWidth(level: Int, size: Int64) -> Int {
        Int(size >> Int64(8 * level) & 255)
    }

    /// How many full tiles a level has in a tree of a size.
    static func fullTiles(level: Int, size: Int64) -> Int64 {
        size >> Int64(8 * (level + 1))
    }
}

private func threeDigits(_ value: Int64) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits
}

/// A decimal number without a sign and without a leading zero.
private func number(_ text: Substring) -> Int64? {
    guard text.utf8.count <= 4, text.utf8.allSatisfy({ (48...57).contains($0) }),
        text == "0" || text.utf8.first != 48
    else { return nil }
    return Int64(text)
}

/// Three digits in each element; all but the last begin with an x, and the first is not zero
/// unless it is the only one.
private func tileIndex(_ elements: ArraySlice<Substring>) -> Int64? {
    guard let last = elements.last, elements.count <= 6 else { return nil }
    var index: Int64 = 0
    for element in elements.dropLast() {
        guard element.utf8.first == UInt8(ascii: "x"), element.utf8.count == 4,
            element.utf8.dropFirst().allSatisfy({ (48...57).contains($0) }),
            let value = Int64(element.dropFirst()), index > 0 || value > 0
        else { return nil }
        index = index * 1000 + value
    }
    guard last.utf8.count == 3, last.utf8.allSatisfy({ (48...57).contains($0) }),
        let value = Int64(last)
    else { return nil }
    return index * 1000 + value
}
