internal import Cryptography

/// What a format's verification procedure has to work with.
struct AttestationStatement {
    typealias Flaw = WebAuthnFailure.StatementFlaw

    let format: AttestationFormat
    /// A map; the procedures read its members by name.
    let members: CBOR
    let authenticatorData: AuthenticatorData
    let credential: AuthenticatorData.AttestedCredential
    let key: CredentialKey
    let clientDataHash: [UInt8]

    /// What all formats but U2F sign.
    var signed: [UInt8] { authenticatorData.bytes + clientDataHash }

    struct Verified {
        let kind: AttestationKind
        /// The certificate chain, leaf first; nil for a self attestation.
        let chain: [Certificate]?

        static let unattested = Verified(kind: .none, chain: nil)
    }

    func verify(_ policy: AttestationPolicy) throws(WebAuthnFailure) -> Verified {
        do throws(Flaw) {
            try checkMembers()
            switch format {
            case .none: return try verifyNone()
            case .packed: return try verifyPacked()
            case .tpm: return try verifyTPM()
            case .apple: return try verifyApple()
            case .androidKey:
                return try verifyAndroidKey(hardwareOnly: policy.demandsTrustedHardware)
            case .fidoU2F: return try verifyFIDOU2F(acceptsModel: policy.acceptsModelInU2F)
            }
        } catch {
            throw .statement(error)
        }
    }

    /// The members that a format has (section 8): what is not verified must not stand beside what a maker
    /// vouches for.
    private func checkMembers() throws(Flaw) {
        let known: Set<WebAuthnFailure.StatementMember> =
            switch format {
            case .none: []
            case .packed, .androidKey: [.alg, .sig, .x5c]
            case .tpm: [.ver, .alg, .x5c, .sig, .certInfo, .pubArea]
            case .fidoU2F: [.sig, .x5c]
            // Apple's devices send the algorithm along, which the specification does not know.
            case .apple: [.alg, .x5c]
            }
        guard format != .none, case .map(let members) = members else { return }
        let names = Set(known.map { CBOR.Key.text($0.rawValue) })
        guard names.isSuperset(of: members.keys) else { throw .unknownMember }
    }

    private func verifyNone() throws(Flaw) -> Verified {
        guard members == .map([:]) else { throw .notEmpty }
        return .unattested
    }

    func bytes(_ member: WebAuthnFailure.StatementMember) throws(Flaw) -> [UInt8] {
        guard let value = members[member.rawValue] else { throw .member(member, .missing) }
        guard let bytes = value.bytes else { throw .member(member, .wrongType) }
        guard !bytes.isEmpty else { throw .member(member, .empty) }
        return bytes
    }

    func has(_ member: WebAuthnFailure.StatementMember) -> Bool {
        members[member.rawValue] != nil
    }

    func algorithm() throws(Flaw) -> COSEAlgorithm {
        guard let value = members["alg"] else { throw .member(.alg, .missing) }
        guard let number = value.integer else { throw .member(.alg, .wrongType) }
        guard let algorithm = Int(exactly: number).flatMap(COSEAlgorithm.init(rawValue:)) else {
            throw .algorithmUnknown
        }
        return algorithm
    }

    /// All of x5c, leaf first.
    func certificates() throws(Flaw) -> (leaf: Certificate, chain: [Certificate]) {
        guard let value = members["x5c"] else { throw .member(.x5c, .missing) }
        guard case .array(let elements) = value else { throw .member(.x5c, .wrongType) }
        guard elements.count <= CertificateChain.maximumCount else {
            throw .member(.x5c, .tooLong)
        }
        var chain: [Certificate] = []
        for element in elements {
            guard let der = element.bytes else { throw .member(.x5c, .malformed) }
            guard let certificate = try? Certificate(der: der) else {
                throw .certificate(.malformed)
            }
            chain.append(certificate)
        }
        guard let leaf = chain.first else { throw .member(.x5c, .empty) }
        return (leaf, chain)
    }

    func publicKey(of certificate: Certificate) throws(Flaw) -> VerifyingKey {
        guard let key = try? certificate.publicKey() else { throw .certificate(.publicKey) }
        return key
    }

    /// The value of an extension; nil when there is none.
    func `extension`(
        _ identifier: String, of certificate: Certificate, _ flaw: WebAuthnFailure.CertificateFlaw
    ) throws(Flaw) -> Certificate.Extension? {
        do {
            return try certificate.extension(identifier)
        } catch {
            throw .certificate(flaw)
        }
    }

    /// id-fido-gen-ce-aaguid: the model that a certificate is for, if it says so.
    func checkModel(in certificate: Certificate) throws(Flaw) {
        guard
            let found = try self.extension(
                "1.3.6.1.4.1.45724.1.1.4", of: certificate, .modelExtension)
        else { return }
        guard !found.isCritical, let inner = try? DER.decode(found.value),
            inner.tag == .octetString, inner.content.count == 16
        else { throw .certificate(.modelExtension) }
        guard inner.content.elementsEqual(credential.model) else { throw .otherModel }
    }
}

extension WebAuthnFailure.StatementFlaw: Error {}
