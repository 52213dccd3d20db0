internal import HTTP

/// Finds the routes of a path by its segments. What stands in the table literally goes before a
/// parameter.
struct RouteTree<Entry: Outlined & Sendable>: Sendable {
    private struct Node {
        var literals: [String: Int] = [:]
        var parameter: Int?
        var routes: [Method: Entry] = [:]
        /// What all routes at this path and below it speak; nil where they differ.
        var voice: Voice?
    }

    /// What stands at one path.
    final class Match: Sendable {
        let template: PathTemplate
        /// What the routes of this path speak: one path speaks one.
        let voice: Voice
        /// Those that the routes of one path have in common.
        let traits: RouteTraits
        /// The path's own segments, percent-encoded as they came, where the template has holes.
        let holes: [String]
        private let routes: [(method: Method, entry: Entry)]

        init(_ any: Outline, routes: [Method: Entry], holes: [String]) {
            template = any.path
            voice = any.voice
            traits = any.traits.intersection(.ofPath)
            self.holes = holes
            self.routes = routes.map { ($0, $1) }
        }

        func route(for method: Method) -> Entry? {
            self[method] ?? (method == .head ? self[.get] : nil)
        }

        private subscript(method: Method) -> Entry? { routes.first { $0.method == method }?.entry }

        /// The value of the header `Allow`.
        var allow: String {
            var names = Set(routes.map(\.method.rawValue))
            if self[.get] != nil { names.insert(Method.head.rawValue) }
            names.insert(Method.options.rawValue)
            return names.sorted().joined(separator: ", ")
        }
    }

    private var nodes = [Node()]
    /// The places without holes, by their paths: most requests are for one of them.
    private var fixed: [String: Match] = [:]

    init(_ table: [Entry]) {
        let places = table.flatMap { route in Self.paths(of: route.outline).map { (route, $0) } }
        for (route, path) in places { insert(route, at: path) }
        for (_, path) in places where path.parameters.isEmpty {
            fixed[path.description] = walk(path.description)
        }
    }

    private static func paths(of outline: Outline) -> [PathTemplate] {
        [outline.path] + [outline.voice.alias?.path(of: outline.path)].compactMap { $0 }
    }

    private mutating func insert(_ route: Entry, at path: PathTemplate) {
        let outline = route.outline
        var index = 0
        for segment in path.segments {
            let known =
                switch segment {
                case .literal(let text): nodes[index].literals[text]
                case .parameter: nodes[index].parameter
                }
            let next = known ?? nodes.count
            if known == nil { nodes.append(Node(voice: outline.voice)) }
            if nodes[next].voice != outline.voice { nodes[next].voice = nil }
            switch segment {
            case .literal(let text): nodes[index].literals[text] = next
            case .parameter: nodes[index].parameter = next
            }
            index = next
        }
        precondition(
            nodes[index].routes[outline.method] == nil, "A route stands in the table once.")
        precondition(
            nodes[index].routes.values.allSatisfy { $0.outline.path == outline.path },
            "Routes of one path name its parameters alike.")
        precondition(
            nodes[index].routes.values.allSatisfy { $0.outline.voice == outline.voice },
            "Routes of one path speak in one voice.")
        precondition(
            nodes[index].routes.values.allSatisfy {
                $0.outline.traits.symmetricDifference(outline.traits).isDisjoint(with: .ofPath)
            }, "Routes of one path agree on the traits of a path.")
        nodes[index].routes[outline.method] = route
    }

    func find(_ path: String) -> Match? { fixed[path] ?? walk(path) }

    /// How a client is refused whose path is unknown: as at the paths beside it, where they agree.
    func voice(beside path: String) -> Voice? { nodes[descend(path).node].voice }

    private func walk(_ path: String) -> Match? {
        let (index, holes, isWhole) = descend(path)
        guard isWhole, let any = nodes[index].routes.first?.value.outline else { return nil }
        return Match(any, routes: nodes[index].routes, holes: holes)
    }

    /// The last node on the way to a path, and whether the way goes on to its end.
    private func descend(_ path: String) -> (node: Int, holes: [String], isWhole: Bool) {
        var index = 0
        var holes: [String] = []
        guard path.utf8.first == UInt8(ascii: "/") else { return (index, holes, false) }
        for segment in PathTemplate.split(path) {
            if let next = nodes[index].literals[segment] {
                index = next
            } else if let next = nodes[index].parameter, !segment.isEmpty {
                holes.append(segment)
                index = next
            } else {
                return (index, holes, false)
            }
        }
        return (index, holes, true)
    }
}
