public import Cryptography
internal import Values

/// What an owner's devices derive from the passphrase before it leaves them. The owner's keys are
/// sealed under what comes between the two steps, which never leaves the device.
public enum DevicePassphrase {
    /// In base 64.
    public static func hash(
        _ typed: SecretBytes, salt: [UInt8], rounds: Int
    ) throws(Failure) -> String {
        let key = try PBKDF2.derive(typed, salt: salt, rounds: rounds)
        let hash = try PBKDF2.derive(key, salt: typed.exposedCopy(), rounds: 1)
        return Base64.encode(hash.exposedCopy())
    }
}
