import Cryptography
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// Section 8.8.
@Suite struct `An attestation of Apple` {
    static func draft(
        _ maker: Maker, key: ES256.PrivateKey,
        _ change: @escaping @Sendable (inout CertificateDraft, Draft) throws -> Void = { _, _ in }
    ) -> Draft {
        var draft = Draft(.create, key: .es256(key))
        draft.format = .text("apple")
        draft.statement = { draft in
            let chain = try maker.chain { certificate in
                certificate.key = key.publicKey.spki
                certificate.extensions = [nonce(SHA256.hash(draft.signed))]
                try change(&certificate, draft)
            }
            return .map([(.text("x5c"), .array(chain.map(Item.bytes)))])
        }
        return draft
    }

    static func nonce(_ hash: [UInt8]) -> CertificateDraft.Extension {
        .init(
            identifier: "1.2.840.113635.100.8.2",
            value: ASN1.sequence(ASN1.context(1, ASN1.octets(hash))))
    }

    @Test func `an Apple attestation is accepted, and refused with any fault`() throws {
        let maker = try Maker()
        let key = try ES256.PrivateKey.generate()
        let kept = try Site.register(Self.draft(maker, key: key), policy: maker.policy(.apple))
        #expect(
            kept.attestation
                == .init(format: .apple, kind: .anonymizationAuthority, isTrusted: true))
        let other = try ES256.PrivateKey.generate()
        let wrong: [(Draft, WebAuthnFailure.StatementFlaw)] = [
            (
                Self.draft(maker, key: key) {
                    $0.key = other.publicKey.spki
                    _ = $1
                }, .otherKey
            ),
            (
                Self.draft(maker, key: key) { certificate, draft in
                    certificate.extensions = [Self.nonce(SHA256.hash(draft.clientDataJSON))]
                }, .otherHash
            ),
            (
                Self.draft(maker, key: key) { certificate, _ in certificate.extensions = [] },
                .certificate(.nonceExtension)
            ),
            (
                Self.draft(maker, key: key) { certificate, _ in
                    certificate.extensions[0].value = [0x30, 0x80]
                }, .certificate(.nonceExtension)
            ),
        ]
        for (draft, flaw) in wrong {
            #expect(throws: WebAuthnFailure.statement(flaw)) { try Site.register(draft) }
        }
        var bare = Self.draft(maker, key: key)
        bare.statement = { _ in .map([]) }
        let empty = bare
        #expect(throws: WebAuthnFailure.statement(.member(.x5c, .missing))) {
            try Site.register(empty)
        }
    }
}
