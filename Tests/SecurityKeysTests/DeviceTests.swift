import Cryptography
import Testing
import Values

@testable import SecurityKeys
@testable import SecurityKeysTesting

/// What a YubiKey, a key of U2F, the chip of a computer with Windows and an iPhone made.
@Suite struct `Attestations of real devices` {
    static func statement(
        _ vector: Vector, _ change: (inout [CBOR.Key: CBOR]) -> Void = { _ in }
    ) throws -> AttestationStatement {
        let data = try AuthenticatorData(vector.value("authData"))
        let credential = try #require(data.credential)
        guard case .map(var members) = try CBOR.decode(vector.value("attStmt")) else {
            throw Vector.Missing()
        }
        change(&members)
        return AttestationStatement(
            format: try #require(AttestationFormat(rawValue: vector.name)), members: .map(members),
            authenticatorData: data, credential: credential,
            key: try CredentialKey(credential.key),
            clientDataHash: vector.value("clientDataHash"))
    }

    static func time(_ vector: Vector) -> Timestamp {
        Timestamp(seconds: vector.value("day").reduce(0) { $0 << 8 | Int64($1) })
    }

    @Test func `the real devices' attestations are of four kinds`() {
        #expect(Vector.devices.count == 4)
    }

    @Test(arguments: Vector.devices) func `a real device's attestation is accepted on its day`(
        _ vector: Vector
    ) throws {
        let statement = try Self.statement(vector)
        let verified = try statement.verify(.unasked)
        let chain = try #require(verified.chain)
        let trust = Trust(format: statement.format, policy: .unasked, time: Self.time(vector))
        #expect(try !trust.check(chain))
        let last = try #require(chain.last)
        let policy = AttestationPolicy.trusted([statement.format: [last]])
        let known = Trust(format: statement.format, policy: policy, time: Self.time(vector))
        #expect(try known.check(chain))
        let late = Trust(
            format: statement.format, policy: policy, time: Timestamp(seconds: 4_000_000_000))
        #expect(throws: WebAuthnFailure.chain(.outOfDate)) { try late.check(chain) }
    }

    @Test(arguments: Vector.devices)
    func `a real device's attestation with any bit changed is refused`(
        _ vector: Vector
    ) throws {
        for name in ["sig", "certInfo", "pubArea"] {
            guard let bytes = try CBOR.decode(vector.value("attStmt"))[name]?.bytes else {
                continue
            }
            for index in stride(from: 0, to: bytes.count, by: 3) {
                var changed = bytes
                changed[index] ^= 1
                let statement = try Self.statement(vector) { $0[.text(name)] = .bytes(changed) }
                #expect(throws: WebAuthnFailure.self, "\(name) \(index)") {
                    try statement.verify(.unasked)
                }
            }
        }
        var values = vector.values
        values["clientDataHash"]?[0] ^= 1
        let other = try Self.statement(Vector(name: vector.name, values: values))
        #expect(throws: WebAuthnFailure.self) { try other.verify(.unasked) }
    }
}
