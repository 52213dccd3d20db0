import JSON
import Values

/// Hashes that exports have as records, in the text form of their scheme.
enum PasswordRecords {
    private static let unknown = RecordFault(
        reason: "hash_unknown_scheme", field: "passphrase_hash",
        detail: "The scheme of the hash is not known.")
    private static let malformed = RecordFault(
        reason: "hash_malformed", field: "passphrase_hash",
        detail: "The hash is not in the form of its scheme.")

    /// Base 64 of either alphabet, with or without padding.
    static func bytes(_ text: String) -> [UInt8]? {
        var digits = text.replacing("+", with: "-").replacing("/", with: "_")
        while digits.hasSuffix("=") { digits.removeLast() }
        return Base64URL.decode(digits)
    }

    private static func digits(_ json: JSON?) throws(RecordFault) -> String {
        guard let bytes = json?.string.flatMap(bytes) else { throw malformed }
        return bare(bytes)
    }

    private static func bare(_ bytes: [UInt8]) -> String {
        String(Base64.encode(bytes).prefix { $0 != "=" })
    }

    /// A credential of Keycloak: its data and its secret data.
    static func keycloak(_ data: JSON, _ secret: JSON) throws(RecordFault) -> String {
        let algorithm = data["algorithm"]?.string ?? ""
        if algorithm == "bcrypt", let text = secret["value"]?.string { return text }
        let (salt, key) = (try digits(secret["salt"]), try digits(secret["value"]))
        guard let rounds = data["hashIterations"]?.integer else { throw malformed }
        switch algorithm {
        case "pbkdf2": return "$pbkdf2-sha1$i=\(rounds)$\(salt)$\(key)"
        case "pbkdf2-sha256", "pbkdf2-sha512": return "$\(algorithm)$i=\(rounds)$\(salt)$\(key)"
        case "argon2":
            let more = data["additionalParameters"]
            func first(_ name: String) -> String? { more?[name]?[0]?.string }
            guard let memory = first("memory"), let lanes = first("parallelism"),
                let type = first("type")
            else { throw malformed }
            let version = first("version") == "1.0" ? 16 : 19
            return "$argon2\(type)$v=\(version)$m=\(memory),t=\(rounds),p=\(lanes)$\(salt)$\(key)"
        default: throw unknown
        }
    }

    /// The hash of Okta's users API.
    static func okta(_ hash: JSON) throws(RecordFault) -> String {
        switch hash["algorithm"]?.string {
        case "BCRYPT":
            guard let cost = hash["workFactor"]?.integer, let salt = hash["salt"]?.string,
                let value = hash["value"]?.string
            else { throw malformed }
            return "$2a$\(cost < 10 ? "0" : "")\(cost)$\(salt)\(value)"
        case "PBKDF2":
            let function = hash["digestAlgorithm"]?.string ?? ""
            guard let rounds = hash["iterationCount"]?.integer,
                ["SHA256_HMAC", "SHA512_HMAC"].contains(function)
            else { throw malformed }
            let name = function == "SHA256_HMAC" ? "sha256" : "sha512"
            return
                "$pbkdf2-\(name)$i=\(rounds)$\(try digits(hash["salt"]))$\(try digits(hash["value"]))"
        default: throw unknown
        }
    }

    static func firebase(
        _ hash: String, _ salt: String, _ parameters: FirebaseParameters
    ) throws(RecordFault) -> String {
        guard let hash = bytes(hash), let salt = bytes(salt),
            let separator = bytes(parameters.saltSeparator),
            let signer = bytes(parameters.signerKey)
        else { throw malformed }
        let texts = [separator, signer, salt, hash].map(Base64.encode)
        return "firebase-scrypt$\(parameters.memoryCost)$\(parameters.rounds)$"
            + texts.joined(separator: "$")
    }
}
