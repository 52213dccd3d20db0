import API
import JSON

/// The operations of the admin API as commands. Each route says the words that call it.
enum RouteCommands {
    static let all: [any AnySubcommand] =
        API.operations.compactMap { operation in
            operation.words.map {
                RouteCommand(words: $0, operation: operation, given: given[operation.id] ?? [:])
            }
        } + narrowed

    /// `events tail --follow` is what waits.
    private static let given: [String: JSONObject] = ["listEvents": ["wait": 0]]

    /// An operation under other words, with something said already.
    private static let narrowed: [any AnySubcommand] = API.operations.compactMap { operation in
        guard operation.id == "listLoginHistory" else { return nil }
        return RouteCommand(
            words: ["history", "failures"], operation: operation,
            given: ["outcome": "refused"], summary: "List failed sign-ins, newest first",
            examples: ["urd history failures --since 24h --all --csv"])
    }
}
