internal import HTTP
internal import Identity

/// Addresses that take a form alone. A browser still shows one where the form was answered with
/// what was wrong, so a user who opens it, by a reload or after a telephone dropped the page, is
/// led to the page that the form stands on.
enum FormAddress {
    static func leading(from path: String, to page: String) -> Route<RealmContext> {
        route(path, []) { _ in page }
    }

    static func route(
        _ path: String, _ parameters: [Parameter],
        to page: @escaping @Sendable (Call<RealmContext>) -> String
    ) -> Route<RealmContext> {
        Route<RealmContext>(
            .get, PathTemplate(stringLiteral: path), id: "open \(path)", tag: "Pages",
            summary: "Redirects to the page of the form.", right: .nothing, voice: .page,
            parameters: parameters, answer: .page, refusals: Place.refusals
        ) { call throws(Problem) in .seeOther(page(call)) }
    }
}
