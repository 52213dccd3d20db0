/// The addresses that apps of the voo profile know: see decision 0021.
struct VooSurface: RealmSurface {
    let routes: [Route<RealmContext>]

    /// - Parameter grants: what the token endpoint takes.
    init(_ grants: GrantForms) {
        routes = VooRoutes.table(grants)
    }
}
