internal import EventSourcing
internal import Identity
internal import JSON

extension Call<AdminContext> {
    /// The filter that a subscription is kept with, of what its body says: ids in the place of names, and
    /// pseudonyms in the place of addresses, so that it holds what the log holds.
    func keptFilter() async throws(Problem) -> String? {
        guard let written = body["filter"]?.string else { return nil }
        let vocabulary = EventAttributes.ofEvents
        let asked = try FilterText.expression(of: written, vocabulary)
        let bound = try await bound(asked, vocabulary, field: "filter")
        let text = bound == asked ? written : bound.text
        _ = try FilterText.expression(of: text, EventAttributes.ofSubscriptions)
        return text
    }
}
