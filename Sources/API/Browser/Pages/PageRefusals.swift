extension Page {
    /// What every page with a form may refuse.
    static let refusals: [ProblemKind] = Place.refusals + [.foreignForm, .rateLimited]
}
