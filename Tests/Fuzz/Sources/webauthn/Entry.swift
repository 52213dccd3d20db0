/// libFuzzer calls this with one input after another.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let sentence = brokenCeremonyProperty(of: bytes) { fatalError(sentence) }
    return 0
}
