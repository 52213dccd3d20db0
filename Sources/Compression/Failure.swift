/// A failure of zlib.
public enum CompressionFailure: String, Error, Sendable, CustomStringConvertible {
    /// zlib had no memory left.
    case memory
    /// The stream was used after its end.
    case ended

    public var description: String { "compression: \(rawValue)" }
}
