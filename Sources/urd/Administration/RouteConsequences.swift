import API
import JSON

/// The destructive operations of the admin API: what each does, and what is shown of it before.
struct RouteConsequence: Sendable {
    /// A list whose length is shown.
    struct Count: Sendable {
        let label: String
        let operation: String
    }

    let effect: String
    /// The operation that reads what is about to go.
    var reading: String?
    /// The members of its answer that are shown.
    var members: [String] = []
    var counts: [Count] = []

    private init(
        _ effect: String, reading: String? = nil, _ members: [String] = [], _ counts: [Count] = []
    ) {
        self.effect = effect
        self.reading = reading
        self.members = members
        self.counts = counts
    }

    static let all: [String: RouteConsequence] = [
        "disableRealm": realm("stops the realm: no one signs in and nothing in it changes"),
        "releaseHost": RouteConsequence("frees the host name: requests for it reach no realm"),
        "deleteApp": RouteConsequence(
            "deletes the app: its sub-domain, branding and rules", reading: "getApp",
            ["id", "slug", "name", "created_at"]),
        "rotateClientSecret": client("makes the client's present secret worthless at once"),
        "disableClient": client("stops the client: its requests and tokens are refused"),
        "deleteClient": client("deletes the client for good: its tokens stop working"),
        "disableAccount": account("locks the account's person out and ends all sessions"),
        "logOutAccount": account("ends all sessions of the account, on every device"),
        "deleteAccount": account(
            "locks the account's person out now, and erases the account when the grace is over"),
        "eraseAccount": account(
            "erases the account and all its personal data for ever, at once"),
        "endSession": RouteConsequence("ends the session and all its tokens"),
        "resetTwoFactor": account("removes the account's authenticator app and recovery codes"),
        "revokeInvite": RouteConsequence("makes the invite worthless"),
        "revokeRegistrationToken": RouteConsequence(
            "makes the token worthless: no client registers with it any more"),
        "eraseSubject": RouteConsequence(
            "destroys the key of the subject's personal data: it can never be read again"),
        "revokeAdminKey": RouteConsequence(
            "makes the admin key worthless for ever", reading: "getAdminKey",
            ["id", "name", "created_at"]),
        "removeWebApp": RouteConsequence(
            "removes the web app: its tokens are over, and its name is free", reading: "getWebApp",
            ["id", "slug", "name", "kind", "created_at"]),
        "revokeDeviceCertification": RouteConsequence(
            "revokes the installation's certification: its tokens do not work until it has a new one"
        ),
        "removeMessageGateway": RouteConsequence(
            "removes the gateway: codes no longer go to phones by it"),
        "removeFirebaseProvider": RouteConsequence(
            "removes the keys for Firebase: no notification reaches those devices"),
        "removeAppleProvider": RouteConsequence(
            "removes the keys for Apple: no notification reaches those devices"),
        "removeProvider": RouteConsequence(
            "removes the provider: people no longer sign in by it"),
        "unlinkIdentity": RouteConsequence(
            "removes the link: the account's person no longer signs in by the provider"),
        "rotateWebhookSecret": webhook(
            "replaces the webhook's secret: the old one signs beside it for a while, and then no more"
        ),
        "deleteWebhook": webhook(
            "deletes the webhook: nothing is sent to it any more, and what waits is dropped"),
        "deleteSubscription": RouteConsequence(
            "deletes the subscription: its reader is sent nothing more, and where it was is forgotten",
            reading: "getSubscription", ["id", "name", "types", "cursor"]),
        "rotateSigningKey": RouteConsequence(
            "retires the key that signs now; the published one takes its place"),
    ]

    private static func realm(_ effect: String) -> RouteConsequence {
        RouteConsequence(
            effect, reading: "getRealm", ["realm", "display_name", "created_at"],
            [
                Count(label: "accounts", operation: "listAccounts"),
                Count(label: "clients", operation: "listClients"),
                Count(label: "hosts", operation: "listHosts"),
            ])
    }

    private static func client(_ effect: String) -> RouteConsequence {
        RouteConsequence(
            effect, reading: "getClient", ["client_id", "client_name", "enabled", "grant_types"])
    }

    private static func webhook(_ effect: String) -> RouteConsequence {
        RouteConsequence(effect, reading: "getWebhook", ["id", "name", "url", "state"])
    }

    private static func account(_ effect: String) -> RouteConsequence {
        RouteConsequence(
            effect, reading: "getAccount", ["id", "enabled", "registered_at", "deletion_due"],
            [Count(label: "sessions", operation: "listSessions")])
    }
}

extension RouteCommand {
    var consequence: Consequence {
        RouteConsequence.all[operation.id].map { .destructive($0.effect) } ?? .harmless
    }

    func preview(_ call: Invocation) async throws -> Preview {
        var values = try values(call)
        var preview = Preview(name: try name(call, values))
        guard let known = RouteConsequence.all[operation.id], let reading = known.reading else {
            return preview
        }
        let requests = try await AdminRequests(call.settings())
        defer { requests.close() }
        do {
            try await resolve(&values, requests)
            preview.rows = try await rows(known, reading, values, requests)
        } catch let refusal as RouteRefusal {
            throw await explain(refusal, values, requests)
        }
        return preview
    }

    private func rows(
        _ known: RouteConsequence, _ reading: String, _ values: JSONObject,
        _ requests: AdminRequests
    ) async throws -> [Preview.Row] {
        let found = try await requests.read(reading, values)
        var rows: [Preview.Row] = []
        for member in known.members {
            guard let value = found[member], value != .null else { continue }
            rows.append(Preview.Row(label: member, value: Table.cell(value)))
        }
        var asked = values
        asked["limit"] = 200
        for count in known.counts {
            let page = try await requests.read(count.operation, asked)
            let number = page["items"]?.array?.count ?? 0
            let more = page.nextPage == nil ? "" : " or more"
            rows.append(Preview.Row(label: count.label, value: "\(number)\(more)"))
        }
        return rows
    }

    /// The thing as the caller named it: the last word, or the realm.
    private func name(_ call: Invocation, _ values: JSONObject) throws -> String {
        let words = form.operands.compactMap { call.arguments.words[$0.name]?.first }
        guard let name = words.last ?? values["realm"]?.string ?? form.path.last else {
            preconditionFailure("A command has a name.")
        }
        return name
    }
}
