internal import Cryptography

/// Section 8.3: a security chip certifies that it holds the key.
extension AttestationStatement {
    func verifyTPM() throws(Flaw) -> Verified {
        guard let version = members["ver"] else { throw .member(.ver, .missing) }
        guard case .text(let version) = version else { throw .member(.ver, .wrongType) }
        guard version.utf8.elementsEqual("2.0".utf8) else { throw .chip(.version) }
        let algorithm = try algorithm()
        let signature = try bytes(.sig)
        let publicArea = try bytes(.pubArea)
        let information = try bytes(.certInfo)
        let (leaf, chain) = try certificates()
        guard let area = try? TPMPublicArea(publicArea) else { throw .chip(.publicArea) }
        guard let certified = area.key, certified == key.key else { throw .otherKey }
        try checkInformation(information, algorithm: algorithm, area: area, publicArea)
        let attesting = try publicKey(of: leaf)
        guard algorithm.scheme.fits(attesting.kind) else { throw .otherAlgorithm }
        guard attesting.isValid(signature, for: information, scheme: algorithm.scheme) else {
            throw .signature
        }
        try checkTPMRequirements(leaf)
        try checkModel(in: leaf)
        return Verified(kind: .attestationAuthority, chain: chain)
    }

    private func checkInformation(
        _ bytes: [UInt8], algorithm: COSEAlgorithm, area: TPMPublicArea, _ publicArea: [UInt8]
    ) throws(Flaw) {
        let attestation: TPMAttestation
        do {
            attestation = try TPMAttestation(bytes)
        } catch {
            throw .chip(error)
        }
        guard let hash = algorithm.scheme.hash, let wanted = try? hash.hash(signed),
            attestation.extraData == wanted
        else { throw .chip(.extraData) }
        guard let function = area.nameHash, let digest = try? function.hash(publicArea),
            attestation.name == publicArea[2..<4] + digest
        else { throw .chip(.name) }
    }

    /// Section 8.3.1.
    private func checkTPMRequirements(_ leaf: Certificate) throws(Flaw) {
        guard leaf.version == 3 else { throw .certificate(.version) }
        guard leaf.isSubjectEmpty else { throw .certificate(.subject) }
        guard
            let names = try self.extension("2.5.29.17", of: leaf, .alternativeName),
            names.isCritical, AttestationStatement.namesChip(names.value)
        else { throw .certificate(.alternativeName) }
        guard let usage = try self.extension("2.5.29.37", of: leaf, .usage),
            let purposes = try? DER.decode(usage.value), purposes.tag == .sequence,
            let identifiers = try? purposes.children(),
            identifiers.contains(where: {
                $0.tag == .objectIdentifier && $0.content.elementsEqual(chipUsage)
            })
        else { throw .certificate(.usage) }
        guard leaf.isAuthority == false else { throw .certificate(.authority) }
    }

    /// 2.23.133.8.3, tcg-kp-AIKCertificate.
    private var chipUsage: [UInt8] { [0x67, 0x81, 0x05, 0x08, 0x03] }

    /// A directory name (4) that has manufacturer, model and version: 2.23.133.2.1 to 2.23.133.2.3.
    private static func namesChip(_ value: [UInt8]) -> Bool {
        guard let outer = try? DER.decode(value), outer.tag == .sequence,
            let names = try? outer.children()
        else { return false }
        return names.contains { name in
            guard name.tag == .context(4), let list = try? name.child(.sequence),
                let attributes = try? attributes(of: list)
            else { return false }
            return (UInt8(1)...3).allSatisfy { attributes.contains([0x67, 0x81, 0x05, 0x02, $0]) }
        }
    }

    private static func attributes(of list: DER) throws(DER.Malformed) -> Set<[UInt8]> {
        var identifiers: Set<[UInt8]> = []
        for group in try list.children() {
            for attribute in try group.children() {
                let parts = try attribute.children()
                guard parts.count == 2, parts[0].tag == .objectIdentifier,
                    !parts[1].content.isEmpty
                else { throw DER.Malformed() }
                identifiers.insert(Array(parts[0].content))
            }
        }
        return identifiers
    }
}
