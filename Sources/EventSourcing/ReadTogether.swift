extension Collection where Element: Sendable {
    /// What is read for each element, in their order. Reads that are under way at once are one question to the database.
    public func readTogether<Value: Sendable, Failure: Error>(
        _ read: @escaping @Sendable (Element) async throws(Failure) -> Value
    ) async throws(Failure) -> [Value] {
        let found = await withTaskGroup(of: (Int, Result<Value, Failure>).self) { group in
            for (index, element) in enumerated() {
                group.addTask {
                    do throws(Failure) {
                        return (index, .success(try await read(element)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            return await group.reduce(
                into: [Result<Value, Failure>?](repeating: nil, count: count)
            ) { $0[$1.0] = $1.1 }
        }
        var values: [Value] = []
        for case let one? in found { values.append(try one.get()) }
        return values
    }
}
