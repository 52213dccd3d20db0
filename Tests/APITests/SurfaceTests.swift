import HTTP
import Identity
import Testing

@testable import API

@Suite struct `The surfaces` {
    /// What each brings. What all have together is the sum of it, in the order of the list.
    @Test func `what each surface brings is what the golden list shows`() throws {
        var lines = ["AdminSurface"] + list("route", AdminSurface().routes.map(\.id))
        for surface in API.described.surfaces {
            lines += ["", "\(type(of: surface))"]
            lines += list("route", surface.routes.map(\.id))
            lines += list("page", surface.pages.map(address))
            lines += list("grant", surface.grants.map(\.type.rawValue))
            lines += list("mail", surface.mails.flatMap(\.events))
        }
        lines += ["", "Of several"] + list("mail", AccountMails.rules.flatMap(\.events))
        try GoldenFile(name: "surfaces.txt").expect(lines.joined(separator: "\n") + "\n")
    }

    @Test func `a grant type belongs to one surface`() {
        // What an assertion is made of has names of its own: the client's grant is the same.
        let names = API.described.grants.all.flatMap(\.names)
        #expect(Set(names).count == names.count)
        #expect(
            API.described.grants.all.count == API.described.surfaces.flatMap { $0.grants }.count)
    }

    private func address(_ route: Route<RealmContext>) -> String {
        "\(route.method.rawValue) \(route.path.description)"
    }

    private func list(_ kind: String, _ names: [String]) -> [String] {
        names.sorted().map { "  \(kind) \($0)" }
    }
}
