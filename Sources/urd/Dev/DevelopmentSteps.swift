import JSON

/// What `urd dev` has the rest of Urd do once its PostgreSQL runs. The composition root hands it in.
protocol DevelopmentSteps: Sendable {
    /// Brings the schema up to date, as the owner.
    func migrate(_ place: DevelopmentPlace) async throws

    /// Makes sure that the demo realm, app, client and admin key exist. Secrets can't be read back
    /// from the log: `previous` is what the last run wrote down; where it is nil or no longer holds,
    /// new secrets are made.
    func prepareDemo(_ place: DevelopmentPlace, previous: Demo?) async throws -> Demo

    /// Makes a realm with a month of sign-ins in it, unless it is there already.
    func prepareHistory(_ place: DevelopmentPlace) async throws

    /// Serves until the task is cancelled, then drains and returns. Calls `ready` once, when
    /// requests are answered.
    func serve(
        _ place: DevelopmentPlace, ready: @escaping @Sendable (ServerAddress) async throws -> Void
    ) async throws
}

/// Folders, ports and addresses of this run.
struct DevelopmentPlace: Equatable, Sendable {
    /// As the application's role, and as the schema's owner.
    let databaseURL: String
    let ownerURL: String
    let masterKeyFile: String
    let checkpointDirectory: String
    let port: UInt16
    /// That of the last run, whose address may be in a bookmark; 0 takes any.
    var privatePort: UInt16 = 0
    /// Whether tests may do what only they do, and who is there for them.
    var isEphemeral = false
    var people: [JSON] = []
}

/// What a newcomer needs for a first request.
struct Demo: Equatable, Sendable {
    let realm: String
    let clientID: String
    let clientSecret: String
    /// For apps on phones: it keeps no secret.
    let nativeClientID: String
    let adminKey: String
    /// By which the owner of the flagship realm takes it over. Nil where they have.
    var registerToken: String?
    /// Who vouches for apps there.
    var stores: DemoStores?
    /// Of the realm in which addresses are proved for tenants.
    var tenant: DemoTenant?
    /// Of the realm whose devices show people to services.
    var federation: DemoFederation?
}
