/// Parts in one piece: whoever takes all of them along counts one reference, and not one for each part.
public final class Piece<Parts: Sendable>: Sendable {
    public let parts: Parts

    @inlinable
    public init(_ parts: Parts) {
        self.parts = parts
    }
}
