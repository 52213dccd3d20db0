import Identity
import Testing

@Suite struct `An app on phones` {
    private static let digits = String(repeating: "0a", count: 32)

    @Test func `a native app's identifier is read`() {
        #expect(NativeApp("ios:ABCDE12345.org.example.app") == .apple("ABCDE12345.org.example.app"))
        let fingerprint = String(repeating: "0A", count: 32)
        let expected = NativeApp.android(package: "org.example.app", fingerprint: fingerprint)
        #expect(NativeApp("android:org.example.app:\(Self.digits)") == expected)
        let pairs = Array(repeating: "0A", count: 32).joined(separator: ":")
        #expect(NativeApp("android:org.example.app:\(pairs)") == expected)
    }

    @Test(arguments: [
        "", "ios", "ios:", "ios:ABCDE12345", "ios:ABCDE1234.org.example", "ios:abcde12345.org",
        "ios:ABCDE12345.org..example", "ios:ABCDE12345.org/example", "android:org.example.app",
        "android:example:\(digits)", "android:org.example.app:0a", "web:org.example.app:x",
        "android:org.example.app:\(digits)0", "android:.:\(digits)",
    ])
    func `a malformed native app identifier is refused`(text: String) {
        #expect(NativeApp(text) == nil)
    }
}
