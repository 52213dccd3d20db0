internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension ClientRoutes {
    static func view(_ id: UUID, _ client: StreamSnapshot<Client>) -> ClientView {
        ClientView(
            id: id, clientID: client.state.clientID,
            metadata: client.state.metadata?.members ?? [:],
            isDisabled: client.state.isDisabled, issuedAt: client.createdAt)
    }
}

extension Call<AdminContext> {
    /// The secrets that follow from a write, the one that it gives first: an earlier run of it may have
    /// given one of the others, before the realm's key was replaced.
    func clientSecrets(of write: Write) async throws(Problem) -> [ClientSecret] {
        try await mint(of: write.realm).clientSecrets(of: write.command)
    }

    func clientSecret(of write: Write) async throws(Problem) -> ClientSecret {
        guard let secret = try await clientSecrets(of: write).first else {
            throw Problem(.internalError)
        }
        return secret
    }

    /// Those that it may have been given by a write. One that can be had again is of a registration or a rotation: a
    /// change of something else leaves it as it is.
    private func givenSecrets(
        of id: UUID, _ client: Client, _ write: Write, isChange: Bool
    ) async throws(Problem) -> [ClientSecret] {
        guard !isChange, client.metadata?.rules.hasSharedKey == true else {
            return try await clientSecrets(of: write)
        }
        let mint = try await mint(of: write.realm)
        return try await clientSecrets(of: write)
            + mint.sharedKeys(of: id, rotation: client.secretRotations)
    }

    /// The secret of a client that is written: of one whose messages are signed by it, one that can be had again.
    func secret(
        of id: UUID, rotation: UInt32, hasSharedKey: Bool, _ write: Write
    ) async throws(Problem) -> ClientSecret {
        guard hasSharedKey else { return try await clientSecret(of: write) }
        let keys = try await mint(of: write.realm).sharedKeys(of: id, rotation: rotation)
        guard let key = keys.first else { throw Problem(.internalError) }
        return key
    }

    /// The stream of the client that the path names. A repeat finds it through what it did: the
    /// client may have been deleted since, by this very write perhaps.
    func client(for write: Write) async throws(Problem) -> UUID {
        let name = try required("client_id")
        let found = try await context.ask(ClientView.byClientID, name, in: write.realm)
        if let found { return found.id }
        if let earlier = try await earlier(write) { return earlier.stream }
        try await knownRealm()
        throw Problem(.noSuchClient)
    }

    /// The client as the write left it, with its secret if it has it from this very write.
    func answer(
        _ status: Status, _ id: UUID, _ done: WriteReceipt, givesSecret: Bool = false,
        isChange: Bool = false
    ) async throws(Problem) -> Response {
        let client = try await state(Client.self, of: id, after: done)
        var members = ClientSchema.shape.object(ClientRoutes.view(id, client))
        if givesSecret,
            let secret = try await givenSecrets(
                of: id, client.state, done.write, isChange: isChange
            ).first(where: { $0.digest == client.state.secret })
        {
            members["client_secret"] = .string(secret.text)
            members["client_secret_expires_at"] = 0
        }
        return Response.json(status, .object(members)).at(done)
    }
}
