import Glibc

/// The seeds of a fuzzer, which the ordinary tests feed to the same property.
func corpus(_ target: String, file: String = #filePath) -> [[UInt8]] {
    let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    let path = folder.joined(separator: "/") + "/Fuzz/corpus/" + target
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var files: [[UInt8]] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name.hasPrefix(".") { continue }
        if let bytes = contents(of: path + "/" + name) { files.append(bytes) }
    }
    return files
}

private func contents(of path: String) -> [UInt8]? {
    guard let stream = fopen(path, "rb") else { return nil }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var page = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&page, 1, page.count, stream), count > 0 {
        bytes += page.prefix(count)
    }
    return bytes
}
