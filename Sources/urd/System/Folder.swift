import Glibc

extension File {
    /// Makes a folder and those above it; one that exists is left as it is.
    static func makeFolder(_ path: String, mode: mode_t = 0o755) throws(SystemFailure) {
        if let facts = facts(path) {
            guard facts.isFolder else { throw SystemFailure("make", path, code: ENOTDIR) }
            return
        }
        let parent = Path.parent(of: path)
        if parent != path { try makeFolder(parent) }
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw SystemFailure("make", path) }
        guard chmod(path, mode) == 0 else { throw SystemFailure("protect", path) }
    }

    /// A new folder for us alone, with a name that cannot be guessed.
    static func makeTemporaryFolder(_ prefix: String) throws(SystemFailure) -> String {
        var template = Array((prefix + "XXXXXX").utf8CString)
        let made = mkdtemp(&template) != nil
        guard made else { throw SystemFailure("make", prefix + "…") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func names(in folder: String) throws(SystemFailure) -> [String] {
        guard let stream = opendir(folder) else { throw SystemFailure("list", folder) }
        defer { closedir(stream) }
        return names(of: stream).sorted()
    }

    private static func names(of stream: OpaquePointer) -> [String] {
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a folder with all in it.
    ///
    /// It may belong to a user whom we, as root, must not trust: so it is walked by descriptors
    /// and never by path, and no link is followed, not even one that is put there meanwhile.
    static func removeTree(_ path: String) throws(SystemFailure) {
        let parent = open(Path.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else {
            if errno == ENOENT { return }
            throw SystemFailure("remove", path)
        }
        defer { close(parent) }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        try removeTree(name, in: parent, path)
    }

    private static func removeTree(
        _ name: String, in parent: Int32, _ path: String
    ) throws(SystemFailure) {
        if unlinkat(parent, name, 0) == 0 || errno == ENOENT { return }
        // EISDIR on Linux; EPERM where the file system keeps to POSIX.
        guard errno == EISDIR || errno == EPERM else { throw SystemFailure("remove", path) }
        let folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0, let stream = fdopendir(folder) else {
            throw SystemFailure("remove", path)
        }
        defer { closedir(stream) }
        for entry in names(of: stream) { try removeTree(entry, in: folder, "\(path)/\(entry)") }
        guard unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw SystemFailure("remove", path)
        }
    }

    static func give(_ path: String, to account: Account) throws(SystemFailure) {
        guard lchown(path, account.user, account.group) == 0 else {
            throw SystemFailure("give \(account.name) the folder", path)
        }
    }
}

enum Path {
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path from the root, without `.` and doubled slashes; links stay as they are.
    static func absolute(_ path: String) throws(SystemFailure) -> String {
        var parts: [Substring] = []
        let whole = path.hasPrefix("/") ? path : try currentFolder() + "/" + path
        for part in whole.split(separator: "/") where part != "." { parts.append(part) }
        return "/" + parts.joined(separator: "/")
    }

    static func currentFolder() throws(SystemFailure) -> String {
        guard let pointer = getcwd(nil, 0) else { throw SystemFailure("find", "this folder") }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
