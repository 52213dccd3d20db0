internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// JWTs of apps that write neither a number nor a time into them, where the realm takes such: each is good once, and
/// is remembered as long as the key lives that signed it.
struct UntimedTokens {
    private let call: Call<RealmContext>
    private var context: RealmContext { call.context }

    /// Of one token: more than an app asks for in its time.
    static let mostOfToken: Int32 = 1_000
    /// Of one device, which shows itself once with each name that its person gives it.
    static let mostOfDevice: Int32 = 100

    init(_ call: Call<RealmContext>) { self.call = call }

    private var rule: UntimedRequests {
        context.place.settings[SettingCatalogue.untimedRequests]
    }

    /// Whether a JWT is of now, or has no time and the realm takes it without.
    func isTimely(_ token: SharedKeyToken) -> Bool {
        let (now, leeway) = (context.clock.now(), RequestAuthorization.leeway)
        guard token.isUntimed else { return token.isTimely(at: now, within: leeway) }
        return rule != .refused && token.isOpen(at: now, within: leeway)
    }

    /// Remembers what signed a request. False: it did that before, or too many did.
    ///
    /// - Parameter session: of the token.
    func isNew(_ token: SharedKeyToken, signing session: SessionView) async throws(Problem) -> Bool
    {
        switch rule {
        case .refused: return false
        case .once: return try await remember(token, of: session)
        case .oncePerRequest: return try await remember(token, of: session, with: request)
        }
    }

    private func remember(
        _ token: SharedKeyToken, of session: SessionView, with request: [UInt8] = []
    ) async throws(Problem) -> Bool {
        // A device's token has no end; the keys of all others end within days of when they were given.
        try await remember(
            token.digest(with: request), of: session.id, most: Self.mostOfToken,
            lasts: session.terms.federation?.holder == .device)
    }

    /// Remembers what shows a device. It is good once, with one request alone.
    func isNew(_ token: SharedKeyToken, showing device: UUID) async throws(Problem) -> Bool {
        guard rule != .refused else { return false }
        return try await remember(
            token.digest(with: []), of: device, most: Self.mostOfDevice, lasts: true)
    }

    private func remember(
        _ digest: [UInt8], of stream: UUID, most: Int32, lasts: Bool
    ) async throws(Problem) -> Bool {
        try await reading { () throws(LogFailure) in
            try await context.queries.remember(
                digest, of: stream, most: most, lasts: lasts, in: context.place.realm)
        }
    }

    /// What tells one request from another: under either of the surface's names it is the same.
    private var request: [UInt8] {
        let asked = call.request
        var path = asked.path
        if path.hasPrefix(FederationPaths.otherBase) {
            path = FederationPaths.base + path.dropFirst(FederationPaths.otherBase.count)
        }
        return Array("\n\(asked.method.rawValue) \(path)?\(asked.query ?? "")\n".utf8) + asked.body
    }
}
