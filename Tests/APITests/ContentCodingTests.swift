import Testing

@testable import API

@Suite struct `Content codings` {
    @Test(arguments: [
        (["gzip"], true), (["GZip;q=0.5 , deflate"], true), (["deflate", "gzip"], true),
        (["x-gzip"], true), (["*"], true), (["*;q=0.1"], true), (["gzip;q=1.000"], true),
        (["gzip;q=0.001"], true), (["identity;q=0.5, gzip;q=0.5"], true), ([], false),
        ([""], false),
        (["identity"], false), (["gzip;q=0"], false), (["gzip;q=0.000"], false),
        (["*;q=0"], false), (["gzip;q=0, *"], false), (["identity, gzip;q=0.9"], false),
        (["br"], false), (["gzip;q="], false), (["gzip;q=2"], false), (["gzip;q=0.1234"], false),
        (["gzip;q=-1"], false), (["gzip;q=0.-1"], false), (["gzip;q=1.1"], true),
        ([",,;q=1,"], false), (["gzipped"], false),
    ])
    func `gzip is used where a client takes it as well as anything else`(
        _ lines: [String], _ takes: Bool
    ) {
        #expect(ContentCoding.takesGzip(lines) == takes, "\(lines)")
    }
}
