internal import Synchronization

/// The logos of applications that ask for people. This server fetches them, so that no user's
/// browser tells the application's server who is about to sign in, and hands on nothing but
/// pictures.
public final class ClientLogos: Sendable {
    struct LogoImage: Sendable, Equatable {
        let type: String
        let bytes: [UInt8]

        /// By its first bytes, not by its declared type. No format that could hold scripts is among
        /// them.
        init?(_ bytes: [UInt8]) {
            guard bytes.count <= ClientLogos.largest else { return nil }
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                type = "image/png"
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                type = "image/jpeg"
            } else if bytes.starts(with: Array("GIF8".utf8)) {
                type = "image/gif"
            } else if bytes.starts(with: Array("RIFF".utf8)),
                bytes.dropFirst(8).starts(with: Array("WEBP".utf8))
            {
                type = "image/webp"
            } else {
                return nil
            }
            self.bytes = bytes
        }
    }

    public static let largest = 64 * 1024
    static let shelfLife = Duration.seconds(3_600)
    /// Rate limit: a missing logo is asked for at most this often.
    static let floor = Duration.seconds(300)

    private enum Entry: Sendable {
        case running(Task<LogoImage?, Never>)
        case done(LogoImage?, until: Duration)
    }

    private let fetch: RemoteKeys.Fetch
    private let passed: @Sendable () -> Duration
    private let entries = Mutex(LeastRecent<String, Entry>(capacity: 256))

    public init(passed: @escaping @Sendable () -> Duration, fetch: @escaping RemoteKeys.Fetch) {
        self.passed = passed
        self.fetch = fetch
    }

    func picture(at address: String) async -> LogoImage? {
        let entry: Entry = entries.withLock { entries in
            switch entries.value(of: address) {
            case .running(let task)?: return .running(task)
            case .done(let known, let until)? where passed() < until:
                return .done(known, until: until)
            case .done, nil:
                let task = Task { await self.fetched(address) }
                entries.set(.running(task), for: address)
                return .running(task)
            }
        }
        switch entry {
        case .running(let task): return await task.value
        case .done(let known, _): return known
        }
    }

    private func fetched(_ address: String) async -> LogoImage? {
        let picture = await fetch(address).flatMap { LogoImage($0) }
        entries.withLock { entries in
            let until = passed() + (picture == nil ? Self.floor : Self.shelfLife)
            entries.set(.done(picture, until: until), for: address)
        }
        return picture
    }
}
