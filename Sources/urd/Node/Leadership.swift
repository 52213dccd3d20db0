/// That one of several nodes does a thing: the one that has the lease of this name, a row that it renews.
struct Leadership: Sendable {
    private let leases: Leases
    private let name: String
    private let term: Duration

    init(of name: String, in leases: Leases, term: Duration = Leases.term) {
        self.leases = leases
        self.name = name
        self.term = term
    }

    /// Whether no other node can hold the lease yet, without asking. It is looked at before each thing that shall not
    /// happen twice: who was frozen meanwhile learns here that its term may be over, before it does more.
    var isCertain: Bool { leases.isCertain(name) }

    /// Asked again and again, which renews the lease.
    func isHeld() async -> Bool {
        await leases.ask(for: name, term: term)
        return isCertain
    }
}
