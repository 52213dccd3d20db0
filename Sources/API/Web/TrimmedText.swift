/// A text that a person typed, without white space around it.
func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars.drop { $0.properties.isWhitespace }
    var view = String.UnicodeScalarView(scalars)
    while let last = view.last, last.properties.isWhitespace { view.removeLast() }
    return String(view)
}
