/// The hash of an event's canonical record: its leaf in the realm's tree. Held in place, because every
/// event that is read has one.
public struct LeafHash: Sendable, Hashable {
    public static let length = 32

    let words: (UInt64, UInt64, UInt64, UInt64)

    /// Exactly 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        let read =
            bytes.withContiguousStorageIfAvailable { Self(UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { Self($0) }
        guard let read else { return nil }
        self = read
    }

    private init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.length else { return nil }
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        words = (word(0), word(1), word(2), word(3))
    }

    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            raw.storeBytes(of: words.0.bigEndian, toByteOffset: 0, as: UInt64.self)
            raw.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
            raw.storeBytes(of: words.2.bigEndian, toByteOffset: 16, as: UInt64.self)
            raw.storeBytes(of: words.3.bigEndian, toByteOffset: 24, as: UInt64.self)
            count = Self.length
        }
    }

    public static func == (left: LeafHash, right: LeafHash) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
    }
}
