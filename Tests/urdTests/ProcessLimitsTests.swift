import Testing

@testable import urd

@Suite("The limits of the process")
struct ProcessLimitsTests {
    @Test(
        arguments: [
            (320, nil, 2, ""), (319, nil, 2, "may open 319 files and sockets; it needs 320"),
            (1024, 1792, 2, ""), (1024, 1791, 2, "may map 1791 MiB of addresses"),
            (1024, 2559, 8, "with 8 processors it needs 2560 MiB"), (1024, 2560, 8, ""),
        ] as [(Int, UInt64?, Int, String)])
    func `process limits that are too low are refused with the needed ones`(
        files: Int, mebibytes: UInt64?, processors: Int, words: String
    ) {
        let limits = ProcessLimits(
            files: files, addressSpace: mebibytes.map { $0 << 20 }, processors: processors)
        var refusal: CommandFailure?
        do throws(CommandFailure) {
            try limits.require()
        } catch {
            refusal = error
        }
        #expect(refusal == nil ? words.isEmpty : refusal?.what.contains(words) == true)
        #expect(words.isEmpty || refusal?.remedy?.isEmpty == false)
    }

    @Test func `process limits are reported by the doctor`() {
        let wide = ProcessLimits(files: 1, addressSpace: nil, processors: 2)
        #expect(LocalChecks.addresses(wide).verdict == .fine)
        let narrow = ProcessLimits(files: 1, addressSpace: 500 << 20, processors: 2)
        let told = LocalChecks.addresses(narrow)
        #expect(told.verdict == .wrong && told.what.contains("500 MiB"))
    }
}
