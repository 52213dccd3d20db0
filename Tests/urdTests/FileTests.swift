import Glibc
import Testing

@testable import urd

@Suite("Files")
struct FileTests {
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = try File.makeTemporaryFolder("/tmp/urd-file-tests-")
        defer { try? File.removeTree(folder) }
        try body(folder)
    }

    @Test func `a file is replaced whole with its mode, and no temporary file stays`() throws {
        try inFolder { folder in
            let path = folder + "/a"
            try File.writeAtomically(Array("one".utf8), to: path, mode: 0o600)
            try File.writeAtomically(Array("two".utf8), to: path, mode: 0o640)
            #expect(try File.text(path) == "two")
            #expect(File.facts(path)?.permissions == 0o640)
            #expect(try File.names(in: folder) == ["a"])
        }
    }

    @Test func `a link is removed and not followed`() throws {
        try inFolder { folder in
            try File.makeFolder(folder + "/kept")
            try File.writeAtomically([1], to: folder + "/kept/file", mode: 0o600)
            try File.makeFolder(folder + "/gone/deep")
            #expect(symlink(folder + "/kept", folder + "/gone/deep/link") == 0)
            try File.removeTree(folder + "/gone")
            #expect(try File.names(in: folder) == ["kept"])
            #expect(File.exists(folder + "/kept/file"))
        }
    }

    @Test func `a lock is held by one process`() throws {
        try inFolder { folder in
            do {
                let first = try FolderLock.take(folder + "/lock")
                #expect((first == nil) == false)
                let second = try FolderLock.take(folder + "/lock")
                #expect((second == nil) == true)
                withExtendedLifetime(first) {}
            }
            let third = try FolderLock.take(folder + "/lock")
            #expect((third == nil) == false)
        }
    }

    @Test func `a file's failure names the action, the path and the reason`() {
        let failure = #expect(throws: SystemFailure.self) { try File.bytes("/nowhere/file") }
        #expect(failure?.description == "cannot read /nowhere/file: No such file or directory")
    }

    @Test func `a file beyond the limit is not read`() throws {
        try inFolder { folder in
            try File.writeAtomically(
                [UInt8](repeating: 0, count: 11), to: folder + "/a", mode: 0o600)
            #expect(throws: SystemFailure.self) { try File.bytes(folder + "/a", limit: 10) }
        }
    }
}

@Suite("The master key's file")
struct MasterKeyFileTests {
    private let key = Array(UInt8(0)..<32)

    @Test func `a master key is read raw, in hexadecimal and in Base 64`() {
        let digits = Array(
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n".utf8)
        #expect(MasterKeyFile.decode(key) == key)
        #expect(MasterKeyFile.decode(digits) == key)
        let base64 = Array("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".utf8)
        #expect(MasterKeyFile.decode(base64) == key)
        for wrong in [[], Array(key.dropLast()), key + [0], Array("zz".utf8)] {
            #expect(MasterKeyFile.decode(wrong) == nil)
        }
    }

    @Test func `a new master key file is its owner's alone and replaces none`() throws {
        let folder = try File.makeTemporaryFolder("/tmp/urd-key-tests-")
        defer { try? File.removeTree(folder) }
        let path = folder + "/master.key"
        #expect(throws: MasterKeyFile.Problem.missing) { try MasterKeyFile.read(path) }
        try MasterKeyFile.create(path)
        let first = try MasterKeyFile.read(path)
        #expect(first.count == 32)
        #expect(Set(first).count > 8)
        #expect(throws: SystemFailure.self) { try MasterKeyFile.create(path) }
        chmod(path, 0o640)
        #expect(throws: MasterKeyFile.Problem.exposed("640")) { try MasterKeyFile.read(path) }
        chmod(path, 0o600)
        try File.writeAtomically([1, 2, 3], to: path, mode: 0o600)
        #expect(throws: MasterKeyFile.Problem.malformed(3)) { try MasterKeyFile.read(path) }
    }
}
