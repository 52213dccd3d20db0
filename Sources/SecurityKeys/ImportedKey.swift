/// The public key of a passkey that another system registered (COSE_Key), in its canonical form.
public struct ImportedKey: Sendable {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) throws(WebAuthnFailure) {
        self.bytes = try CredentialKey(bytes: bytes).encoded
    }
}
