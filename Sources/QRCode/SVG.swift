extension QRCode {
    /// A picture that stays sharp in any size: one path of dark runs on white. It carries no script,
    /// style or reference, so that the strictest content policy shows it.
    public var svg: String {
        let whole = side + 2 * Self.quietZone
        var path = ""
        for row in 0..<side {
            var column = 0
            while column < side {
                guard isDark(row: row, column: column) else {
                    column += 1
                    continue
                }
                let start = column
                while isDark(row: row, column: column) { column += 1 }
                let length = column - start
                path += "M\(start + Self.quietZone) \(row + Self.quietZone)h\(length)v1h-\(length)z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(whole) \(whole)" \
            shape-rendering="crispEdges"><path fill="#fff" d="M0 0h\(whole)v\(whole)h-\(whole)z"/>\
            <path d="\(path)"/></svg>
            """
    }
}
