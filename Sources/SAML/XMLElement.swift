/// An element as a value, with what is below it.
///
/// The rules look at values alone: what they read cannot be another node than the one that they
/// looked at before.
struct XMLElement: Sendable, Hashable {
    struct Attribute: Sendable, Hashable {
        let space: String
        let name: String
        let value: String
    }

    let space: String
    let name: String
    let attributes: [Attribute]
    let children: [XMLElement]
    /// All texts that stand directly in it, one after the other: what stands between them, such as a
    /// comment, ends nothing.
    let text: String

    func isNamed(_ name: String, in space: String) -> Bool {
        self.name.utf8.elementsEqual(name.utf8) && self.space.utf8.elementsEqual(space.utf8)
    }

    /// The value of an attribute without a namespace.
    subscript(attribute: String) -> String? {
        attributes.first { $0.space.isEmpty && $0.name.isSame(as: attribute) }?.value
    }

    func children(_ name: String, in space: String) -> [XMLElement] {
        children.filter { $0.isNamed(name, in: space) }
    }

    /// The child of that name; nil where there is none, and where there are two of them.
    func only(_ name: String, in space: String) -> XMLElement? {
        let found = children(name, in: space)
        return found.count == 1 ? found[0] : nil
    }

    /// This element and all below it.
    var all: [XMLElement] { [self] + children.flatMap(\.all) }
}

extension String {
    /// Whether both are the same bytes: `==` lets spellings of one text be equal.
    func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
