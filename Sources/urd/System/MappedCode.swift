import Glibc

/// The code of the program and its libraries, and what stands beside it to be read, as it is mapped into
/// memory.
///
/// Starting runs through most of it once, and for each page that it touches the kernel maps the fifteen
/// around it that are in the page cache. They would stay resident for as long as the process lives,
/// although serving needs a fifth of them: decision 0108.
enum MappedCode {
    struct Mapping: Equatable {
        let address: UInt
        let length: Int
    }

    /// Unmaps the pages that are resident now. Those that are needed again come back from the page cache, one
    /// minor fault for sixteen of them.
    static func release() {
        guard let text = try? File.text("/proc/self/smaps") else { return }
        for mapping in unchangedCode(in: text) {
            let start = UnsafeMutableRawPointer(bitPattern: mapping.address)
            madvise(start, mapping.length, MADV_DONTNEED)
        }
    }

    /// Mappings of files that cannot be written to and hold nothing but the files' own bytes. A page that was written to,
    /// as by a debugger's breakpoint, is anonymous: releasing it would undo the write.
    static func unchangedCode(in smaps: String) -> [Mapping] {
        var found: [Mapping] = []
        var current: Mapping?
        for line in smaps.split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard let first = fields.first else { continue }
            if !first.hasSuffix(":") {
                current = mapping(fields)
            } else if first == "Anonymous:", fields.count < 2 || fields[1] != "0" {
                current = nil
            } else if first == "Swap:" {
                // What was written to may have gone to the swap since.
                if let current, fields.count == 3, fields[1] == "0" { found.append(current) }
                current = nil
            }
        }
        return found
    }

    /// Of a line such as `55d0c8a00000-55d0c9200000 r-xp 00000000 08:01 1234 /usr/local/bin/urd`.
    private static func mapping(_ fields: [Substring]) -> Mapping? {
        guard fields.count >= 6, ["r-xp", "r--p"].contains(fields[1]), fields[5].hasPrefix("/")
        else {
            return nil
        }
        let ends = fields[0].split(separator: "-")
        guard ends.count == 2, let start = UInt(ends[0], radix: 16),
            let end = UInt(ends[1], radix: 16), start < end
        else { return nil }
        return Mapping(address: start, length: Int(end - start))
    }
}
