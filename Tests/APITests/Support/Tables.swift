@testable import API

extension API {
    /// What realms without a profile answer, for programs.
    static var realmTable: [Route<RealmContext>] { routes(of: standard) }
    /// What realms of the flagship profile answer beside that.
    static var flagshipTable: [Route<RealmContext>] { FlagshipSurface().routes }
    static var flagshipPageTable: [Route<RealmContext>] { FlagshipSurface().pages }
    static var webAppTable: [Route<RealmContext>] { WebAppSurface().pages }
    static var pageTable: [Route<RealmContext>] { standard.flatMap { $0.pages } }

    private static var standard: [any RealmSurface] {
        described.surfaces.filter { !($0 is FlagshipSurface) && !($0 is WebAppSurface) }
    }

    private static func routes(of surfaces: [any RealmSurface]) -> [Route<RealmContext>] {
        surfaces.flatMap { $0.routes }
    }
}
