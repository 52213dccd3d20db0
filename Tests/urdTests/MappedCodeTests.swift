import Testing

@testable import urd

@Suite struct `Mapped code` {
    private static let smaps = """
        55d0c8a00000-55d0c8a02000 r-xp 00000000 08:01 1234                       /usr/local/bin/urd
        Size:                  8 kB
        Rss:                   8 kB
        Anonymous:             0 kB
        Swap:                  0 kB
        VmFlags: rd ex mr mw me sd
        55d0c8a02000-55d0c8a03000 r--p 00002000 08:01 1234                       /usr/local/bin/urd
        Anonymous:             4 kB
        Swap:                  0 kB
        55d0c8a03000-55d0c8a04000 rw-p 00003000 08:01 1234                       /usr/local/bin/urd
        Anonymous:             0 kB
        Swap:                  0 kB
        7f0000000000-7f0000001000 r-xp 00000000 08:01 1235                       /usr/lib/libpatched.so
        Anonymous:             4 kB
        Swap:                  0 kB
        7f0000001000-7f0000003000 r-xp 00000000 08:01 1236                       /usr/lib/with space.so
        Anonymous:             0 kB
        Swap:                  0 kB
        7f0000003000-7f0000004000 r-xp 00000000 00:00 0
        Anonymous:             0 kB
        Swap:                  0 kB
        7f0000004000-7f0000006000 r--p 00000000 08:01 1237                       /usr/lib/libdata.so
        Anonymous:             0 kB
        Swap:                  0 kB
        7f0000006000-7f0000007000 r--p 00000000 08:01 1237                       /usr/lib/libdata.so
        Anonymous:             0 kB
        Swap:                  4 kB
        7f0000007000-7f0000008000 r--p 00000000 08:01 1237                       /usr/lib/libdata.so
        Anonymous:             0 kB
        7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
        Anonymous:             0 kB
        Swap:                  0 kB

        """

    @Test func `releasable code is what files hold unchanged and no process can write`() {
        #expect(
            MappedCode.unchangedCode(in: Self.smaps) == [
                .init(address: 0x55d0_c8a0_0000, length: 0x2000),
                .init(address: 0x7f00_0000_1000, length: 0x2000),
                .init(address: 0x7f00_0000_4000, length: 0x2000),
            ])
    }

    @Test func `a malformed mapping is skipped`() {
        for text in [
            "", "\n", "zz-yy r-xp 0 0 0 /x\nAnonymous: 0 kB\nSwap: 0 kB", "Anonymous: 0 kB",
        ] {
            #expect(MappedCode.unchangedCode(in: text) == [])
        }
    }

    @Test func `code runs on after its memory was released`() {
        MappedCode.release()
        #expect(MappedCode.unchangedCode(in: Self.smaps).count == 3)
    }
}
