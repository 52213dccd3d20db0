/// Nothing could be compressed.
public enum CompressionFailure: String, Error, Sendable, CustomStringConvertible {
    /// zlib had no memory left.
    case memory
    /// It was asked for more after the end.
    case ended

    public var description: String { "compression: \(rawValue)" }
}
