import Cryptography
import SecurityKeys
import Testing
import Values

/// What a maker of authenticators vouches with, in tests.
struct Maker: Sendable {
    let authority: CertificateAuthority
    let key: ES256.PrivateKey

    init() throws {
        authority = try CertificateAuthority()
        key = try .generate()
    }

    /// The maker's leaf, below the intermediate authority, as a test wants it.
    func leaf(_ change: (inout CertificateDraft) throws -> Void = { _ in }) throws -> [UInt8] {
        var draft = CertificateDraft(key: key.publicKey.spki)
        draft.issuer = CertificateAuthority.intermediateName
        try change(&draft)
        return try draft.signed(by: authority.intermediateKey)
    }

    func chain(
        _ change: (inout CertificateDraft) throws -> Void = { _ in }
    ) throws -> [[UInt8]] {
        [try leaf(change), authority.intermediate]
    }

    func policy(_ format: AttestationFormat) throws -> AttestationPolicy {
        .trusted([format: [try Certificate(der: authority.root)]])
    }
}

enum Statement {
    static func packed(
        _ sig: [UInt8], _ chain: [[UInt8]]?, algorithm: Int64 = -7
    ) -> Item {
        .map(
            [(.text("alg"), .integer(algorithm)), (.text("sig"), .bytes(sig))]
                + (chain.map { [(.text("x5c"), .array($0.map(Item.bytes)))] } ?? []))
    }

    static func setting(_ statement: Item, _ name: String, _ value: Item?) -> Item {
        guard case .map(let members) = statement else { return statement }
        let others = members.filter { member in
            guard case .text(name) = member.0 else { return true }
            return false
        }
        return .map(others + (value.map { [(.text(name), $0)] } ?? []))
    }
}

extension Draft {
    /// Takes the statement that is there, and changes one member of it.
    mutating func setStatement(_ name: String, _ value: Item?) {
        let original = statement
        statement = { Statement.setting(try original($0), name, value) }
    }
}

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

    @Test func `Is trusted as far as its root is`() throws {
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

    @Test func `May come from a leaf or an intermediate that is trusted itself`() throws {
        let maker = try Maker()
        let leaf = try maker.leaf()
        let draft = try Self.draft(maker, [leaf])
        for root in [leaf, maker.authority.intermediate] {
            let policy = AttestationPolicy.trusted([.packed: [try Certificate(der: root)]])
            #expect(try Site.register(draft, policy: policy).attestation.isTrusted)
        }
    }

    @Test func `Names the model in the certificate as in the data`() throws {
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

    @Test(arguments: statements) func `With a statement that is not right is refused`(
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

    struct Chain: Sendable, CustomStringConvertible {
        let description: String
        let failure: WebAuthnFailure
        let make: @Sendable (Maker) throws -> [[UInt8]]
    }

    @Test(arguments: chains) func `With a chain that is not right is refused`(
        _ chain: Chain
    ) throws {
        let maker = try Maker()
        let draft = try Self.draft(maker, chain.make(maker))
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

    @Test func `By the key itself proves the key alone`() throws {
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

    @Test func `By the key itself carries no chain`() throws {
        let maker = try Maker()
        var draft = try Self.draft(maker)
        let chain = try maker.chain()
        draft.statement = { Statement.packed(try $0.key.sign($0.signed), chain) }
        let changed = draft
        #expect(throws: WebAuthnFailure.statement(.signature)) { try Site.register(changed) }
    }

    @Test func `Comes from a model that is let in`() throws {
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

    @Test func `Is demanded where a policy trusts makers alone`() throws {
        let draft = Draft(.create, key: .es256(try .generate()))
        #expect(throws: WebAuthnFailure.formatNotAccepted) {
            try Site.register(draft, policy: Maker().policy(.packed))
        }
    }
}

extension Draft {
    /// Has the statement signed before the last change: with a counter of zero.
    mutating func cutSignature() {
        let original = statement
        statement = { draft in
            var before = draft
            before.signCount = 0
            return try original(before)
        }
    }
}
