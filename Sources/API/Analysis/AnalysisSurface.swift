/// What analysts take away from a realm.
struct AnalysisSurface: Surface {
    let routes: [Route<AdminContext>]

    /// - Parameter version: of Urd, which exports name.
    init(version: String) {
        routes =
            CaseRoutes.table + WhatIfRoutes.table + AsOfBuildRoutes.table
            + ExportRoutes.table(version: version)
    }
}
