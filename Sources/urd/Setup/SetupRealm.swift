import API
import JSON

/// The first realm of an installation.
struct SetupRealm: Sendable {
    let name: String
    let displayName: String
    let host: String
    /// The mail address of the first person; nil for no account.
    let email: String?

    /// Makes what is missing; a realm that exists keeps its settings.
    func make(_ requests: AdminRequests, _ report: inout SetupReport) async throws {
        let realm: JSON = .string(name)
        let isNew = try await Self.isMade(
            requests, "createRealm", ["realm": realm, "display_name": .string(displayName)],
            unless: .realmExists)
        report.add("realm \(name)", isNew)
        let isAssigned = try await assignHost(requests)
        report.add("host \(host)", isAssigned)
        // A setup that was interrupted may have made the realm without it.
        let settings = try await requests.read("getRealmSettings", ["realm": realm])
        if settings["primary_domain"]?.string == nil {
            _ = try AdminRequests.answer(
                await requests.response(
                    of: "setRealmSettings", ["realm": realm, "primary_domain": .string(host)]))
        }
        guard let email else { return }
        report.add(
            "account of \(email)",
            try await Self.isMade(
                // Where registration is closed, only a verified address gets a code.
                requests, "registerAccount",
                ["realm": realm, "email": .string(email), "confirmed": true],
                unless: .accountExists))
    }

    /// - Returns: false where the realm has the host already.
    private func assignHost(_ requests: AdminRequests) async throws -> Bool {
        let hosts = try await requests.read("listHosts", ["realm": .string(name), "limit": 200])
        let isOurs = hosts["items"]?.array?.contains { $0["host"]?.string == host } ?? false
        if isOurs { return false }
        let isFree = try await Self.isMade(
            requests, "assignHost", ["realm": .string(name), "host": .string(host)],
            unless: .hostTaken)
        guard isFree else {
            throw CommandFailure(
                "the host \(host) belongs to another realm",
                remedy: "Give another --host, or release it: `urd-admin host release \(host)`.")
        }
        return true
    }

    /// False where the one refusal comes that says that it is there already.
    private static func isMade(
        _ requests: AdminRequests, _ operation: String, _ values: JSONObject,
        unless existing: ProblemKind
    ) async throws -> Bool {
        let response = await requests.response(of: operation, values)
        do {
            _ = try AdminRequests.answer(response)
            return true
        } catch let refusal as RouteRefusal {
            guard refusal.kind == existing else { throw refusal.failure }
            return false
        }
    }
}
