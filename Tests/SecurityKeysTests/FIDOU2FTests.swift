import Cryptography
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// SECURITY.md 2.8, Resp-8, and section 8.6.
@Suite struct `An attestation of U2F` {
    static func message(_ draft: Draft) -> [UInt8] {
        guard case .es256(let key) = draft.key else { return [] }
        return [0] + draft.relyingPartyHash + draft.clientDataHash + draft.credentialID + [4]
            + key.publicKey.x + key.publicKey.y
    }

    static func draft(_ maker: Maker, _ chain: [[UInt8]]) throws -> Draft {
        var draft = Draft(.create, key: .es256(try .generate()))
        draft.format = .text("fido-u2f")
        draft.statement = { draft in
            .map([
                (.text("sig"), .bytes(try maker.key.signDER(message(draft)))),
                (.text("x5c"), .array(chain.map(Item.bytes))),
            ])
        }
        return draft
    }

    @Test func `a U2F attestation is accepted, and refused with any fault`() throws {
        let maker = try Maker()
        let leaf = try maker.leaf()
        var draft = try Self.draft(maker, [leaf])
        let kept = try Site.register(draft)
        #expect(kept.attestation == .init(format: .fidoU2F, kind: .basic, isTrusted: false))
        let policy = AttestationPolicy.trusted(
            [.fidoU2F: [try Certificate(der: maker.authority.intermediate)]])
        #expect(try Site.register(draft, policy: policy).attestation.isTrusted)

        let two = try Self.draft(maker, maker.chain())
        #expect(throws: WebAuthnFailure.statement(.certificate(.count))) {
            try Site.register(two)
        }
        draft.model = Array(1...16)
        let named = draft
        #expect(throws: WebAuthnFailure.statement(.otherModel)) { try Site.register(named) }
        draft.model = [UInt8](repeating: 0, count: 16)
        draft.setStatement("sig", .bytes(try maker.key.signDER(draft.signed)))
        let forged = draft
        #expect(throws: WebAuthnFailure.statement(.signature)) { try Site.register(forged) }
        let rsa = try RS256.PrivateKey.generate().publicKey.spki()
        let other = try Self.draft(maker, [maker.leaf { $0.key = rsa }])
        #expect(throws: WebAuthnFailure.statement(.certificate(.publicKey))) {
            try Site.register(other)
        }
    }

    @Test func `a U2F attestation is accepted for keys on P-256 alone`() throws {
        let maker = try Maker()
        let leaf = try maker.leaf()
        var draft = Draft(.create, key: .ed25519(try .generate()))
        draft.format = .text("fido-u2f")
        draft.statement = { draft in
            Statement.setting(
                Statement.packed(try maker.key.signDER(draft.signed), [leaf]), "alg", nil)
        }
        let changed = draft
        #expect(throws: WebAuthnFailure.statement(.otherKey)) { try Site.register(changed) }
    }
}
