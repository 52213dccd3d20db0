/// What message gateways say of the messages that they took: see `docs/messages.md`.
struct ReceiptSurface: RealmSurface {
    let routes = ReceiptRoutes.table
}

extension Voice {
    /// Gateways send more with every year: what is not described is ignored, and what is refused is a problem.
    static let receipts = Voice(
        name: "receipts", reading: [.ignoresUnknown, .matchesWithoutCase],
        refusal: Voice.plain.refusal,
        refusalSchemas: Voice.plain.refusalSchemas,
        sentence: { _ in "What is not described is ignored." }, label: Voice.plain.label,
        content: Voice.plain.content)
}
