internal import EventSourcing
internal import Identity
internal import ReadModels
internal import Values

extension RealmContext {
    /// Whether the opener of a session, and all of its own openers, are valid.
    func isStanding(_ opener: Opener?) async throws(Problem) -> Bool {
        guard let opener else { return true }
        guard try await isThere(opener) else { return false }
        if let session = opener.session, try await live(session) == nil { return false }
        guard let browser = opener.browser else { return true }
        let found = try await ask(BrowserSessionView.byID, browser)
        guard let found, !found.isOver, clock.now() < found.terms.expiresAt else { return false }
        return try await isStanding(found.terms.opener)
    }

    /// The installation, where no session stands for it.
    func isThere(_ opener: Opener) async throws(Problem) -> Bool {
        guard let installation = opener.installation, opener.session == nil else { return true }
        let client = try await installationState(installation)
        return !client.isDeleted && !client.isDisabled
    }

    func isCertified(_ installation: UUID) async throws(Problem) -> Bool {
        try await installationState(installation).certification != nil
    }

    private func installationState(_ installation: UUID) async throws(Problem) -> Client {
        let events = try await reading { () throws(LogFailure) in
            try await commands.events.stream(installation, after: 0, in: place.realm)
        }
        var client = Client()
        for recorded in events {
            guard let event = ClientEvent(recorded) else { throw Problem(.logDamaged) }
            client.apply(event)
        }
        return client
    }
}
