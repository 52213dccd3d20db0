internal import CXMLSec

/// Owner of a document that libxml2 parsed, with nothing read but its own bytes.
///
/// Used by one thread: the check of a signature gives the root its name.
@safe
final class XMLDocument {
    enum Fault: Error, Hashable {
        case malformed
        case documentType
        case tooLarge
        /// A processing instruction, or another thing that SAML has no use for.
        case unexpectedNode
        case memory
    }

    enum Signature: Equatable {
        /// With the bytes that were digested.
        case good(covered: [UInt8])
        case bad
        case failed
    }

    /// Assertions have a few kilobytes. What is larger is mostly meant to cost something.
    static let mostBytes = 64 << 10
    private static let limits = xml_limits(depth: 32, elements: 2000, attributes: 32)

    private let pointer: OpaquePointer
    let root: XMLElement

    init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.mostBytes else { throw .tooLarge }
        var fault = xml_fault_none
        let made = unsafe bytes.withUnsafeBufferPointer {
            unsafe xml_document_read($0.baseAddress, Int32($0.count), Self.limits, &fault)
        }
        guard let made = unsafe made else { throw Self.fault(fault) }
        do throws(Fault) {
            root = try unsafe Self.root(of: made)
        } catch {
            unsafe xml_document_free(made)
            throw error
        }
        unsafe pointer = unsafe made
    }

    deinit { unsafe xml_document_free(pointer) }

    /// The signature that is a child of the root, by a key in the form of a SubjectPublicKeyInfo.
    func verify(by key: [UInt8]) -> Signature {
        var covered: UnsafeMutablePointer<UInt8>?
        var count = 0
        let verdict = unsafe xml_document_verify(pointer, key, key.count, &covered, &count)
        defer { unsafe xml_bytes_free(covered) }
        switch verdict {
        case xml_signature_good:
            return unsafe .good(covered: Array(UnsafeBufferPointer(start: covered, count: count)))
        case xml_signature_bad: return .bad
        default: return .failed
        }
    }

    private static func fault(_ fault: xml_fault) -> Fault {
        switch fault {
        case xml_fault_document_type: .documentType
        case xml_fault_limits: .tooLarge
        case xml_fault_memory: .memory
        default: .malformed
        }
    }

    // MARK: - Values

    private static func root(of document: OpaquePointer) throws(Fault) -> XMLElement {
        var found: XMLElement?
        var node = unsafe xml_document_first(document)
        while let current = unsafe node {
            switch unsafe xml_node_kind(current) {
            case xml_kind_element: found = try unsafe element(current)
            case xml_kind_comment: break
            default: throw .unexpectedNode
            }
            unsafe node = unsafe xml_node_next(current)
        }
        guard let found else { throw .malformed }
        return found
    }

    /// As deep as the limits allow.
    private static func element(_ node: OpaquePointer) throws(Fault) -> XMLElement {
        var attributes: [XMLElement.Attribute] = []
        var attribute = unsafe xml_node_first_attribute(node)
        while let current = unsafe attribute {
            attributes.append(
                XMLElement.Attribute(
                    space: unsafe String(cString: xml_node_space(current)),
                    name: unsafe String(cString: xml_node_name(current)),
                    value: try unsafe content(of: current).text))
            unsafe attribute = unsafe xml_node_next(current)
        }
        let (children, text) = try unsafe content(of: node)
        return XMLElement(
            space: unsafe String(cString: xml_node_space(node)),
            name: unsafe String(cString: xml_node_name(node)), attributes: attributes,
            children: children, text: text)
    }

    private static func content(
        of node: OpaquePointer
    ) throws(Fault) -> (children: [XMLElement], text: String) {
        var children: [XMLElement] = []
        var text = ""
        var child = unsafe xml_node_first(node)
        while let current = unsafe child {
            switch unsafe xml_node_kind(current) {
            case xml_kind_element: children.append(try unsafe element(current))
            case xml_kind_text: text += unsafe String(cString: xml_node_text(current))
            case xml_kind_comment: break
            default: throw .unexpectedNode
            }
            unsafe child = unsafe xml_node_next(current)
        }
        return (children, text)
    }
}
