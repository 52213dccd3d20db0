internal import JSON

/// The objects that answers show views as, described once: schema, example and encoding follow from the members.
struct Shape<View>: Sendable {
    /// Name of the schema in the OpenAPI document; empty where it is described in its place.
    let name: String
    let schema: Schema
    let example: JSON
    private let base: (@Sendable (View) -> JSONObject)?
    private let members: [ShapeMember<View>]
    /// In the order that an object keeps: each member is appended.
    private let sorted: [ShapeMember<View>]

    init(_ name: String, _ members: ShapeMember<View>...) {
        self.init(name, of: members)
    }

    init(_ members: ShapeMember<View>...) {
        self.init("", of: members)
    }

    /// `base`: what a view has as an object already; the members that it may have are `added`.
    init(
        _ name: String, of members: [ShapeMember<View>],
        over base: (@Sendable (View) -> JSONObject)? = nil
    ) {
        let object = Schema.object(members.map(\.member))
        self.name = name
        self.base = base
        self.members = members
        schema = name.isEmpty ? object : .named(name, object)
        example = .object(
            JSONObject(
                members.compactMap { part in part.example.map { (part.member.name, $0) } }))
        sorted = members.sorted { $0.member.name < $1.member.name }
    }

    /// The shape of another name that has more members.
    func adding(_ name: String, _ more: ShapeMember<View>...) -> Shape {
        Shape(name, of: members + more, over: base)
    }

    func object(_ view: View) -> JSONObject {
        var object = base?(view) ?? JSONObject(capacity: sorted.count)
        for part in sorted {
            if let value = part.value(view) { object[part.member.name] = value }
        }
        return object
    }

    func json(_ view: View) -> JSON { .object(object(view)) }
}
