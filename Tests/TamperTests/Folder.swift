import Glibc

/// Removes a folder of plain files.
func removeFolder(_ path: String) throws {
    guard let stream = opendir(path) else { return }
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink("\(path)/\(name)") }
    }
    closedir(stream)
    rmdir(path)
}

func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
