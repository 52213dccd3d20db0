import COpenSSL

/// scrypt (RFC 7914): passphrases made expensive to guess.
///
/// The stored text names its own parameters, so that they can be raised without asking users for
/// their passphrase again. Because a text may come from an import, it is read as foreign input:
/// memory and work are bounded before anything is computed. Every call takes tenths of a second on
/// its thread and megabytes of memory: never call it on the cooperative pool, and let only a few
/// run at once. Zero bytes behind a passphrase do not count, which is how HMAC is; text has none.
public enum Scrypt {
    public struct Parameters: Sendable, Hashable {
        /// N of the RFC: a power of two.
        public let cost: Int
        /// r of the RFC.
        public let blockSize: Int
        /// p of the RFC.
        public let parallelization: Int

        /// `.malformed` if the RFC does not allow them, `.tooLarge` if this module does not.
        public init(cost: Int, blockSize: Int, parallelization: Int) throws(Failure) {
            guard cost > 1, cost & (cost - 1) == 0, blockSize > 0, parallelization > 0 else {
                throw Failure(.malformed, "scrypt wants N a power of two, r and p positive")
            }
            guard cost <= 1 << 22, blockSize <= 64, parallelization <= 64,
                cost * blockSize * parallelization <= maximumWork
            else { throw Failure(.tooLarge, "scrypt would work too long") }
            self.init(unchecked: cost, blockSize, parallelization)
        }

        private init(unchecked cost: Int, _ blockSize: Int, _ parallelization: Int) {
            self.cost = cost
            self.blockSize = blockSize
            self.parallelization = parallelization
        }

        /// 32 MiB and about a quarter of a second: one of the settings that OWASP holds equal, and the least
        /// that is used.
        public static let recommended = Parameters(unchecked: 1 << 15, 8, 3)
        /// A part of that: lanes are worked on one after the other, so that each takes the same time.
        public static let lane = Parameters(unchecked: 1 << 15, 8, 1)
        /// The most that a fast machine uses.
        public static let dearest = Parameters(unchecked: 1 << 15, 8, 8)

        /// As many lanes as fit the time, where one takes this long.
        public static func fitting(_ time: Duration, lane: Duration) -> Parameters {
            let lanes = Int(clamping: Int64(max(0, min(1_000, time / lane))))
            let (least, most) = (recommended.parallelization, dearest.parallelization)
            return Parameters(unchecked: 1 << 15, 8, min(max(lanes, least), most))
        }

        /// As many lanes as the time is long, at least one.
        public static func lanes(_ time: Duration, lane: Duration) -> Parameters {
            let lanes = Int(clamping: Int64(max(0, min(1_000, time / lane)).rounded()))
            return Parameters(unchecked: 1 << 15, 8, min(max(lanes, 1), dearest.parallelization))
        }

        /// The work factor, which the duration follows.
        public var work: Int { cost * blockSize * parallelization }

        /// The lanes that are missing to this much work, to the nearest one. Nil: no lane is missing.
        public func rest(after spent: Parameters) -> Parameters? {
            let lanes = (work - spent.work + Self.lane.work / 2) / Self.lane.work
            return lanes < 1 ? nil : Parameters(unchecked: 1 << 15, 8, lanes)
        }

        /// What computing needs; all factors were bounded at `init`.
        public var memory: Int { 128 * blockSize * (cost + parallelization + 2) }
    }

    /// About five times the recommended work, in units of N · r · p.
    public static let maximumWork = 1 << 22
    public static let defaultMemoryLimit = 64 << 20
    static let saltLength = 16
    static let keyLength = 32

    /// `scrypt$N$r$p$salt$key` with a random salt; salt and key in Base64.
    public static func hash(
        _ passphrase: SecretBytes, parameters: Parameters = .recommended,
        memoryLimit: Int = defaultMemoryLimit
    ) throws(Failure) -> String {
        let salt = Random.bytes(saltLength)
        let key = try derive(
            passphrase, salt: salt, parameters: parameters, length: keyLength,
            memoryLimit: memoryLimit)
        return ScryptText(parameters: parameters, salt: salt, key: key.exposedCopy()).encoded
    }

    /// Whether `text` was made of this passphrase. Throws if it is no such text, or if it asks for
    /// more memory or work than is granted.
    public static func verify(
        _ passphrase: SecretBytes, against text: String, memoryLimit: Int = defaultMemoryLimit
    ) throws(Failure) -> Bool {
        let stored = try ScryptText(text)
        let key = try derive(
            passphrase, salt: stored.salt, parameters: stored.parameters,
            length: stored.key.count, memoryLimit: memoryLimit)
        return key == SecretBytes(stored.key)
    }

    /// The scrypt parameters of a hash. Nil where the text is no hash.
    public static func parameters(of text: String) -> Parameters? {
        (try? ScryptText(text))?.parameters
    }

    public static func derive(
        _ passphrase: SecretBytes, salt: [UInt8], parameters: Parameters, length: Int,
        memoryLimit: Int = defaultMemoryLimit
    ) throws(Failure) -> SecretBytes {
        precondition((1...1024).contains(length), "A derived key has 1 to 1024 bytes")
        guard parameters.memory <= memoryLimit else {
            throw Failure(.tooLarge, "scrypt needs \(parameters.memory) bytes of memory")
        }
        return try unsafe SecretBytes(count: length) { (room) throws(Failure) in
            let done = unsafe passphrase.withUnsafeBytes { passphrase in
                unsafe EVP_PBE_scrypt(
                    passphrase.baseAddress?.assumingMemoryBound(to: CChar.self),
                    passphrase.count, salt, salt.count, UInt64(parameters.cost),
                    UInt64(parameters.blockSize), UInt64(parameters.parallelization),
                    UInt64(parameters.memory),
                    room.baseAddress?.assumingMemoryBound(to: UInt8.self), room.count)
            }
            guard done == 1 else { throw Failure.afterCall("EVP_PBE_scrypt") }
        }
    }
}
