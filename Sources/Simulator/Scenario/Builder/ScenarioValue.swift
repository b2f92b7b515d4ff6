import FreshetWire

/// A JSON value as Swift spells it: `["name": "Ada", "visits": 3, "tags": ["new"], "note": nil]`. Members keep their order.
///
/// The compiler checks that it is well-formed. For JSON text use ``json(_:)``.
public struct ScenarioValue: Sendable {
    /// Checked where it is used.
    let text: String

    /// A value that is JSON already, checked when the scenario is made.
    public static func json(_ text: String) -> ScenarioValue { ScenarioValue(text: text) }

    func content() throws(ScenarioError) -> Content {
        do { return try Content(json: Array(text.utf8)) } catch { throw .invalid(line: nil, "\(error.description) in \(text)") }
    }

    private init(text: String) { self.text = text }

    private init(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        text = String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension ScenarioValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// A string.
    public init(stringLiteral value: String) { self.init { $0.string(value) } }
}

extension ScenarioValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral {
    /// A whole number.
    public init(integerLiteral value: Int64) { self.init(text: String(value)) }
    /// A number; one that is not finite is found when the scenario is made.
    public init(floatLiteral value: Double) { self.init(text: value.description) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(text: String(value)) }
    /// `null`.
    public init(nilLiteral: ()) { self.init(text: "null") }
}

extension ScenarioValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// An array.
    public init(arrayLiteral elements: ScenarioValue...) { self.init(text: "[" + elements.map(\.text).joined(separator: ",") + "]") }

    /// An object.
    public init(dictionaryLiteral members: (String, ScenarioValue)...) {
        self.init(text: "{" + members.map { "\(ScenarioWord.quoted($0)):\($1.text)" }.joined(separator: ",") + "}")
    }
}
