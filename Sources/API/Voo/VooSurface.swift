/// The addresses that apps of the voo profile know: see decision 0021.
struct VooSurface: RealmSurface {
    let routes = VooRoutes.table
}
