/// One ASN.1 element in DER (X.690): a tag, and what is in it.
struct DER: Equatable {
    enum Tag: Hashable {
        case boolean, integer, octetString, null, objectIdentifier, utf8String, enumerated
        case sequence, set
        /// Around another element, as all are that are read here.
        case context(UInt32)
        case other
    }

    struct Malformed: Error {}

    let tag: Tag
    let content: ArraySlice<UInt8>

    /// Exactly one element.
    static func decode(_ bytes: [UInt8]) throws(Malformed) -> DER {
        let elements = try decodeAll(bytes[...])
        guard let element = elements.first, elements.count == 1 else { throw Malformed() }
        return element
    }

    /// The elements inside of a constructed one.
    func children() throws(Malformed) -> [DER] { try DER.decodeAll(content) }

    /// The one element inside.
    func child() throws(Malformed) -> DER {
        let elements = try children()
        guard let element = elements.first, elements.count == 1 else { throw Malformed() }
        return element
    }

    func child(_ wanted: Tag) throws(Malformed) -> DER {
        let element = try child()
        guard element.tag == wanted else { throw Malformed() }
        return element
    }

    /// An integer or an enumerated value that is not negative and fits.
    func number() throws(Malformed) -> UInt32 {
        guard tag == .integer || tag == .enumerated, let first = content.first, first < 0x80,
            content.count <= 4,
            content.count == 1 || first != 0
                || content[content.startIndex + 1] >= 0x80
        else { throw Malformed() }
        return content.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func decodeAll(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> [DER] {
        var rest = bytes
        var elements: [DER] = []
        while !rest.isEmpty { elements.append(try next(&rest)) }
        return elements
    }

    private static func next(_ rest: inout ArraySlice<UInt8>) throws(Malformed) -> DER {
        let tag = try tag(&rest)
        let length = try length(&rest)
        guard length <= rest.count else { throw Malformed() }
        let content = rest.prefix(length)
        rest = rest.dropFirst(length)
        return DER(tag: tag, content: content)
    }

    private static func tag(_ rest: inout ArraySlice<UInt8>) throws(Malformed) -> Tag {
        guard let first = rest.popFirst() else { throw Malformed() }
        var number = UInt32(first & 0x1F)
        if number == 0x1F {
            number = 0
            var count = 0
            while true {
                guard let next = rest.popFirst(), count < 4, count > 0 || next != 0x80 else {
                    throw Malformed()
                }
                number = number << 7 | UInt32(next & 0x7F)
                count += 1
                if next & 0x80 == 0 { break }
            }
            guard number >= 0x1F else { throw Malformed() }
        }
        switch first & 0xE0 {
        case 0xA0: return .context(number)
        case 0x00: return primitive(number)
        case 0x20: return number == 16 ? .sequence : number == 17 ? .set : .other
        default: return .other
        }
    }

    private static func primitive(_ number: UInt32) -> Tag {
        switch number {
        case 1: .boolean
        case 2: .integer
        case 4: .octetString
        case 5: .null
        case 6: .objectIdentifier
        case 10: .enumerated
        case 12: .utf8String
        default: .other
        }
    }

    /// A length in the definite form, with the fewest octets.
    private static func length(_ rest: inout ArraySlice<UInt8>) throws(Malformed) -> Int {
        guard let first = rest.popFirst() else { throw Malformed() }
        if first < 0x80 { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...3).contains(count), rest.count >= count, let start = rest.first, start != 0
        else { throw Malformed() }
        let length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(count)
        guard length >= 0x80 else { throw Malformed() }
        return length
    }
}
