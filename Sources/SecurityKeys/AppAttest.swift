public import Cryptography
public import Values

/// Apple's App Attest: a key in the hardware of a device that Apple vouches for, together with the app
/// that has it.
public enum AppAttest {
    /// Why an attestation or an assertion is not believed. For logs alone.
    public enum Flaw: String, Error, Sendable, CaseIterable {
        case keyName = "key_name"
        case object
        case format
        case receipt
        case certificates
        case chainOutOfDate = "chain_out_of_date"
        case chainBroken = "chain_broken"
        case chainUntrusted = "chain_untrusted"
        case authenticatorData = "authenticator_data"
        case nonce
        case key
        case keyID = "key_id"
        case app
        case counter
        case environment
        case credentialID = "credential_id"
        case signature
    }

    /// The two worlds that Apple has devices in; what was made in one is nothing in the other.
    public enum Environment: Sendable {
        case production
        case development

        /// What stands where other authenticators say what model they are.
        public var model: [UInt8] {
            switch self {
            case .production: Array("appattest".utf8) + Array(repeating: 0, count: 7)
            case .development: Array("appattestdevelop".utf8)
            }
        }
    }

    /// What has to hold for every caller.
    public struct Rules: Sendable {
        /// Team and bundle of each app that may be.
        public var apps: [String]
        public var roots: [Certificate]
        public var environment: Environment

        public init(apps: [String], roots: [Certificate], environment: Environment) {
            self.apps = apps
            self.roots = roots
            self.environment = environment
        }
    }

    /// A key that Apple vouches for.
    public struct Attested: Sendable, Equatable {
        /// The SHA-256 of the public key.
        public let keyID: [UInt8]
        /// 0x04, x, y.
        public let publicKey: [UInt8]
        public let app: String
    }

    static let format = "apple-appattest"

    /// The certificates live for some days only, so that they are looked at as of now.
    public static func verify(
        attestation bytes: [UInt8], keyID: [UInt8], challenge: [UInt8], rules: Rules,
        at time: Timestamp
    ) throws(Flaw) -> Attested {
        guard keyID.count == SHA256.digestLength else { throw .keyName }
        guard let object = try? CBOR.decode(bytes), let statement = object["attStmt"],
            let signed = object["authData"]?.bytes
        else { throw .object }
        guard object["fmt"] == .text(format) else { throw .format }
        guard let receipt = statement["receipt"]?.bytes, !receipt.isEmpty else { throw .receipt }
        let leaf = try checkChain(statement, rules.roots, at: time)
        guard let data = try? AuthenticatorData(signed), let credential = data.credential else {
            throw .authenticatorData
        }
        guard AppleNonce.read(leaf) == SHA256.hash(signed + SHA256.hash(challenge)) else {
            throw .nonce
        }
        // That it is a point of the curve was seen when the certificate was read: it is the same.
        guard let point = CredentialKey.point(ofES256: credential.key),
            let vouched = try? leaf.publicKey(), vouched.kind == .p256,
            leaf.publicKeyBytes == point
        else { throw .key }
        guard SHA256.hash(point) == keyID else { throw .keyID }
        guard let app = app(of: data.relyingPartyHash, rules.apps) else { throw .app }
        guard data.signCount == 0 else { throw .counter }
        guard credential.model == rules.environment.model else { throw .environment }
        guard credential.id == keyID else { throw .credentialID }
        return Attested(keyID: keyID, publicKey: point, app: app)
    }

    /// What such a key signed later: the number that it counted to, which is for others to compare.
    public static func verify(
        assertion bytes: [UInt8], publicKey: [UInt8], clientData: [UInt8], app: String
    ) throws(Flaw) -> UInt32 {
        guard let object = try? CBOR.decode(bytes), let signature = object["signature"]?.bytes,
            let data = object["authenticatorData"]?.bytes
        else { throw .object }
        // Apple says that a credential follows, and none does.
        guard data.count == AuthenticatorData.shortestLength else { throw .authenticatorData }
        guard Array(data[0..<32]) == SHA256.hash(Array(app.utf8)) else { throw .app }
        guard publicKey.count == 65, publicKey[0] == 0x04,
            let key = try? VerifyingKey(
                curve: .p256, x: Array(publicKey[1..<33]), y: Array(publicKey[33...]))
        else { throw .key }
        let nonce = SHA256.hash(data + SHA256.hash(clientData))
        guard key.isValid(signature, for: nonce, scheme: .es256) else { throw .signature }
        return data[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func checkChain(
        _ statement: CBOR, _ roots: [Certificate], at time: Timestamp
    ) throws(Flaw) -> Certificate {
        guard case .array(let elements)? = statement["x5c"],
            (2...CertificateChain.maximumCount).contains(elements.count)
        else { throw .certificates }
        if let leaf = quickly(elements, roots, at: time) { return try device(leaf) }
        var certificates: [Certificate] = []
        for element in elements {
            guard let der = element.bytes, let certificate = try? Certificate(der: der) else {
                throw .certificates
            }
            certificates.append(certificate)
        }
        do throws(CertificateChain.Flaw) {
            let chain = try CertificateChain(certificates)
            try chain.check(at: time.seconds)
            try chain.checkTrust(roots: roots, at: time.seconds)
        } catch {
            switch error {
            case .outOfDate: throw .chainOutOfDate
            case .untrusted: throw .chainUntrusted
            case .empty, .tooLong, .broken, .notAnAuthority: throw .chainBroken
            }
        }
        return try device(certificates[0])
    }

    /// A chain as Apple's devices send it: leaf and issuer. Nil is no verdict: the slow path then tells
    /// the fault.
    private static func quickly(
        _ elements: [CBOR], _ roots: [Certificate], at time: Timestamp
    ) -> Certificate? {
        guard elements.count == 2, let der = elements[0].bytes, let other = elements[1].bytes,
            let leaf = try? Certificate(ofCurve: der)
        else { return nil }
        if issuers.vouch(for: leaf, issuer: other, roots: roots, at: time.seconds) { return leaf }
        guard let issuer = try? Certificate(ofCurve: other),
            issuers.meet(issuer, of: leaf, roots: roots, at: time.seconds)
        else { return nil }
        return leaf
    }

    /// Apple has one issuer at a time, or a few.
    private static let issuers = KnownIssuers()

    /// A leaf that may issue others is no device's.
    private static func device(_ leaf: Certificate) throws(Flaw) -> Certificate {
        guard leaf.isAuthority != true else { throw .chainBroken }
        return leaf
    }

    private static func app(of hash: [UInt8], _ apps: [String]) -> String? {
        apps.first { SHA256.hash(Array($0.utf8)) == hash }
    }
}
