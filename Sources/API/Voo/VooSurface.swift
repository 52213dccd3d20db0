/// The addresses that apps of the voo profile know: see `docs/decisions/0042-voo-profile.md`.
struct VooSurface: RealmSurface {
    let routes = VooRoutes.table
}
