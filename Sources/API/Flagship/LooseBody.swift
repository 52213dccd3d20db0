internal import HTTP
internal import JSON

/// What browsers and apps send alike, the ones as a form and the others as JSON.
extension Call<RealmContext> {
    private static var longestBody: Int { 64 * 1024 }

    /// The members of either. What is neither has none.
    func looseMembers() -> JSONObject {
        guard request.body.count <= Self.longestBody else { return [:] }
        let types = request.headers.all("Content-Type")
        if types.count == 1, types[0].lowercased().hasPrefix("application/json") {
            return (try? JSON.parse(request.body, limits: .ofRequests))?.object ?? [:]
        }
        var members: JSONObject = [:]
        for pair in Form.parse(request.body) ?? [] {
            // Of two values with one name it is unknown which one was meant.
            guard members[pair.name] == nil, !pair.value.utf8.contains(0) else { return [:] }
            members[pair.name] = .string(pair.value)
        }
        return members
    }

    /// Whether a program asks, and no person.
    var wantsJSON: Bool {
        (request.headers["Accept"] ?? "").lowercased().contains("application/json")
    }
}
