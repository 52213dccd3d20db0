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

    init<G: Grant>(
        _ members: [Member] = [], hesitates: Bool = true,
        read: @escaping @Sendable (Call<RealmContext>) async throws(Problem) -> G
    ) {
        self.init(G.self, members, hesitates: hesitates) { call, request throws(Problem) in
            try await Commands(call).dispatch(
                RedeemGrant(try await read(call), request), as: .client(request.clientID))
        }
    }

    /// For one that is redeemed in a way of its own.
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
}

/// The grants of all surfaces, which the token endpoint takes.
struct GrantForms: Sendable {
    let all: [GrantForm]

    init(_ all: [GrantForm]) {
        self.all = all
    }

    func find(_ type: String) -> GrantForm? { all.first { $0.names.contains(type) } }

    /// The members of all grants: some stand in several.
    var members: [Member] {
        var names: Set<String> = []
        return all.flatMap(\.members).filter { names.insert($0.name).inserted }
    }
}
