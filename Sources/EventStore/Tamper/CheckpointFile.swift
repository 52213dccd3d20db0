public import EventSourcing
internal import Glibc
internal import Values

/// The last checkpoint of each realm, kept outside the database: an attacker who rewrites the
/// database must reach this place too. One directory for each node, best on another disk.
public struct CheckpointFile: Sendable {
    /// Why the copy could not be read or written: the call and its error number.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        public let call: String
        public let code: Int32

        public var description: String { "\(call) failed with error \(code)" }
    }

    public let directory: String

    public init(directory: String) {
        self.directory = directory
    }

    func path(of realm: RealmID) -> String { "\(directory)/\(realm.name).checkpoint" }

    /// The realms that have a copy here: also those that vanished from the database.
    public func realms() throws(Failure) -> [RealmID] {
        guard let stream = opendir(directory) else {
            guard errno == ENOENT else { throw Failure(call: "opendir", code: errno) }
            return []
        }
        defer { closedir(stream) }
        var realms: [RealmID] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".checkpoint") else { continue }
            if let realm = RealmID(String(name.dropLast(".checkpoint".utf8.count))) {
                realms.append(realm)
            }
        }
        return realms.sorted()
    }

    /// Nil where there is no copy yet.
    public func read(_ realm: RealmID) throws(Failure) -> [UInt8]? {
        try Self.content(of: path(of: realm))
    }

    /// When the copy was written, by the clock of this machine.
    func time(of realm: RealmID) -> Timestamp? {
        var facts = stat()
        guard stat(path(of: realm), &facts) == 0 else { return nil }
        return Timestamp(
            microseconds: Int64(facts.st_mtim.tv_sec) * 1_000_000
                + Int64(facts.st_mtim.tv_nsec) / 1000)
    }

    /// Nil where there is no such file.
    static func content(of path: String) throws(Failure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw Failure(call: "open", code: errno) }
            return nil
        }
        defer { close(file) }
        var content: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 4096)
        while content.count <= SignedNote.maximumLength {
            let count = page.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw Failure(call: "read", code: errno)
            }
            guard count > 0 else { break }
            content.append(contentsOf: page[..<count])
        }
        return content
    }

    /// Puts a note in place of the last one: afterwards, and after a crash at any instant, the file
    /// holds one of the two, whole.
    public func write(_ note: [UInt8], of realm: RealmID) throws(Failure) {
        try Self.replace(path(of: realm), with: note)
    }

    /// The same for any file. Its directory is made where it is missing.
    static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw Failure(call: "mkdir", code: errno)
        }
        let fresh = path + ".new"
        let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Failure(call: "open", code: errno) }
        do throws(Failure) {
            try write(bytes, to: file)
            guard fsync(file) == 0 else { throw Failure(call: "fsync", code: errno) }
        } catch {
            close(file)
            throw error
        }
        close(file)
        guard rename(fresh, path) == 0 else { throw Failure(call: "rename", code: errno) }
        // The new name lasts only once its directory is written too.
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Failure(call: "open", code: errno) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw Failure(call: "fsync", code: errno) }
    }

    /// Moves a copy that was given up out of the way of the next one, under the size that it tells.
    public func setAside(_ realm: RealmID) throws(Failure) {
        guard let note = try read(realm) else { return }
        let size = SignedNote(note).flatMap { Checkpoint(text: $0.text) }?.size ?? 0
        let aside = "\(directory)/\(realm.name).given-up-\(size)"
        guard rename(path(of: realm), aside) == 0 else {
            throw Failure(call: "rename", code: errno)
        }
    }

    static func write(_ bytes: [UInt8], to file: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw Failure(call: "write", code: errno)
            }
            rest = rest.dropFirst(count)
        }
    }
}
