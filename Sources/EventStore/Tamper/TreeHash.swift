/// A hash in a realm's tree: 32 bytes held inline, because a log has millions of them.
public struct TreeHash: Hashable, Sendable, BitwiseCopyable {
    public static let length = 32

    // In the order of memory, in the machine's byte order: only compared, never calculated.
    private let words: InlineArray<4, UInt64>

    /// Nil unless there are 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == TreeHash.length else { return nil }
        self = bytes.withUnsafeBytes { TreeHash(loading: $0) }
    }

    /// Reads the first 32 bytes.
    init(loading bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count >= TreeHash.length, "A hash has 32 bytes.")
        words = bytes.loadUnaligned(as: InlineArray<4, UInt64>.self)
    }

    public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        Swift.withUnsafeBytes(of: words, body)
    }

    public static func == (left: TreeHash, right: TreeHash) -> Bool {
        left.words[0] == right.words[0] && left.words[1] == right.words[1]
            && left.words[2] == right.words[2] && left.words[3] == right.words[3]
    }

    public func hash(into hasher: inout Hasher) {
        // A digest is evenly spread already: one word tells it from the others.
        hasher.combine(words[0])
    }
}

extension [TreeHash] {
    /// Nil unless the bytes are whole hashes, one after the other.
    init?(concatenated bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: TreeHash.length) else { return nil }
        self = bytes.withUnsafeBytes { buffer in
            stride(from: 0, to: buffer.count, by: TreeHash.length).map {
                TreeHash(loading: UnsafeRawBufferPointer(rebasing: buffer[$0...]))
            }
        }
    }

    /// The hashes one after the other: the content of a tile.
    public var concatenated: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * TreeHash.length)
        for hash in self { hash.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        return bytes
    }
}
