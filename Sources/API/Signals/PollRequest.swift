internal import JSON

/// What a receiver asks for, and what it says of what it had.
struct PollRequest: Sendable {
    /// So many are answered where the receiver says nothing, and never more than the other.
    private static let (usual, most) = (100, 500)
    private static let mostSettled = 1_000

    let limit: Int
    let mayWait: Bool
    let confirmed: [String]
    let refused: [(id: String, reason: String)]

    init(_ body: JSON) throws(Problem) {
        let asked = body["maxEvents"]
        guard asked == nil || asked?.isNull == true || (asked?.integer).map({ $0 >= 0 }) == true
        else { throw Self.malformed("maxEvents") }
        limit = asked?.integer.map { min(Int(clamping: $0), Self.most) } ?? Self.usual
        let returns = body["returnImmediately"]
        guard returns == nil || returns?.isNull == true || returns?.bool != nil else {
            throw Self.malformed("returnImmediately")
        }
        // Who only confirms has nothing to wait for.
        mayWait = returns?.bool != true && limit > 0
        let ack = body["ack"]
        confirmed = ack?.array?.compactMap(\.string) ?? []
        guard ack == nil || ack?.isNull == true || ack?.array?.count == confirmed.count,
            confirmed.count <= Self.mostSettled
        else { throw Self.malformed("ack") }
        let errors = body["setErrs"]
        guard errors == nil || errors?.isNull == true || errors?.object != nil,
            errors?.object?.count ?? 0 <= Self.mostSettled
        else { throw Self.malformed("setErrs") }
        var refused: [(id: String, reason: String)] = []
        for (id, error) in errors?.object ?? [:] {
            // RFC 8935 section 2.4. What says no reason is no refusal: the signal would be lost.
            guard let reason = error["err"]?.string else { throw Self.malformed("setErrs") }
            refused.append((id, String(reason.prefix(100))))
        }
        self.refused = refused
    }

    private static func malformed(_ name: String) -> Problem {
        Problem(.invalidField, "\(name) is malformed.", field: name)
    }
}
