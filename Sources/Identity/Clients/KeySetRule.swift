internal import JSON

/// A client's own keys (RFC 7517): public, few, and nothing that only looks like a key set.
enum KeySetRule {
    static let keyLimit = 10
    static let sizeLimit = 16_384

    static func check(_ set: JSON) throws(FieldFault.Reason) {
        guard set.canonical().count <= sizeLimit else { throw .tooLong(limit: sizeLimit) }
        guard let keys = set["keys"]?.array else { throw .malformed }
        guard !keys.isEmpty else { throw .missing }
        guard keys.count <= keyLimit else { throw .tooMany(limit: keyLimit) }
        for key in keys {
            guard let members = key.object else { throw .malformed }
            // Private parts of RSA, EC and OKP keys, and the whole of a symmetric one.
            guard ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].allSatisfy({ members[$0] == nil })
            else { throw .privateKey }
            let needed: [String]
            switch members["kty"]?.string {
            case "RSA": needed = ["n", "e"]
            case "EC": needed = ["crv", "x", "y"]
            case "OKP": needed = ["crv", "x"]
            case nil: throw .malformed
            default: throw .unsupported
            }
            guard needed.allSatisfy({ members[$0]?.string?.isEmpty == false }) else {
                throw .malformed
            }
        }
    }
}
