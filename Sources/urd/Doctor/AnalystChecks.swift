extension DatabaseChecks {
    /// Nil where there are no analysts.
    func analysts(_ facts: [String: String]) async -> Diagnosis? {
        let check = "analysts"
        guard facts["schema"].flatMap({ Int($0) }) ?? 0 >= 23,
            let count = try? await tools.query(address, "select count(*)::text from urd.analyst"),
            let first = count.first?.first, first != "0",
            let rows = try? await tools.query(address, AnalystFences.question),
            let gaps = AnalystFences.Gaps(rows.first)
        else { return nil }
        guard let words = gaps.words else { return .fine(check, "they can read, and nothing else") }
        return gaps.functions > 0
            ? .wrong(check, words.what, mend: words.mend)
            : .warning(check, words.what, mend: words.mend)
    }
}
