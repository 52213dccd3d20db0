extension String {
    /// As of `utf8`, but looked at where they lie, which is several times as fast.
    @inlinable
    public func allBytesSatisfy(_ test: (UInt8) -> Bool) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where !test(bytes[index]) { return false }
        return true
    }

    /// PostgreSQL has it in no text.
    public var hasNullCharacter: Bool { !allBytesSatisfy { $0 != 0 } }
}
