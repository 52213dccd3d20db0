internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels

/// The columns of the login history as parameters, beside `outcome`, which has an index of its own.
enum LoginColumns {
    static let parameters =
        [
            column("account", Fields.id, "Account of the sign-ins.", id),
            column("session", Fields.id, "Session that the sign-in opened.", id),
            column("app", Fields.id, "App of the sign-ins.", id),
            column("client", ClientSchema.clientID, "OAuth client id of the sign-ins.", "phone"),
            column(
                "method", .oneOf(choices(of: "method")), "Grant type or sign-in method.",
                "urn:cocoar:otp"),
            column("reason", reason, "Reason of the refusals.", "invalid_code"),
            column(
                "source", EventSelection.source, "Network of the sign-ins, by its pseudonym.",
                "q3Jx0a7bTn0y"),
            column("device", .oneOf(DeviceKind.all), "Kind of device of the sign-ins.", "iPhone"),
            column(
                "channel", .oneOf(choices(of: "channel")), "Channel of codes to phones.",
                "sms"),
            column(
                "end_reason", .oneOf(endings), "Reason for which the sessions ended.", "revoked"),
            column("country", country, "Country of the sign-ins (ISO 3166-1).", "CH"),
            column(
                "asn", .integer(1...4_294_967_295), "Autonomous system number of the sign-ins.",
                3303),
        ] + FilterQuestion.beside

    private static let id: JSON = "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"

    private static func column(
        _ name: String, _ schema: Schema, _ description: String, _ example: JSON
    ) -> Parameter {
        Parameter(name, in: .query, schema, description, example: example)
    }

    private static let reason = Schema.text(
        5...60, .said("a reason such as invalid_code", .some(Characters("a-z_"), 5...60)))
    private static let country = Schema.text(
        2...2, .said("a country such as CH", .some(Characters("A-Z"), 2...2)))

    /// Beside these a session ends with what happens to its account.
    private static let endings =
        Set(SessionEnd.allCases.map(\.rawValue))
        .union(BrowserSessionEnd.allCases.map(\.rawValue))
        .union(["disabled", "signed_out_everywhere", "mailbox_changed", "deleted"]).sorted()

    private static func choices(of name: String) -> [String] {
        let fields = EventCatalogue.all.filter {
            $0.name.hasPrefix("session.") || $0.name.hasPrefix("browser.")
        }.flatMap(\.fields).filter { $0.name == name }
        let values = fields.flatMap { field -> [String] in
            guard case .choice(let values) = field.type else { return [] }
            return values
        }
        return Set(values).sorted()
    }
}

extension Call<AdminContext> {
    /// Where nothing is found: a client that is not there may be a slip.
    func knownLoginClient() async throws(Problem) {
        let realm = try realm
        guard let name = text("client") else { return }
        let found = try await context.ask(ClientView.byClientID, name, in: realm)
        guard found == nil else { return }
        throw Problem(.invalidParameter, "The realm has no client '\(name)'.", field: "client")
    }
}
