internal import Cryptography

/// What a signature has to look like before it is checked (SAML Core section 5.4, and stricter).
///
/// Signature wrapping lives from a verifier that looks at one element and a reader that looks at
/// another. There is one place for a signature, and one thing that it can be over: the root.
struct SignatureRules {
    /// The kinds of key that the signature can be made by.
    let kinds: Set<VerifyingKey.Kind>

    init(of assertion: XMLElement) throws(SAML.Rejection) {
        guard let id = assertion["ID"], Self.isName(id) else { throw .badID }
        try Self.refuseDuplicates(in: assertion)
        let signatures = assertion.all.count { $0.isNamed("Signature", in: Names.signature) }
        guard signatures == 1 else { throw .signatureCount }
        guard let signature = assertion.only("Signature", in: Names.signature) else {
            throw .signaturePlace
        }
        guard let signed = signature.only("SignedInfo", in: Names.signature) else {
            throw .signatureParts
        }
        // Above all no Object, which is where a wrapped assertion would be.
        let parts = signature.children.map(\.name)
        guard
            parts == ["SignedInfo", "SignatureValue"]
                || parts == ["SignedInfo", "SignatureValue", "KeyInfo"],
            signature.children.allSatisfy({ $0.space.isSame(as: Names.signature) })
        else { throw .signatureParts }
        kinds = try Self.method(of: signed)
        try Self.checkReference(of: signed, to: id)
    }

    /// A name without a colon (XML Schema's NCName), of ASCII alone: as everybody makes them.
    private static func isName(_ id: String) -> Bool {
        guard let first = id.utf8.first, id.utf8.count <= 256 else { return false }
        let isLetter = { (byte: UInt8) in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || byte == UInt8(ascii: "_")
        }
        return isLetter(first)
            && id.utf8.allSatisfy { byte in
                isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            }
    }

    /// All attributes that a reader could take for an identifier: `ID`, `Id`, `id`, `xml:id`.
    private static func refuseDuplicates(in root: XMLElement) throws(SAML.Rejection) {
        var seen: Set<[UInt8]> = []
        for attribute in root.all.flatMap(\.attributes)
        where attribute.name.utf8.elementsEqual("id".utf8, by: { $0 | 0x20 == $1 }) {
            guard seen.insert(Array(attribute.value.utf8)).inserted else { throw .duplicateID }
        }
    }

    private static func method(
        of signed: XMLElement
    ) throws(SAML.Rejection) -> Set<VerifyingKey.Kind> {
        guard let first = signed.only("CanonicalizationMethod", in: Names.signature),
            isExclusive(first)
        else { throw .canonicalization }
        guard let second = signed.only("SignatureMethod", in: Names.signature),
            second.children.isEmpty, let name = second["Algorithm"],
            name.utf8.starts(with: Names.more.utf8)
        else { throw .signatureAlgorithm }
        switch String(name.dropFirst(Names.more.count)) {
        case "rsa-sha256", "rsa-sha384", "rsa-sha512": return [.rsa]
        case "ecdsa-sha256", "ecdsa-sha384": return [.p256, .p384]
        default: throw .signatureAlgorithm
        }
    }

    private static func checkReference(
        of signed: XMLElement, to id: String
    ) throws(SAML.Rejection) {
        guard signed.children.count == 3,
            let reference = signed.only("Reference", in: Names.signature)
        else { throw .referenceCount }
        guard let target = reference["URI"], target.isSame(as: "#" + id) else {
            throw .referenceTarget
        }
        guard let list = reference.only("Transforms", in: Names.signature),
            list.children.count == 2,
            list.children.allSatisfy({ $0.isNamed("Transform", in: Names.signature) }),
            list.children[0]["Algorithm"]?.isSame(as: Names.enveloped) == true,
            list.children[0].children.isEmpty, isExclusive(list.children[1])
        else { throw .transforms }
        guard let method = reference.only("DigestMethod", in: Names.signature),
            let name = method["Algorithm"],
            [Names.encryption + "sha256", Names.more + "sha384", Names.encryption + "sha512"]
                .contains(where: name.isSame)
        else { throw .digestAlgorithm }
        guard reference.children.map(\.name) == ["Transforms", "DigestMethod", "DigestValue"] else {
            throw .signatureParts
        }
    }

    /// Exclusive, without comments; prefixes that are kept all the same change nothing that is read.
    private static func isExclusive(_ element: XMLElement) -> Bool {
        element["Algorithm"]?.isSame(as: Names.exclusive) == true && element.children.count <= 1
            && element.children.allSatisfy {
                $0.isNamed("InclusiveNamespaces", in: Names.exclusive) && $0.children.isEmpty
            }
    }
}
