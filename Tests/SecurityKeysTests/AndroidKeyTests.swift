import Cryptography
import SecurityKeys
import Testing
import Values

@testable import SecurityKeysTesting

/// SECURITY.md 2.8, Resp-A, and section 8.4.
@Suite struct `An attestation of Android` {
    struct Lists: Sendable {
        var challenge: [UInt8]?
        var software: [[UInt8]] = []
        var hardware = [purpose([2]), origin(0)]
    }

    static func purpose(_ values: [UInt8]) -> [UInt8] {
        ASN1.context(1, ASN1.element(0x31, values.flatMap(ASN1.integer)))
    }
    static func origin(_ value: UInt8) -> [UInt8] { ASN1.context(702, ASN1.integer(value)) }
    static let allApplications = ASN1.context(600, ASN1.element(0x05, []))

    static func description(_ lists: Lists, _ hash: [UInt8]) -> [UInt8] {
        ASN1.sequence(
            ASN1.integer(3), ASN1.element(0x0A, [1]), ASN1.integer(4), ASN1.element(0x0A, [1]),
            ASN1.octets(lists.challenge ?? hash), ASN1.octets([]),
            ASN1.sequence(lists.software.flatMap { $0 }),
            ASN1.sequence(lists.hardware.flatMap { $0 }))
    }

    static func draft(
        _ maker: Maker, _ lists: Lists, withRoot: Bool = false,
        certificateKey: [UInt8]? = nil, description: [UInt8]? = nil
    ) throws -> Draft {
        let key = try ES256.PrivateKey.generate()
        var draft = Draft(.create, key: .es256(key))
        draft.format = .text("android-key")
        draft.statement = { draft in
            let chain = try maker.chain { certificate in
                certificate.key = certificateKey ?? key.publicKey.spki
                certificate.extensions = [
                    .init(
                        identifier: "1.3.6.1.4.1.11129.2.1.17",
                        value: description ?? Self.description(lists, draft.clientDataHash))
                ]
            }
            return Statement.packed(
                try draft.key.sign(draft.signed),
                chain + (withRoot ? [maker.authority.root] : []))
        }
        return draft
    }

    @Test func `an Android key attestation is accepted with Google's root`() throws {
        let maker = try Maker()
        for withRoot in [false, true] {
            let draft = try Self.draft(maker, Lists(), withRoot: withRoot)
            var policy = try maker.policy(.androidKey)
            policy.demandsTrustedHardware = true
            let kept = try Site.register(draft, policy: policy)
            #expect(kept.attestation == .init(format: .androidKey, kind: .basic, isTrusted: true))
        }
    }

    @Test func `an Android key attestation accepts software values unless hardware is demanded`()
        throws
    {
        let maker = try Maker()
        let mixed = [
            Lists(software: [Self.purpose([2]), Self.origin(0)], hardware: []),
            Lists(software: [Self.origin(0)], hardware: [Self.purpose([2])]),
            Lists(software: [Self.purpose([2])], hardware: [Self.origin(0)]),
        ]
        let flaws: [WebAuthnFailure.AndroidFlaw] = [.origin, .origin, .purpose]
        for (lists, flaw) in zip(mixed, flaws) {
            let draft = try Self.draft(maker, lists)
            _ = try Site.register(draft)
            let policy = AttestationPolicy(demandsTrustedHardware: true)
            #expect(throws: WebAuthnFailure.statement(.android(flaw))) {
                try Site.register(draft, policy: policy)
            }
        }
    }

    @Test func `an Android key attestation with any fault is refused`() throws {
        let maker = try Maker()
        let right = [Self.purpose([2]), Self.origin(0)]
        let wrong: [(Lists, WebAuthnFailure.StatementFlaw)] = [
            (Lists(challenge: [1, 2, 3]), .otherHash),
            (Lists(hardware: []), .android(.origin)),
            (Lists(hardware: [Self.purpose([2])]), .android(.origin)),
            (Lists(hardware: [Self.origin(0)]), .android(.purpose)),
            (Lists(hardware: [Self.purpose([2]), Self.origin(2)]), .android(.origin)),
            (Lists(hardware: [Self.purpose([3]), Self.origin(0)]), .android(.purpose)),
            (Lists(hardware: [Self.purpose([2, 1]), Self.origin(0)]), .android(.purpose)),
            (Lists(hardware: [Self.purpose([]), Self.origin(0)]), .android(.purpose)),
            (Lists(software: [Self.origin(1)], hardware: right), .android(.origin)),
            (Lists(software: [Self.purpose([0])], hardware: right), .android(.purpose)),
            (Lists(software: [Self.allApplications]), .android(.allApplications)),
            (Lists(hardware: right + [Self.allApplications]), .android(.allApplications)),
            (Lists(hardware: right + [Self.origin(0)]), .certificate(.keyDescription)),
            (Lists(hardware: right + [[0x1F]]), .certificate(.keyDescription)),
        ]
        for (lists, flaw) in wrong {
            let draft = try Self.draft(maker, lists)
            #expect(throws: WebAuthnFailure.statement(flaw)) { try Site.register(draft) }
        }
        let other = try Self.draft(maker, Lists(), certificateKey: maker.key.publicKey.spki)
        #expect(throws: WebAuthnFailure.statement(.signature)) { try Site.register(other) }
        var foreign = other
        foreign.statement = { draft in
            Statement.setting(
                try other.statement(draft), "sig", .bytes(try maker.key.signDER(draft.signed)))
        }
        let signed = foreign
        #expect(throws: WebAuthnFailure.statement(.otherKey)) { try Site.register(signed) }
        let reversed = try Self.draft(maker, Lists())
        var order = reversed
        order.statement = { draft in
            guard case .map(let members) = try reversed.statement(draft),
                case .array(let chain) = members[2].1
            else { return .map([]) }
            return Statement.setting(.map(members), "x5c", .array(chain.reversed()))
        }
        let turned = order
        #expect(throws: WebAuthnFailure.statement(.signature)) { try Site.register(turned) }
        let descriptions: [[UInt8]] = [
            [], [0x30, 0x00], [0x04, 0x00], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        ]
        for description in descriptions {
            let draft = try Self.draft(maker, Lists(), description: description)
            #expect(throws: WebAuthnFailure.statement(.certificate(.keyDescription))) {
                try Site.register(draft)
            }
        }
    }
}
