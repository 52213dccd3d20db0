internal import Cryptography
public import JSON

/// A person of an app's tests, as an account that is imported.
public enum TestPerson {
    /// Quick to make, and as good as any hash where the passphrase stands beside it in a file.
    private static let parameters = try? Scrypt.Parameters(
        cost: 1 << 10, blockSize: 8, parallelization: 1)

    /// A mail address counts as verified unless it is said otherwise. Nil for what is no person.
    public static func record(_ person: JSON) -> JSON? {
        guard case .object(var members) = person else { return nil }
        guard let id = members["id"] ?? members["email"] ?? members["phone"] else { return nil }
        members["id"] = id
        if members["email"] != nil, members["email_verified"] == nil {
            members["email_verified"] = true
        }
        if members["phone"] != nil, members["phone_verified"] == nil {
            members["phone_verified"] = true
        }
        guard let passphrase = members["passphrase"] else { return .object(members) }
        members["passphrase"] = nil
        guard let text = passphrase.string, let parameters,
            let hash = try? Scrypt.hash(
                SecretBytes(Array(text.asPassphrase.utf8)), parameters: parameters)
        else { return nil }
        members["passphrase_hash"] = .string(hash)
        return .object(members)
    }
}
