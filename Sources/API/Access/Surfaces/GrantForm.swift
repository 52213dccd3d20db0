internal import Identity

/// How one kind of grant stands in a token request: its members, and how it is read from them.
struct GrantForm: Sendable {
    let type: GrantType
    /// What `grant_type` may say for it: documents of some protocols spell it in a way of their own.
    var names: [String]
    /// Only realms of the federation profile have it.
    var isOfFederation = false
    let members: [Member]
    /// The grant signs a user in: the time that a rejection takes must tell nothing.
    let signsIn: Bool
    let redeem: @Sendable (Call<RealmContext>, GrantRequest) async throws(Problem) -> GrantOutcome
    /// What the request shows that only its holder can, if that is authentic: nothing is read for it.
    private(set) var holder: @Sendable (Call<RealmContext>) -> String? = { _ in nil }

    init<G: Grant>(
        _ members: [Member] = [], hesitates: Bool = true,
        read: @escaping @Sendable (Call<RealmContext>) async throws(Problem) -> G
    ) {
        self.init(G.self, members, hesitates: hesitates) { call, request throws(Problem) in
            try await Commands(call).dispatch(
                RedeemGrant(try await read(call), request), as: .client(request.clientID))
        }
    }

    /// A grant with its own redemption.
    init<G: Grant>(
        _ grant: G.Type, _ members: [Member], hesitates: Bool = true,
        redeem:
            @escaping @Sendable (
                Call<RealmContext>, GrantRequest
            ) async throws(Problem) -> GrantOutcome
    ) {
        type = G.type
        names = [G.type.rawValue]
        self.members = members
        signsIn = G.signsIn && hesitates
        self.redeem = redeem
    }

    /// The same, of which each is counted for the holder of what is shown.
    func held(by holder: @escaping @Sendable (Call<RealmContext>) -> String?) -> GrantForm {
        var form = self
        form.holder = holder
        return form
    }
}

/// The grants of all surfaces, which the token endpoint takes.
struct GrantForms: Sendable {
    let all: [GrantForm]

    init(_ all: [GrantForm]) {
        self.all = all
    }

    /// The grants of a realm are those that its metadata lists, by the names that stand there. Clients of the
    /// federation profile know some by others as well.
    func find(_ type: String, at place: Place) -> GrantForm? {
        guard !place.settings.rules.servesFederation else {
            return all.first { $0.names.contains(type) }
        }
        return all.first { !$0.isOfFederation && $0.names.first == type }
    }

    /// The members of all grants: some stand in several.
    var members: [Member] {
        var names: Set<String> = []
        return all.flatMap(\.members).filter { names.insert($0.name).inserted }
    }
}
