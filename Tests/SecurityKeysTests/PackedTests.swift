import Cryptography
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// SECURITY.md 2.8, Resp-5 and Resp-6, and what section 8.2 demands.
@Suite struct `A packed attestation` {
    static func draft(
        _ maker: Maker, _ chain: [[UInt8]]? = nil
    ) throws -> Draft {
        var draft = Draft(.create, key: .es256(try .generate()))
        let chain = try chain ?? maker.chain()
        draft.format = .text("packed")
        draft.statement = { Statement.packed(try maker.key.signDER($0.signed), chain) }
        return draft
    }

    @Test func `a packed attestation is trusted as far as its root`() throws {
        let maker = try Maker()
        let draft = try Self.draft(maker)
        let kept = try Site.register(draft, policy: maker.policy(.packed))
        #expect(kept.attestation == .init(format: .packed, kind: .basic, isTrusted: true))
        #expect(try !Site.register(draft).attestation.isTrusted)
        let stranger = try Maker().policy(.packed)
        #expect(throws: WebAuthnFailure.chain(.untrusted)) {
            try Site.register(draft, policy: stranger)
        }
    }

    @Test func `a packed attestation may end at a trusted leaf or intermediate`() throws {
        let maker = try Maker()
        let leaf = try maker.leaf()
        let draft = try Self.draft(maker, [leaf])
        for root in [leaf, maker.authority.intermediate] {
            let policy = AttestationPolicy.trusted([.packed: [try Certificate(der: root)]])
            #expect(try Site.register(draft, policy: policy).attestation.isTrusted)
        }
    }

    @Test func `a packed attestation's certificate and data must name one model`() throws {
        let maker = try Maker()
        let model: [UInt8] = Array(1...16)
        func chain(_ value: [UInt8], isCritical: Bool = false, twice: Bool = false) throws
            -> [[UInt8]]
        {
            try maker.chain { draft in
                let item = CertificateDraft.Extension(
                    identifier: "1.3.6.1.4.1.45724.1.1.4", isCritical: isCritical, value: value)
                draft.extensions = twice ? [item, item] : [item]
            }
        }
        func register(_ chain: [[UInt8]]) throws {
            var draft = try Self.draft(maker, chain)
            draft.model = model
            _ = try Site.register(draft)
        }
        try register(chain(ASN1.octets(model)))
        #expect(throws: WebAuthnFailure.statement(.otherModel)) {
            try register(chain(ASN1.octets(model.reversed())))
        }
        let broken = try [
            chain(model), chain(ASN1.octets(model + [0])), chain(ASN1.octets(model) + [0]),
            chain(ASN1.octets(model), isCritical: true), chain(ASN1.octets(model), twice: true),
        ]
        for chain in broken {
            #expect(throws: WebAuthnFailure.statement(.certificate(.modelExtension))) {
                try register(chain)
            }
        }
    }

    @Test(arguments: statements) func `a packed attestation with a faulty statement is refused`(
        _ wrong: Wrong
    ) throws {
        let maker = try Maker()
        var draft = try Self.draft(maker)
        _ = try Site.register(draft)
        try wrong.change(&draft)
        let changed = draft
        #expect(throws: wrong.failure) { try Site.register(changed) }
    }

    static let statements: [Wrong] = [
        Wrong("a member that packed does not have", .statement(.unknownMember)) {
            $0.setStatement("ver", .text("2.0"))
        },
        Wrong("a member that nobody knows", .statement(.unknownMember)) {
            $0.setStatement("ecdaaKeyId", .bytes([1]))
        },
        Wrong("a member with a number for a name", .statement(.unknownMember)) { draft in
            let original = draft.statement
            draft.statement = {
                guard case .map(let members) = try original($0) else { return .map([]) }
                return .map(members + [(.integer(1), .bytes([1]))])
            }
        },
        Wrong("empty", .statement(.member(.alg, .missing))) { $0.statement = { _ in .map([]) } },
        Wrong("labelled none", .statement(.notEmpty)) { $0.format = .text("none") },
        Wrong("alg missing", .statement(.member(.alg, .missing))) { $0.setStatement("alg", nil) },
        Wrong("alg not a number", .statement(.member(.alg, .wrongType))) {
            $0.setStatement("alg", .text("ES256"))
        },
        Wrong("alg unknown", .statement(.algorithmUnknown)) {
            $0.setStatement("alg", .integer(-9999))
        },
        Wrong("alg of another kind", .statement(.otherAlgorithm)) {
            $0.setStatement("alg", .integer(-257))
        },
        Wrong("alg with another hash", .statement(.signature)) {
            $0.setStatement("alg", .integer(-36))
        },
        Wrong("sig missing", .statement(.member(.sig, .missing))) { $0.setStatement("sig", nil) },
        Wrong("sig not bytes", .statement(.member(.sig, .wrongType))) {
            $0.setStatement("sig", .text("x"))
        },
        Wrong("sig empty", .statement(.member(.sig, .empty))) {
            $0.setStatement("sig", .bytes([]))
        },
        Wrong("sig not ASN.1", .statement(.signature)) {
            $0.setStatement("sig", .bytes([UInt8](repeating: 7, count: 64)))
        },
        Wrong("no chain, and signed by the maker", .statement(.signature)) {
            $0.setStatement("x5c", nil)
        },
        Wrong("x5c not a list", .statement(.member(.x5c, .wrongType))) {
            $0.setStatement("x5c", .bytes([1]))
        },
        Wrong("x5c null", .statement(.member(.x5c, .wrongType))) {
            $0.setStatement("x5c", .raw([0xF6]))
        },
        Wrong("x5c empty", .statement(.member(.x5c, .empty))) {
            $0.setStatement("x5c", .array([]))
        },
        Wrong("x5c of texts", .statement(.member(.x5c, .malformed))) {
            $0.setStatement("x5c", .array([.text("x")]))
        },
        Wrong("an empty certificate", .statement(.certificate(.malformed))) {
            $0.setStatement("x5c", .array([.bytes([])]))
        },
        Wrong("nine certificates", .statement(.member(.x5c, .tooLong))) {
            $0.setStatement("x5c", .array(Array(repeating: .bytes([1]), count: 9)))
        },
        Wrong("bytes behind a certificate", .statement(.certificate(.malformed))) { draft in
            let original = draft.statement
            draft.statement = { draft in
                guard case .map(let members) = try original(draft),
                    case .array(let chain) = members[2].1, case .bytes(let leaf) = chain[0]
                else { return .map([]) }
                return Statement.setting(.map(members), "x5c", .array([.bytes(leaf + [0])]))
            }
        },
        Wrong("signed other data", .statement(.signature)) {
            $0.signCount = 1
            $0.cutSignature()
        },
        Wrong("signed by the credential's key", .statement(.signature)) { draft in
            let original = draft.statement
            draft.statement = {
                Statement.setting(try original($0), "sig", .bytes(try $0.key.sign($0.signed)))
            }
        },
    ]

    @Test func `a self attestation proves the key alone`() throws {
        let keys: [TestKey] = [
            .es256(try .generate()), .rs256(try .generate()), .ed25519(try .generate()),
        ]
        for key in keys {
            var draft = Draft(.create, key: key)
            draft.format = .text("packed")
            draft.statement = { draft in
                Statement.packed(
                    try draft.key.sign(draft.signed), nil, algorithm: draft.key.algorithm)
            }
            let kept = try Site.register(draft)
            #expect(kept.attestation == .init(format: .packed, kind: .selfSigned, isTrusted: false))
            #expect(throws: WebAuthnFailure.formatNotAccepted) {
                try Site.register(draft, policy: Maker().policy(.packed))
            }
            draft.statement = { draft in
                Statement.packed(
                    try draft.key.sign(draft.signed + [0]), nil, algorithm: draft.key.algorithm)
            }
            let forged = draft
            #expect(throws: WebAuthnFailure.statement(.signature)) { try Site.register(forged) }
            draft.statement = { Statement.packed(try $0.key.sign($0.signed), nil, algorithm: -35) }
            let renamed = draft
            #expect(throws: WebAuthnFailure.statement(.otherAlgorithm)) {
                try Site.register(renamed)
            }
        }
    }

    @Test func `a self attestation with a chain is refused`() throws {
        let maker = try Maker()
        var draft = try Self.draft(maker)
        let chain = try maker.chain()
        draft.statement = { Statement.packed(try $0.key.sign($0.signed), chain) }
        let changed = draft
        #expect(throws: WebAuthnFailure.statement(.signature)) { try Site.register(changed) }
    }

    @Test func `a packed attestation must come from an allowed model`() throws {
        let maker = try Maker()
        var draft = try Self.draft(maker)
        draft.model = Array(1...16)
        var policy = try maker.policy(.packed)
        policy.models = [Array(1...16)]
        _ = try Site.register(draft, policy: policy)
        policy.models = [Array(2...17)]
        let changed = draft
        let strict = policy
        #expect(throws: WebAuthnFailure.modelNotAccepted) {
            try Site.register(changed, policy: strict)
        }
    }

    @Test func `a packed attestation is demanded where a policy trusts makers alone`() throws {
        let draft = Draft(.create, key: .es256(try .generate()))
        #expect(throws: WebAuthnFailure.formatNotAccepted) {
            try Site.register(draft, policy: Maker().policy(.packed))
        }
    }
}
