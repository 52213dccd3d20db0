/// Everything that one kind of client sees: a protocol is one of these, in a folder of its own.
/// `API.surfaces` lists them, and nothing else knows them all.
protocol Surface<Context>: Sendable {
    associatedtype Context: RouteContext

    /// For programs: they stand in the description.
    var routes: [Route<Context>] { get }
    /// For people: they stand in no description.
    var pages: [Route<Context>] { get }
}

extension Surface {
    var routes: [Route<Context>] { [] }
    var pages: [Route<Context>] { [] }
}
