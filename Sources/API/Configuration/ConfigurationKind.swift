internal import JSON

/// A kind of thing that a configuration file names: how it is written there, and which operations of the admin API list, make,
/// change and remove it. Schema, checks, plans and exports follow from it.
struct ConfigurationKind: Sendable {
    enum Form: Sendable {
        /// One object of the realm.
        case single
        /// A list of names.
        case names
        /// Objects by their names.
        case things
    }

    /// A member that names another thing of the file, and by which the operation takes an id.
    struct Reference: Sendable {
        let member: String
        let kind: String
    }

    /// Its member of a realm in the file.
    let name: String
    /// One of them, in sentences.
    let noun: String
    let about: String
    var form = Form.things
    /// The member, or the parameter of the path, that is a thing's name.
    var key = ""
    /// The listed member and the parameter by which a thing is found, where that is not its name.
    var id: (member: String, parameter: String)?
    /// The operation that lists them, or shows the single one.
    var list: String?
    let create: String
    let update: String
    /// Whether an update without a member returns it to its default.
    var replaces = false
    var remove: String?
    /// Members that are secrets: the file says where they stand.
    var secrets: Set<String> = []
    /// Members that all of them have, and the file does not name.
    var given: JSONObject = [:]
    /// Members of the operations that the file has not.
    var omitted: Set<String> = []
    /// The kind of which none has the name of one of these.
    var rival: String?
    /// By their names in the file.
    var references: [String: Reference] = [:]
    /// The events by which one of them goes.
    var removal: Set<String> = []
    /// Whether a listed thing belongs to a configuration at all.
    var isConfigured: @Sendable (JSONObject) -> Bool = { _ in true }
    /// A listed thing in the members of the file.
    var members: @Sendable (JSONObject) -> JSONObject = { $0 }
    /// The secrets that a listed thing has.
    var kept: @Sendable (JSONObject) -> [String] = { _ in [] }

    var createRoute: Route<AdminContext> { ConfigurationCatalogue.route(create) }
    var updateRoute: Route<AdminContext> { ConfigurationCatalogue.route(update) }

    /// The schema of a name.
    var keySchema: Schema {
        createRoute.parameters.first { $0.name == key && $0.place == .path }?.schema
            ?? createRoute.bodyMembers.first { $0.name == key }?.schema ?? .text(1...200)
    }

    /// The members that a thing has in the file.
    var fileMembers: [Member] { ConfigurationCatalogue.fileMembers[name]?.members ?? [] }

    /// Those that are no secrets.
    var visibleNames: Set<String> { ConfigurationCatalogue.fileMembers[name]?.visible ?? [] }

    func makeFileMembers() -> [Member] {
        let made = createRoute.bodyMembers
        let more = updateRoute.bodyMembers.filter { member in
            !made.contains { $0.name == member.name }
        }
        return (made + more).filter {
            $0.name != key && given[$0.name] == nil && !omitted.contains($0.name)
        }.map(inFile)
    }

    private func inFile(_ member: Member) -> Member {
        if secrets.contains(member.name) {
            var schema = SecretReference.schema
            if case .map = member.schema.resolved { schema = .map(of: schema) }
            let about = "\(member.description) Written as env:NAME or file:/path."
            return member.isRequired
                ? .required(member.name, schema, about) : .optional(member.name, schema, about)
        }
        guard let (name, reference) = references.first(where: { $0.value.member == member.name })
        else { return member }
        return .optional(
            name, .nullable(ConfigurationCatalogue.kind(reference.kind).keySchema),
            member.description + ", by its name in this file")
    }

    /// A thing in the file.
    var schema: Schema {
        form == .names ? keySchema : .object(fileMembers)
    }
}

extension Route<AdminContext> {
    var bodyMembers: [Member] {
        guard let body = outline.body, case .object(let rule) = body.schema.resolved else {
            return []
        }
        return rule.members
    }
}

/// Where a secret stands that a file does not tell.
enum SecretReference {
    static let schema = Schema.text(
        5...1_000,
        .said(
            "env:NAME or file:/path: a secret stands in no configuration",
            .either([
                .sequence([.text("env:"), .some(Characters("A-Za-z0-9_"), 1...200)]),
                .sequence([.text("file:/"), .some(Characters(0x20...0x7E), 1...990)]),
            ])))
}
