internal import ReadModels
internal import Values

extension Cursor {
    /// Eight bytes of time and seven of position.
    static func encode(_ place: LoginPlace) -> String {
        let (time, position) = (
            UInt64(max(0, place.at.microseconds)), UInt64(max(0, place.position))
        )
        return Base64URL.encode(
            (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * UInt64($0))) }
                + (0..<7).map { UInt8(truncatingIfNeeded: position >> (48 - 8 * UInt64($0))) })
    }

    static func moment(_ text: String) -> LoginPlace? {
        guard let bytes = Base64URL.decode(text), bytes.count == 15 else { return nil }
        let time = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let position = bytes.dropFirst(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return LoginPlace(
            at: Timestamp(microseconds: Int64(clamping: time)), position: position)
    }
}
