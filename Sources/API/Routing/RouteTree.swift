internal import HTTP

/// Finds the routes of a path by its segments. What stands in the table literally goes before a
/// parameter.
struct RouteTree<Context: RouteContext>: Sendable {
    private struct Node {
        var literals: [String: Int] = [:]
        var parameter: Int?
        var routes: [Method: Route<Context>] = [:]
    }

    /// What stands at one path.
    struct Place: Sendable {
        let template: PathTemplate
        let routes: [Method: Route<Context>]
        /// The path's own segments, percent-encoded as they came, where the template has holes.
        let holes: [String]

        func route(for method: Method) -> Route<Context>? {
            routes[method] ?? (method == .head ? routes[.get] : nil)
        }

        /// The value of the header `Allow`.
        var allow: String {
            var names = Set(routes.keys.map(\.rawValue))
            if routes[.get] != nil { names.insert(Method.head.rawValue) }
            names.insert(Method.options.rawValue)
            return names.sorted().joined(separator: ", ")
        }
    }

    private var nodes = [Node()]

    init(_ table: [Route<Context>]) {
        for route in table { insert(route) }
    }

    private mutating func insert(_ route: Route<Context>) {
        var index = 0
        for segment in route.path.segments {
            let known =
                switch segment {
                case .literal(let text): nodes[index].literals[text]
                case .parameter: nodes[index].parameter
                }
            let next = known ?? nodes.count
            if known == nil { nodes.append(Node()) }
            switch segment {
            case .literal(let text): nodes[index].literals[text] = next
            case .parameter: nodes[index].parameter = next
            }
            index = next
        }
        precondition(nodes[index].routes[route.method] == nil, "A route stands in the table once.")
        precondition(
            nodes[index].routes.values.allSatisfy { $0.path == route.path },
            "Routes of one path name its parameters alike.")
        nodes[index].routes[route.method] = route
    }

    func find(_ path: String) -> Place? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var index = 0
        var holes: [String] = []
        for segment in PathTemplate.split(path) {
            if let next = nodes[index].literals[segment] {
                index = next
            } else if let next = nodes[index].parameter, !segment.isEmpty {
                holes.append(segment)
                index = next
            } else {
                return nil
            }
        }
        guard let any = nodes[index].routes.first?.value else { return nil }
        return Place(template: any.path, routes: nodes[index].routes, holes: holes)
    }
}
