import Cryptography
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// SECURITY.md 2.8, Resp-5, as far as it is about certificates.
@Suite struct `The chain of a packed attestation` {
    struct Chain: Sendable, CustomStringConvertible {
        let description: String
        let failure: WebAuthnFailure
        let make: @Sendable (Maker) throws -> [[UInt8]]
    }

    @Test(arguments: chains) func `a faulty certificate chain is refused`(
        _ chain: Chain
    ) throws {
        let maker = try Maker()
        let draft = try `A packed attestation`.draft(maker, chain.make(maker))
        for policy in [.unasked, try maker.policy(.packed)] {
            #expect(throws: chain.failure) { try Site.register(draft, policy: policy) }
        }
    }

    static let chains: [Chain] = [
        leaf("version 1", .statement(.certificate(.version))) { $0.version = 1 },
        leaf("no country", .statement(.certificate(.subject))) { $0.subject.remove(at: 0) },
        leaf("a long country", .statement(.certificate(.subject))) { $0.subject[0].1 = "AAA" },
        leaf("no maker", .statement(.certificate(.subject))) { $0.subject.remove(at: 1) },
        leaf("no unit", .statement(.certificate(.subject))) { $0.subject.remove(at: 2) },
        leaf("another unit", .statement(.certificate(.subject))) { $0.subject[2].1 = "Tests" },
        leaf("two units", .statement(.certificate(.subject))) {
            $0.subject.append(("2.5.4.11", "Tests"))
        },
        leaf("no name", .statement(.certificate(.subject))) { $0.subject.remove(at: 3) },
        leaf("an authority", .statement(.certificate(.authority))) { $0.isAuthority = true },
        leaf("no constraints", .statement(.certificate(.authority))) { $0.isAuthority = nil },
        leaf("expired", .chain(.outOfDate)) { $0.notAfter = "20250101000000Z" },
        leaf("not yet valid", .chain(.outOfDate)) { $0.notBefore = "20450101000000Z" },
        leaf("another issuer", .chain(.broken)) { $0.issuer = CertificateAuthority.name },
        Chain(description: "with its root", failure: .chain(.containsRoot)) {
            try $0.chain() + [$0.authority.root]
        },
        Chain(description: "wrong order", failure: .statement(.signature)) {
            try $0.chain().reversed()
        },
        Chain(description: "wrong order behind the leaf", failure: .chain(.broken)) { maker in
            var lower = CertificateDraft(key: maker.key.publicKey.spki)
            lower.issuer = CertificateAuthority.name
            return [try maker.leaf(), try lower.signed(by: maker.authority.key)]
                + [maker.authority.intermediate]
        },
        Chain(description: "expired intermediate", failure: .chain(.outOfDate)) { maker in
            let authority = maker.authority
            return [
                try maker.leaf(),
                try CertificateAuthority.intermediate(
                    of: authority.intermediateKey, by: authority.key
                ) { $0.notAfter = "20250101000000Z" },
            ]
        },
        Chain(description: "an intermediate that is none", failure: .chain(.notAnAuthority)) {
            [
                try $0.leaf(),
                try CertificateAuthority.intermediate(
                    of: $0.authority.intermediateKey, by: $0.authority.key
                ) { $0.isAuthority = false },
            ]
        },
        Chain(description: "signed by another key", failure: .chain(.broken)) { maker in
            [try maker.leaf(), try CertificateAuthority().intermediate]
        },
    ]

    static func leaf(
        _ description: String, _ failure: WebAuthnFailure,
        _ change: @escaping @Sendable (inout CertificateDraft) -> Void
    ) -> Chain {
        Chain(description: description, failure: failure) { try $0.chain(change) }
    }
}
