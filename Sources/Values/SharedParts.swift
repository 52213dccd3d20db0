/// Parts in one piece: to copy all of them counts one reference, and not one for each part.
public final class SharedParts<Parts: Sendable>: Sendable {
    public let parts: Parts

    @inlinable
    public init(_ parts: Parts) {
        self.parts = parts
    }
}
