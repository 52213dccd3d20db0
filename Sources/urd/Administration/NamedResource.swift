import API

/// A kind of thing that commands name, and the list of the names that exist.
///
/// What has no row has no names to come near to: accounts are named by sealed mail addresses, and
/// sessions, mails, notifications, invites, tokens, findings, events and subjects by ids alone.
struct NamedResource: Sendable {
    /// How the admin API says that there is none of this name.
    let problem: ProblemKind
    let noun: String
    /// The input of the operation that names it.
    let input: String
    /// The operation that lists all of them.
    let list: String
    /// The member of each listed item that is its name.
    let member: String
    /// Whether the admin API takes its id; a command takes its name as well.
    var isNamedByID = false
    /// Where the input stands: members of bodies that are called alike mean other things.
    var places: Set<Operation.Input.Place> = [.path]

    static let all = [
        NamedResource(
            problem: .noSuchRealm, noun: "realm", input: "realm", list: "listRealms",
            member: "realm"),
        NamedResource(
            problem: .noSuchClient, noun: "client", input: "client_id", list: "listClients",
            member: "client_id"),
        NamedResource(
            problem: .noSuchClient, noun: "device", input: "installation", list: "listDevices",
            member: "client_id"),
        NamedResource(
            problem: .noSuchApp, noun: "app", input: "app_id", list: "listApps", member: "slug",
            isNamedByID: true, places: [.path, .body]),
        NamedResource(
            problem: .noSuchApp, noun: "web app", input: "web_app_id", list: "listWebApps",
            member: "slug", isNamedByID: true),
        NamedResource(
            problem: .noSuchHost, noun: "host", input: "host", list: "listHosts", member: "host"),
        NamedResource(
            problem: .noSuchProvider, noun: "provider", input: "provider", list: "listProviders",
            member: "provider"),
        NamedResource(
            problem: .noSuchKey, noun: "admin key", input: "key_id", list: "listAdminKeys",
            member: "name", isNamedByID: true),
    ]

    /// How many pages of a list are read to find a near name.
    static let mostPages = 25

    func isNamed(by input: Operation.Input) -> Bool {
        self.input == input.name && places.contains(input.place)
    }

    /// The command that shows the names.
    func listCommand(in realm: String?) -> String {
        let operation = API.operations.first { $0.id == list }
        let isOfRealm = operation?.inputs.contains { $0.name == "realm" && $0.place == .path }
        let words = ["urd"] + (operation?.words ?? [])
        return (words + (isOfRealm == true ? realm.map { ["--realm", $0] } ?? [] : []))
            .joined(separator: " ")
    }
}
