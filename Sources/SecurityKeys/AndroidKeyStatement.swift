internal import Cryptography

/// Section 8.4: Android's key store vouches for the key by a certificate of the key itself.
extension AttestationStatement {
    func verifyAndroidKey(hardwareOnly: Bool) throws(Flaw) -> Verified {
        let algorithm = try algorithm()
        let signature = try bytes(.sig)
        let (leaf, chain) = try certificates()
        let attesting = try publicKey(of: leaf)
        guard algorithm.scheme.fits(attesting.kind) else { throw .otherAlgorithm }
        guard attesting.isValid(signature, for: signed, scheme: algorithm.scheme) else {
            throw .signature
        }
        guard attesting == key.key else { throw .otherKey }
        guard
            let found = try self.extension(
                "1.3.6.1.4.1.11129.2.1.17", of: leaf, .keyDescription),
            let description = try? AndroidKeyDescription(found.value)
        else { throw .certificate(.keyDescription) }
        guard description.challenge == clientDataHash else { throw .otherHash }
        try description.check(hardwareOnly: hardwareOnly)
        return Verified(kind: .basic, chain: chain)
    }
}

/// Android's description of a key, and of what is enforced on it by whom.
struct AndroidKeyDescription {
    let challenge: [UInt8]
    let software: AuthorizationList
    let hardware: AuthorizationList

    struct AuthorizationList {
        let purposes: [UInt32]?
        let origin: UInt32?
        let isForAllApplications: Bool

        /// SIGN and GENERATED of Android's key master.
        static let sign: UInt32 = 2
        static let generated: UInt32 = 0

        init(_ list: DER) throws(DER.Malformed) {
            guard list.tag == .sequence else { throw DER.Malformed() }
            var purposes: [UInt32]?
            var origin: UInt32?
            var isForAllApplications = false
            for element in try list.children() {
                switch element.tag {
                case .context(1):
                    var values: [UInt32] = []
                    for value in try element.child(.set).children() {
                        values.append(try value.number())
                    }
                    purposes = (purposes ?? []) + values
                case .context(702):
                    guard origin == nil else { throw DER.Malformed() }
                    origin = try element.child().number()
                case .context(600):
                    isForAllApplications = true
                default:
                    break
                }
            }
            self.purposes = purposes
            self.origin = origin
            self.isForAllApplications = isForAllApplications
        }
    }

    init(_ value: [UInt8]) throws(DER.Malformed) {
        let outer = try DER.decode(value)
        guard outer.tag == .sequence else { throw DER.Malformed() }
        let fields = try outer.children()
        guard fields.count >= 8, fields[4].tag == .octetString else { throw DER.Malformed() }
        challenge = Array(fields[4].content)
        software = try AuthorizationList(fields[6])
        hardware = try AuthorizationList(fields[7])
    }

    /// Each value of either authorization list must be right, and a list that counts must contain it.
    func check(hardwareOnly: Bool) throws(WebAuthnFailure.StatementFlaw) {
        guard !software.isForAllApplications, !hardware.isForAllApplications else {
            throw .android(.allApplications)
        }
        let counting = hardwareOnly ? [hardware] : [software, hardware]
        let origins = [software, hardware].compactMap(\.origin)
        guard counting.contains(where: { $0.origin != nil }),
            origins.allSatisfy({ $0 == AuthorizationList.generated })
        else { throw .android(.origin) }
        let purposes = [software, hardware].compactMap(\.purposes)
        guard counting.contains(where: { $0.purposes != nil }),
            purposes.allSatisfy({ $0 == [AuthorizationList.sign] })
        else { throw .android(.purpose) }
    }
}
