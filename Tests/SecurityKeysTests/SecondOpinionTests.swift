import CFIDO2
import Cryptography
import Testing

@testable import SecurityKeys
@testable import SecurityKeysTesting

/// libfido2, Yubico's own verifier, about the same bytes.
@Suite struct `The verifier of libfido2` {
    /// A registration, taken apart.
    struct Parts {
        let format: String
        let algorithm: COSEAlgorithm
        let data, hash, certificate, signature: [UInt8]

        init(object: [UInt8], clientDataJSON: [UInt8]) throws {
            let object = try CBOR.decode(object)
            guard case .text(let format) = object["fmt"] else { throw Vector.Missing() }
            self.format = format
            data = try #require(object["authData"]?.bytes)
            hash = SHA256.hash(clientDataJSON)
            signature = object["attStmt"]?["sig"]?.bytes ?? []
            if case .array(let chain) = object["attStmt"]?["x5c"] {
                certificate = chain.first?.bytes ?? []
            } else {
                certificate = []
            }
            let credential = try #require(try AuthenticatorData(data).credential)
            algorithm = try CredentialKey(credential.key).algorithm
        }

        /// Whether libfido2 takes the registration, and then what it is asked about its key.
        func isTaken(
            by party: String, and use: (OpaquePointer) -> Bool = { _ in true }
        ) -> Bool {
            let credential = Self.lend(data) { data in
                Self.lend(hash) { hash in
                    Self.lend(certificate) { certificate in
                        Self.lend(signature) { signature in
                            shim_fido_register(
                                Int32(algorithm.rawValue), party, data, hash,
                                format == "none" ? nil : format, certificate, signature)
                        }
                    }
                }
            }
            guard let credential else { return false }
            defer { shim_fido_free(credential) }
            return use(credential)
        }

        static func lend<Result>(
            _ bytes: [UInt8], _ body: (shim_fido_bytes) -> Result
        ) -> Result {
            bytes.withUnsafeBufferPointer {
                body(shim_fido_bytes(start: $0.baseAddress, count: $0.count))
            }
        }

        func isValid(
            _ credential: OpaquePointer, _ data: [UInt8], _ client: [UInt8], _ signature: [UInt8],
            party: String
        ) -> Bool {
            Self.lend(data) { data in
                Self.lend(SHA256.hash(client)) { hash in
                    Self.lend(signature) { signature in
                        shim_fido_is_valid(
                            credential, Int32(algorithm.rawValue), party, data, hash, signature)
                    }
                }
            }
        }
    }

    /// All that it knows: some formats and algorithms, and RSA with 2048 bits exactly.
    static let known = Vector.all.filter { vector in
        ["none", "packed", "packed-self", "fido-u2f"]
            .contains { vector.name.hasPrefix($0 + ".") }
            && !["ES512", "Ed448", "RS256"].contains { vector.name.hasSuffix($0) }
    }

    @Test(arguments: known) func `libfido2 agrees with the verifier on the test vectors`(
        _ vector: Vector
    ) throws {
        let parts = try Parts(
            object: vector.value("create.attestationObject"),
            clientDataJSON: vector.value("create.clientDataJSON"))
        let data = vector.value("get.authenticatorData")
        let client = vector.value("get.clientDataJSON")
        let signature = vector.value("get.signature")
        #expect(
            parts.isTaken(by: "example.org") {
                parts.isValid($0, data, client, signature, party: "example.org")
            })
        #expect(parts.format == "none" || !parts.isTaken(by: "example.com"))
        #expect(
            !parts.isTaken(by: "example.org") {
                parts.isValid($0, data, client + [0x20], signature, party: "example.org")
            })
    }

    @Test func `libfido2 agrees with the verifier on generated and damaged attestations`() throws {
        let keys: [TestKey] = [
            .es256(try .generate()), .rs256(try .generate()), .ed25519(try .generate()),
        ]
        let maker = try Maker()
        let chain = try maker.chain()
        for key in keys {
            for isSelf in [true, false] {
                for isBroken in [false, true] {
                    var draft = Draft(.create, key: key)
                    draft.format = .text("packed")
                    draft.statement = { draft in
                        let message = isBroken ? draft.signed + [0] : draft.signed
                        return isSelf
                            ? Statement.packed(
                                try draft.key.sign(message), nil, algorithm: draft.key.algorithm)
                            : Statement.packed(try maker.key.signDER(message), chain)
                    }
                    let attestation = try PublicKeyCredential.Attestation(draft.json())
                    let parts = try Parts(
                        object: attestation.attestationObject,
                        clientDataJSON: attestation.clientDataJSON)
                    let ours = (try? Site.register(draft)) != nil
                    #expect(ours == !isBroken)
                    #expect(parts.isTaken(by: Site.party.id) == ours)
                }
            }
        }
    }
}
