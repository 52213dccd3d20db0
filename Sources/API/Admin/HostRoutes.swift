internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
public import Values

/// Which host names lead to a realm.
enum HostRoutes {
    static let table: [Route<AdminContext>] = [assign, list, release]

    private static let assign = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/hosts", id: "assignHost",
        commandLine: .urd(
            "host assign", examples: "urd host assign --realm acme --host login.acme.example"),
        tag: "Hosts",
        summary: "Assign a host name to a realm.",
        detail: "A host leads to one realm only.", right: .everything,
        parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewHost",
                .object(
                    .required(
                        "host", .text(1...259, Names.host),
                        "Host name as in requests: lower case, IDN labels in ASCII, a port only "
                            + "if it is neither 80 nor 443.",
                        example: "login.example.com"))),
            example: ["host": "login.example.com"]),
        answer: .created("The host.", shape),
        refusals: [.noSuchRealm, .hostTaken]
    ) { call throws(Problem) in
        let realm = try call.realm
        let known = try await call.stateIfAny(Realm.self, of: Realm.stream, in: realm)
        if known == nil { throw Problem(.noSuchRealm) }
        let host = call.body["host"]?.string ?? ""
        let id = Hosts.id(of: host)
        let done = try await call.run(
            HostChange.assign(id, host: host, realm: realm), as: call.write(in: .system))
        let state = try await call.state(Host.self, of: id, after: done)
        let view = HostView(host: host, realm: realm, assignedAt: state.changedAt)
        return Response.json(.created, shape.json(view)).at(done)
            .located("/api/admin/realms/\(realm)/hosts/\(Percent.encode(host))")
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/hosts", id: "listHosts",
        commandLine: .urd("host list", examples: "urd host list --realm acme"), tag: "Hosts",
        summary: "List the host names of a realm.", of: shape, by: .name(\.host),
        page: HostView.page)

    private static let release = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/hosts/{host}", id: "releaseHost",
        commandLine: .urd(
            "host release", examples: "urd host release login.acme.example --realm acme"),
        tag: "Hosts",
        summary: "Release a host name.", right: .everything,
        parameters: [
            .realm, .idempotencyKey,
            Parameter(
                "host", in: .path, .text(1...259, Names.host), "Host name.",
                example: "login.example.com"),
        ],
        answer: .gone("The host leads nowhere."), refusals: [.noSuchRealm, .noSuchHost]
    ) { call throws(Problem) in
        let host = try call.required("host")
        let command = ReleaseHostOfRealm(
            release: HostChange.release(Hosts.id(of: host)), realm: try call.realm)
        let done = try await call.run(command, as: call.write(in: .system))
        return Response(status: .noContent).at(done)
    }

    private static let shape = Shape<HostView>(
        "Host",
        .required(
            "host", .text(1...259, Names.host), "Host name.", \.host, example: "login.example.com"),
        .required("realm", Fields.realm, "Realm of the host name.", \.realm.name, example: "demo"),
        .required("assigned_at", "Time at which the host name was assigned.", \.assignedAt))
}

/// The directory of hosts.
public enum Hosts {
    /// A host's stream follows from its name, so that it is found without a look-up.
    public static func id(of host: String) -> UUID {
        .v8(SHA256.hash([Array("urd host\0".utf8), Array(host.utf8)]))
    }
}

/// Frees a host name of a given realm: of another realm's it knows nothing.
private struct ReleaseHostOfRealm: Command {
    let release: HostChange.Change<NotFound<Host>>
    let realm: RealmID

    func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Host> {
        try await release.gather(streams)
    }

    func decide(_ host: Versioned<Host>) throws(NotFound<Host>) -> Decision {
        guard host.state.realm == realm else { throw .notFound }
        return try release.decide(host)
    }
}

extension HostChange.AssignRejection: Refusal {
    var problem: Problem {
        switch self {
        // The id is made from the name: a name that it doesn't fit is one that we can't tell apart.
        case .idTaken, .hostTaken: Problem(.hostTaken, field: "host")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
