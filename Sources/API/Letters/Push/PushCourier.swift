internal import Cryptography
internal import EventSourcing
internal import Identity
internal import Synchronization
public import Values

/// Speaks with the providers of all realms, and keeps the tokens by which they know us.
public final class PushCourier: Sendable {
    private struct Kept {
        let text: String
        let until: Timestamp
    }

    private let transport: ProviderTransport
    private let now: @Sendable () -> Timestamp
    /// By realm and all that a token is made from: another key is another token.
    private let tokens = Mutex<[[UInt8]: Kept]>([:])

    private static let capacity = 1_024

    public init(transport: @escaping ProviderTransport, now: @escaping @Sendable () -> Timestamp) {
        self.transport = transport
        self.now = now
    }

    /// A missing provider is a failure, so that the user is told in another way.
    func push(
        _ message: PushMessage, to device: PushDevice, by providers: PushProviders,
        in realm: RealmID
    ) async -> PushVerdict {
        switch device.kind {
        case .firebase:
            guard let provider = providers.firebase else { return .refused(code: 0) }
            return await push(message, to: device, by: FirebaseMessages(provider: provider), realm)
        case .apple:
            guard let provider = providers.apple else { return .refused(code: 0) }
            return await push(message, to: device, by: AppleMessages(provider: provider), realm)
        }
    }

    // MARK: - Firebase

    private func push(
        _ message: PushMessage, to device: PushDevice, by messages: FirebaseMessages,
        _ realm: RealmID
    ) async -> PushVerdict {
        let provider = messages.provider
        let name = name(
            realm, provider.email, provider.keyID, provider.privateKey ?? "",
            provider.tokenAddress)
        // A token that is refused may have been taken back before its time.
        for attempt in 1...2 {
            let token: String
            switch await firebaseToken(messages, name) {
            case .success(let known): token = known
            case .failure(let verdict): return verdict.verdict
            }
            let answer = await transport(messages.call(message, to: device, token: token))
            guard case .answered(401, _, _) = answer, attempt == 1 else {
                return FirebaseMessages.verdict(answer)
            }
            forget(name)
        }
        return .refused(code: 401)
    }

    private struct NoToken: Error {
        let verdict: PushVerdict
    }

    private func firebaseToken(
        _ messages: FirebaseMessages, _ name: [UInt8]
    ) async -> Result<String, NoToken> {
        if let known = known(name) { return .success(known) }
        guard let call = messages.tokenCall(now: now()) else {
            return .failure(NoToken(verdict: .refused(code: 0)))
        }
        let answer = await transport(call)
        guard case .answered(200, let body, _) = answer,
            let token = FirebaseMessages.token(in: body)
        else {
            // What a message would mean that is not found says nothing of a device here.
            let verdict: PushVerdict =
                switch FirebaseMessages.verdict(answer) {
                case .taken: .refused(code: 200)
                case .gone(let code): .refused(code: code)
                case .refused(let code): .refused(code: code)
                case .later(let code, let pause): .later(code: code, after: pause)
                }
            return .failure(NoToken(verdict: verdict))
        }
        keep(token.text, for: token.seconds - 60, name)
        return .success(token.text)
    }

    // MARK: - Apple

    private func push(
        _ message: PushMessage, to device: PushDevice, by messages: AppleMessages,
        _ realm: RealmID
    ) async -> PushVerdict {
        let provider = messages.provider
        let name = name(
            realm, provider.team, provider.keyID, provider.privateKey ?? "", provider.address)
        for attempt in 1...2 {
            var token = known(name)
            if token == nil, let made = messages.token(now: now()) {
                keep(made, for: AppleMessages.tokenLifetime, name)
                token = made
            }
            guard let token else { return .refused(code: 0) }
            guard let call = messages.call(message, to: device, token: token) else {
                return .gone(code: 400)
            }
            let answer = await transport(call)
            guard AppleMessages.isExpiredToken(answer), attempt == 1 else {
                return AppleMessages.verdict(answer)
            }
            forget(name)
        }
        return .refused(code: 403)
    }

    // MARK: - Tokens

    private func name(_ realm: RealmID, _ parts: String...) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in [realm.name] + parts { bytes += Array(part.utf8) + [0] }
        return SHA256.hash(bytes)
    }

    private func known(_ name: [UInt8]) -> String? {
        let now = now()
        return tokens.withLock { tokens in
            guard let kept = tokens[name], now < kept.until else { return nil }
            return kept.text
        }
    }

    private func keep(_ text: String, for seconds: Int64, _ name: [UInt8]) {
        let until = now().adding(seconds: seconds)
        tokens.withLock { tokens in
            if tokens.count >= Self.capacity { tokens.removeAll() }
            tokens[name] = Kept(text: text, until: until)
        }
    }

    private func forget(_ name: [UInt8]) {
        tokens.withLock { $0[name] = nil }
    }
}
