/// Why a text is no filter: what stands there, where, and what could stand there.
public struct FilterFault: Error, Equatable, Sendable {
    /// In characters from the beginning (Unicode scalars), from 0 on.
    public let place: Int
    public let expected: String
    /// The explanation of the fault, for users.
    public let detail: String

    public init(at place: Int, expected: String, _ detail: String? = nil) {
        self.place = place
        self.expected = expected
        self.detail =
            (detail.map { "\($0) " } ?? "")
            + "At character \(place + 1) the filter should have \(expected)."
    }
}
