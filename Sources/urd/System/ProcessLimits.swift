import Glibc
import HTTPServer

/// What the system lets this process have. With too little of it, what fails is not one request but
/// the runtime or a library, somewhere and without a word.
struct ProcessLimits: Equatable, Sendable {
    var files: Int
    /// In bytes; nil where it is not limited.
    var addressSpace: UInt64?
    var processors: Int

    private static let mebibyte: UInt64 = 1 << 20

    static func ofThisProcess() -> ProcessLimits {
        var limit = rlimit()
        let known = getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
        let isLimited = known && limit.rlim_cur != rlim_t.max
        return ProcessLimits(
            files: OpenFiles.raise(), addressSpace: isLimited ? UInt64(limit.rlim_cur) : nil,
            processors: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// Stacks of threads and what the allocator sets aside for each of them are mapped and hardly used:
    /// 1.2 GiB with two processors, of which fifty MiB are in memory. More processors have more threads.
    var neededAddressSpace: UInt64 {
        (1536 + 128 * UInt64(processors)) * Self.mebibyte
    }

    /// Each limit that is too low, with its remedy.
    var shortages: [CommandFailure] {
        var found: [CommandFailure] = []
        if files < OpenFiles.least {
            found.append(
                CommandFailure(
                    "this process may open \(files) files and sockets; it needs \(OpenFiles.least)",
                    remedy: "Raise the limit: LimitNOFILE= in the unit, or ulimit -n in the shell.")
            )
        }
        if let addressSpace, addressSpace < neededAddressSpace {
            found.append(
                CommandFailure(
                    "this process may map \(addressSpace / Self.mebibyte) MiB of addresses; with "
                        + "\(processors) processors it needs \(neededAddressSpace / Self.mebibyte) MiB",
                    remedy:
                        "Lift the limit on addresses: LimitAS=infinity in the unit, or ulimit -v "
                        + "unlimited in the shell. To bound memory, set MemoryMax= in the unit."))
        }
        return found
    }

    /// Refuses to begin what would fail half-way.
    func require() throws(CommandFailure) {
        if let first = shortages.first { throw first }
    }
}
