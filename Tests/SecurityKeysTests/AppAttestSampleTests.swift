import Cryptography
import Testing
import Values

@testable import SecurityKeys

/// Through the same code as production, under Apple's own root.
@Suite struct `Real App Attest samples` {
    private static func verify(
        _ vector: Vector, _ change: (inout [UInt8]) -> Void = { _ in },
        environment: AppAttest.Environment = .development, app: String? = nil,
        at time: Timestamp? = nil, root: Certificate? = AppAttest.appleRoot
    ) throws -> AppAttest.Attested {
        var attestation = vector.value("attestation")
        change(&attestation)
        let rules = AppAttest.Rules(
            apps: [app ?? String(decoding: vector.value("app"), as: UTF8.self)],
            roots: [try #require(root)], environment: environment)
        return try AppAttest.verify(
            attestation: attestation, keyID: vector.value("keyID"),
            challenge: vector.value("clientData"), rules: rules,
            at: time ?? `Attestations of real devices`.time(vector))
    }

    private static let attested = Vector.appAttest.filter { !$0.value("attestation").isEmpty }

    @Test func `the App Attest samples exist`() {
        #expect(Self.attested.count == 1)
        #expect(Vector.appAttest.count == 2)
    }

    @Test(arguments: attested) func `COZ-06: an App Attest sample is accepted on its day`(
        _ vector: Vector
    ) throws {
        let key = try Self.verify(vector)
        #expect(key.publicKey == vector.value("publicKey"))
        #expect(key.keyID == vector.value("keyID"))
        // Also where their issuer is known already.
        #expect(try Self.verify(vector) == key)
    }

    @Test(arguments: attested) func `COZ-06: an App Attest sample is refused on another day`(
        _ vector: Vector
    ) throws {
        let day = `Attestations of real devices`.time(vector)
        _ = try Self.verify(vector)
        for moment in [day.adding(seconds: 3 * 86_400), day.adding(seconds: -3 * 86_400)] {
            #expect(throws: AppAttest.Flaw.chainOutOfDate) { try Self.verify(vector, at: moment) }
        }
    }

    @Test(arguments: attested)
    func `COZ-06: an App Attest sample is bound to its app, environment, challenge and root`(
        _ vector: Vector
    ) throws {
        _ = try Self.verify(vector)
        #expect(throws: AppAttest.Flaw.environment) {
            try Self.verify(vector, environment: .production)
        }
        #expect(throws: AppAttest.Flaw.app) { try Self.verify(vector, app: "6MURL8TA57.other") }
        let other = try Certificate(der: Vector.root)
        #expect(throws: AppAttest.Flaw.chainUntrusted) { try Self.verify(vector, root: other) }
    }

    /// The chain with one certificate more at its end.
    private static func lengthened(_ vector: Vector, by der: [UInt8]) throws -> [UInt8] {
        var attestation = vector.value("attestation")
        let chain = try #require(CBOR.decode(attestation)["attStmt"]?["x5c"])
        guard case .array(let elements) = chain, elements.count == 2,
            let issuer = elements[1].bytes
        else { throw AppAttest.Flaw.certificates }
        let key = try #require(
            attestation.indices.first { attestation[$0...].starts(with: [0x63, 0x78, 0x35, 0x63]) })
        let end = try #require(
            attestation.indices.first { attestation[$0...].starts(with: issuer) })
        let length = der.count
        attestation.insert(
            contentsOf: [0x59, UInt8(length >> 8), UInt8(length & 0xFF)] + der,
            at: end + issuer.count)
        attestation[key + 4] = 0x83
        return attestation
    }

    @Test(arguments: attested)
    func `COZ-06: a root in an App Attest chain is believed nothing for`(_ vector: Vector) throws {
        let apple = try #require(AppAttest.appleRoot)
        let other = try Certificate(der: Vector.root)
        let with = try Self.lengthened(vector, by: apple.der)
        // It says no more than the chain without it.
        #expect(try Self.verify(vector) { $0 = with } == Self.verify(vector))
        // Where the realm has another root, the chain has brought its own in vain.
        #expect(throws: AppAttest.Flaw.chainUntrusted) {
            try Self.verify(vector, { $0 = with }, root: other)
        }
        // Nor does the root that the realm has carry a chain that does not end at it.
        let foreign = try Self.lengthened(vector, by: other.der)
        for root in [apple, other] {
            #expect(throws: AppAttest.Flaw.self) {
                try Self.verify(vector, { $0 = foreign }, root: root)
            }
        }
    }

    @Test(arguments: attested) func `COZ-06: an App Attest sample with any byte changed is refused`(
        _ vector: Vector
    ) throws {
        let receipt = try #require(
            CBOR.decode(vector.value("attestation"))["attStmt"]?["receipt"]?.bytes)
        let whole = vector.value("attestation")
        let start = try #require(
            whole.indices.first { whole[$0...].starts(with: receipt.prefix(64)) })
        // What Apple's receipt says is for Apple's own servers, and signed apart.
        let inside = start..<(start + receipt.count)
        for index in whole.indices where !inside.contains(index) {
            for bit: UInt8 in [0x01, 0x80] {
                #expect(throws: AppAttest.Flaw.self, "byte \(index)") {
                    try Self.verify(vector) { $0[index] ^= bit }
                }
            }
        }
        for length in [0, 1, 100, whole.count - 1] {
            #expect(throws: AppAttest.Flaw.self) {
                try Self.verify(vector) { $0 = Array($0.prefix(length)) }
            }
        }
        #expect(throws: AppAttest.Flaw.self) { try Self.verify(vector) { $0.append(0) } }
    }

    private static func count(
        _ vector: Vector, _ change: (inout [UInt8]) -> Void = { _ in }, app: String? = nil,
        clientData: [UInt8]? = nil
    ) throws -> UInt32 {
        var assertion = vector.value("assertion")
        change(&assertion)
        return try AppAttest.verify(
            assertion: assertion, publicKey: vector.value("publicKey"),
            clientData: clientData ?? vector.value("clientData"),
            app: app ?? String(decoding: vector.value("app"), as: UTF8.self))
    }

    @Test(arguments: Vector.appAttest)
    func `COZ-06: an App Attest sample's later assertions need a growing counter`(
        _ vector: Vector
    ) throws {
        #expect(try Self.count(vector) == 1)
        #expect(throws: AppAttest.Flaw.app) { try Self.count(vector, app: "6MURL8TA57.other") }
        #expect(throws: AppAttest.Flaw.signature) { try Self.count(vector, clientData: [1]) }
        for index in vector.value("assertion").indices {
            #expect(throws: AppAttest.Flaw.self, "byte \(index)") {
                try Self.count(vector) { $0[index] ^= 1 }
            }
        }
    }
}
