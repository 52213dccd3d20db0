internal import CZlib
internal import Synchronization

/// Compresses what comes in pieces into one gzip file (RFC 1952), piece by piece.
public final class GzipEncoder: Sendable {
    private let stream: Mutex<Deflating>

    /// - Parameter level: from 1, which is fast, to 9, which is small.
    public init(level: Int = 4) throws(CompressionFailure) {
        stream = Mutex(try Deflating(level))
    }

    /// What of the file is known after this piece, which may be nothing.
    /// - Parameter flushing: whether a reader of what came so far can read all of the pieces.
    public func add(_ piece: [UInt8], flushing: Bool = false) throws(CompressionFailure) -> [UInt8]
    {
        try stream.withLock { stream throws(CompressionFailure) in
            try stream.run(piece, flushing ? Z_SYNC_FLUSH : Z_NO_FLUSH)
        }
    }

    /// The rest of the file, with its sum and length: a reader knows a file without it for what it is.
    public func finish() throws(CompressionFailure) -> [UInt8] {
        try stream.withLock { stream throws(CompressionFailure) in
            try stream.run([], Z_FINISH)
        }
    }
}

/// A stream of zlib, with a single owner.
@safe
private final class Deflating {
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOver = false

    /// zlib takes lengths of 32 bits.
    private static let most = 1 << 30
    private static let room = 1 << 16

    init(_ level: Int) throws(CompressionFailure) {
        guard let made = unsafe shim_gzip_start(Int32(min(max(level, 1), 9))) else { throw .memory }
        unsafe stream = made
    }

    deinit { unsafe shim_gzip_end(stream) }

    func run(_ piece: [UInt8], _ flush: Int32) throws(CompressionFailure) -> [UInt8] {
        guard !isOver else { throw .ended }
        var output: [UInt8] = []
        for start in stride(from: 0, to: max(piece.count, 1), by: Self.most) {
            let part = piece[start..<min(start + Self.most, piece.count)]
            let isWhole = unsafe part.withUnsafeBytes { bytes in
                unsafe shim_gzip_give(stream, bytes.baseAddress, bytes.count)
                return take(flush, into: &output)
            }
            guard isWhole else { throw .ended }
        }
        isOver = flush == Z_FINISH
        return output
    }

    private func take(_ flush: Int32, into output: inout [UInt8]) -> Bool {
        while true {
            var count = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.room) { room, filled in
                count = unsafe shim_gzip_take(stream, room.baseAddress, Self.room, flush)
                filled = max(count, 0)
            }
            guard count >= 0 else { return false }
            output += piece
            if count < Self.room { return true }
        }
    }
}
